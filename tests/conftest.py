"""What many rooms test on: people who do not exist, painted once and kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from everyface.demo import people
from everyface.faces import FaceSet, read
from everyface.models import store

PEOPLE, PHOTOS = 12, 2


@pytest.fixture(scope="session", autouse=True)
def _own_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test signs with the user's key."""
    before = os.environ.get("EVERYFACE_KEYS")
    os.environ["EVERYFACE_KEYS"] = str(tmp_path_factory.mktemp("keys"))
    yield
    if before is None:
        del os.environ["EVERYFACE_KEYS"]
    else:
        os.environ["EVERYFACE_KEYS"] = before


@pytest.fixture(scope="session", autouse=True)
def _every_recogniser() -> None:
    """FaceNet counts once it is here: which recognisers there are must not change meanwhile."""
    store.fetch("facenet")


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Twelve synthetic people, two photos each, a folder each. Nobody may change these files."""
    return people.make(tmp_path_factory.mktemp("synthetic") / "people", PEOPLE, PHOTOS)


@pytest.fixture(scope="session")
def faces(synthetic: list[Path]) -> FaceSet:
    """What is read from `synthetic`, a subject a folder."""
    return read(synthetic, "folder")
