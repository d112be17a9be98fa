"""Persons, households and populations: read, counted, and warned of."""
