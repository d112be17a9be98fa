"""Generalization hierarchies: where they come from, how they are checked and compiled, one source a file."""
