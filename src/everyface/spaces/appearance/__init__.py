"""The appearance room: faces as shape and shape-free texture."""

from everyface.spaces.appearance.space import Appearance

__all__ = ["Appearance"]
