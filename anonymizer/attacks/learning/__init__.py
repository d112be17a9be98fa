"""Learning the distance that links original records to masked ones best: the worst case of record linkage."""
