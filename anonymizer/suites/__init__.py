"""Data and configs of benchmarks: made with a seed, or drawn from a file that the user names."""
