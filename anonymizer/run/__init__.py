"""The flow: what a command does from its config to its report."""
