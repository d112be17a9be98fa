"""The deFinetti attack on the sensitive values of classes and buckets."""
