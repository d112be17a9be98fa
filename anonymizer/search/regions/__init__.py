"""Regions of records that are cut or clustered: what Mondrian and microaggregation share."""
