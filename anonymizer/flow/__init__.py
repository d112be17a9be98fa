"""The stages in a row: what each command does, from a config to its result."""
