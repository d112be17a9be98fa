"""Microaggregation: clusters of records, published by their aggregates."""
