"""What a sample tells about the population it was drawn from."""
