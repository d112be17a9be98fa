"""Ways to build a hierarchy for a column, as ``hierarchy build --by`` names them."""
