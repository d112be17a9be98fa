"""The job: source, table, search, write, verify, report."""
