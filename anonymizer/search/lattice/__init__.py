"""Full-domain search: every value of an attribute at one level."""
