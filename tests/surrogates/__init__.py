"""Checks of the surrogates room."""
