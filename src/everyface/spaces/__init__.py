"""The spaces room: faces to vectors, and, where a space can draw, vectors to faces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everyface.registry import Registry
from everyface.spaces.base import Drawn, Space, SynthesisSpace

if TYPE_CHECKING:
    from everyface.spaces.appearance import Appearance
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


def __getattr__(name: str) -> type[Space]:
    return SPACES.called(name)
