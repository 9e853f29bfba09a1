"""Pictures of the synthetic people, decoded once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface.faces import read_photo


@pytest.fixture(scope="session")
def portraits(synthetic: list[Path]) -> list[np.ndarray]:
    """The synthetic photos as pictures, which nobody can change."""
    pictures = [read_photo(path) for path in synthetic]
    for picture in pictures:
        picture.setflags(write=False)
    return pictures
