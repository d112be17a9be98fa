"""Grouping records so that the sensitive values of a group are many: dealing, mixing, numbering."""
