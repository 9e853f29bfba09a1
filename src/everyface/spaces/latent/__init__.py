"""The latent space: faces as style codes of a generator that paints whole portraits."""
