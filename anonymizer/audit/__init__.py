"""Judging a file from the file alone: counted by the engine's GROUP BY, not by the search's tables."""
