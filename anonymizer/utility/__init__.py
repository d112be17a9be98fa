"""Utility measures: one class in one file each, found by its name."""
