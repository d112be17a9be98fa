"""The reports: the internal one with everything, the public one with what a recipient may know."""
