"""Optimal suppression of records and of cells by integer programming."""
