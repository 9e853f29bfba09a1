"""Synthetic people come from a generator whose licence forbids commercial use."""

from pathlib import Path

import pytest

from everyface.demo import people
from everyface.errors import ModelError
from everyface.models import policy


def test_people_painted_before_are_refused_too(
    synthetic: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert all(photo.exists() for photo in synthetic)
    monkeypatch.setenv(policy.VARIABLE, "1")
    with pytest.raises(ModelError, match="stylegan_mapping may not be used commercially"):
        people.make(tmp_path / "people", 2, 2)
    assert not (tmp_path / "people").exists()
    monkeypatch.setenv(policy.VARIABLE, "0")
    assert len(people.make(tmp_path / "people", 2, 2)) == 4
