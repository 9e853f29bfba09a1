"""The grouping room."""
