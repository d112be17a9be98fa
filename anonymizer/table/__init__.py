"""From an open relation to dictionary-encoded columns and their distinct combinations."""
