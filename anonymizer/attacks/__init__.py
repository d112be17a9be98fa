"""What adversaries learn from a release: each attack one class in one file, giving one honest number."""
