"""Local recoding along the hierarchies: a start, moves, the bound, and exact rounding."""
