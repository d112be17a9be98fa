"""What the lattice search is made of: boxes of nodes, bounds, counting, and the order of evaluation."""
