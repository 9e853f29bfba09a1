"""The spaces room: faces to vectors, and, where a space can draw, vectors to faces."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from everyface.registry import Registry

if TYPE_CHECKING:
    from everyface.spaces.appearance import Appearance
    from everyface.spaces.base import Drawn, Space, SynthesisSpace
    from everyface.spaces.eigenfaces import Eigenfaces
    from everyface.spaces.embedding import Embedding
    from everyface.spaces.pixels import Pixels

__all__ = [
    "SPACES",
    "Appearance",
    "Drawn",
    "Eigenfaces",
    "Embedding",
    "Pixels",
    "Space",
    "SynthesisSpace",
]

SPACES: Registry[type[Space]] = Registry(
    __name__,
    {
        "pixels": ("pixels", "Pixels"),
        "eigenfaces": ("eigenfaces", "Eigenfaces"),
        "appearance": ("appearance", "Appearance"),
        "embedding": ("embedding", "Embedding"),
    },
)
"""Every space by the name that recipes use."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: training needs no photos and no OpenVINO."""
    if name in ("Drawn", "Space", "SynthesisSpace"):
        return getattr(import_module("everyface.spaces.base"), name)
    return SPACES.called(name)
