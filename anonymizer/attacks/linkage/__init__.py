"""Record linkage: the distances, the ways of linking, and learned weights."""
