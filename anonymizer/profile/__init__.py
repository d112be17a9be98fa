"""What a data file shows of itself: its columns measured, what they look like, and a config drafted."""
