"""Files of other programs, by the libraries of an extra: imported when there is such a file."""
