"""The faces room."""
