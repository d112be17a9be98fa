"""What a config comes to before a run: columns, engine, memory, and what is counted."""
