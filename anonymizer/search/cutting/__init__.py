"""The kernel of Mondrian: from what is known of groups of rows to the cuts of all open regions at once."""
