"""Local recoding along the hierarchies: every record has nodes of its own."""
