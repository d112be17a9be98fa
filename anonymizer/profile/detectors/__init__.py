"""What a column looks like: one detector a file."""
