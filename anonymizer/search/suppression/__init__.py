"""Optimal suppression of records and of cells."""
