"""Where relations live: each engine opens an input, counts it in place and writes the release from it."""
