"""A handful of people in a folder of their own, small and quick to anonymise."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from everyface.faces import identity

K = 3
PEOPLE = 7
QUICK = "k-same-eigen"
"""The recipe that takes least time."""


def one_attacker(patch: pytest.MonkeyPatch) -> None:
    """Attack with SFace alone, whatever is on the machine."""
    patch.setattr(identity, "RECOGNISERS", {"sface": identity.RECOGNISERS["sface"]})


@pytest.fixture(scope="module", autouse=True)
def _one_attacker() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        one_attacker(patch)
        yield


@pytest.fixture(scope="session")
def few(synthetic: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one photo each of seven people, called by their names."""
    folder = tmp_path_factory.mktemp("few") / "photos"
    folder.mkdir()
    for photo in synthetic[: 2 * PEOPLE : 2]:
        shutil.copy(photo, folder / f"{photo.parent.name}_{photo.name}")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
