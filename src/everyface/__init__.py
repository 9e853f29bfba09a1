"""Publish face photos in which nobody can be singled out, and prove it."""

__version__ = "0.1.0"
