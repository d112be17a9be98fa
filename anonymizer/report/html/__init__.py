"""The internal report as a page: one file without scripts or links, readable from disk."""
