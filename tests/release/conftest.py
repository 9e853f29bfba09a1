from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.release import build

Fresh = Callable[[str], Path]


@pytest.fixture(scope="session")
def masters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {form: build.make(tmp_path_factory.mktemp(form), form) for form in ("faces", "photos")}


@pytest.fixture
def fresh(masters: dict[str, Path], tmp_path: Path) -> Fresh:
    """A copy of a good release, to be broken."""

    def copy(form: str) -> Path:
        return Path(shutil.copytree(masters[form], tmp_path / f"a {form} release"))

    return copy
