"""Checks of the grouping room."""
