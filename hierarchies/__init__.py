"""Ready-made hierarchies, shipped as ``anonymizer.ready_hierarchies``; README.md lists them."""
