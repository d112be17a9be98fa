"""What a release shows beyond the columns that its constraints name; it knows nothing of searches."""
