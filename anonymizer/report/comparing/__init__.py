"""Several runs side by side: which of them no other beats, and how that is shown."""
