"""Record linkage: comparing original with published combinations, and linking what is alike."""
