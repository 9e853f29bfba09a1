"""The merge room."""
