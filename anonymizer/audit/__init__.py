"""A release and its report, judged from the files alone."""
