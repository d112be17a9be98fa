"""What an adversary sees: views from a run, from files, and from two releases."""
