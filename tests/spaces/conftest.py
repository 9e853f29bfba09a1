"""Appearance models that many tests look at, fitted once."""

from __future__ import annotations

import pytest

from everyface.faces import FaceSet
from everyface.spaces import Appearance


@pytest.fixture(scope="session")
def own_model(faces: FaceSet) -> Appearance:
    """Fitted to the synthetic people."""
    return Appearance().fit(faces)


@pytest.fixture(scope="session")
def shipped_model(faces: FaceSet) -> Appearance:
    """The generic one."""
    return Appearance(model="generic").fit(faces)
