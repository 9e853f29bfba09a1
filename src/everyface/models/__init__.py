"""Weights and how to run them: a registry, a store, a policy and one runtime."""
