"""Further records in an earlier release."""
