"""What the nearest records of each record say of every local recoding."""
