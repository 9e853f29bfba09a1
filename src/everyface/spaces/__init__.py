"""The spaces room."""
