"""The attacks room."""
