"""What a page shows beside the report: classes and values, folded and rounded before anybody sees them."""
