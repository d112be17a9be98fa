"""The recoding of an earlier run for further records, whose release goes on with them."""
