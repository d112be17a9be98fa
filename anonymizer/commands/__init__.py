"""A file for each command that is not the job alone."""
