"""The surrogates room."""
