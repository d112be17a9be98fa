"""Values that rooms hand to each other."""
