"""Mondrian: multidimensional recoding by cuts."""
