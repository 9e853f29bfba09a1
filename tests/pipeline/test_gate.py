"""The gate inside the walk, before recognisers that see more, or less, than any real one."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from everyface.arrays import F32, U8
from everyface.errors import InputError
from everyface.faces import FaceSet, identity
from everyface.pipeline import Form, Options, run, walk
from everyface.release import read_key_map, verify
from tests.pipeline.conftest import QUICK, K


class Fake:
    """A recogniser whose opinion of a pair depends on the original alone."""

    name: ClassVar[str]
    model, threshold = "sface", 0.5

    def embed(self, crops: U8, points: F32, tick: object = None) -> F32:
        return np.ones((len(crops), 1), np.float32)

    def similarity(self, a: F32, b: F32) -> F32:
        return np.repeat(self.opinion(len(b))[None, :], len(a), axis=0).astype(np.float32)

    def opinion(self, originals: int) -> F32:
        raise AssertionError


class Sure(Fake):
    """Takes everybody for everybody: a tie counts against us, so nothing can pass."""

    name = "sure"

    def opinion(self, originals: int) -> F32:
        return np.ones(originals, np.float32)


class Blind(Fake):
    """Recognises nobody."""

    name = "blind"

    def opinion(self, originals: int) -> F32:
        return np.linspace(0, 0.4, originals, dtype=np.float32)


class Grudge(Fake):
    """Sees the first of the originals everywhere."""

    name = "grudge"

    def opinion(self, originals: int) -> F32:
        return (np.arange(originals) == 0).astype(np.float32)


def only(monkeypatch: pytest.MonkeyPatch, fake: type[Fake]) -> None:
    monkeypatch.setattr(identity, "RECOGNISERS", {fake.name: fake})


def test_a_set_that_cannot_pass_is_never_released(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, Sure)
    out = tmp_path / "release"
    with pytest.warns(UserWarning), pytest.raises(InputError, match="no photo is left to release"):
        run([few], out, "each", Options(k=K, recipe=QUICK))
    assert [path.name for path in tmp_path.iterdir()] == ["release.work"]


@pytest.mark.parametrize("form", ["faces", "photos"])
def test_whoever_is_always_found_is_set_aside_with_their_group(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Form
) -> None:
    only(monkeypatch, Grudge)
    out = tmp_path / "release"
    done = run([few], out, "each", Options(k=K, recipe=QUICK, form=form, max_risk=0.0))
    first = sorted(few.iterdir())[0]
    aside = {path for path, _ in done.quarantined}
    assert first in aside
    assert len(aside) == (1 if form == "photos" else done.photos - done.released)
    assert all("an attack could still recognise" in reason for _, reason in done.quarantined)
    held = read_key_map(tmp_path / "release.private")
    assert {entry["original"] for entry in held["files"]}.isdisjoint(map(str, aside))
    kept = [
        path.read_bytes() for path in (tmp_path / "release.private" / "quarantine").glob("*.jpg")
    ]
    assert sorted(kept) == sorted(path.read_bytes() for path in aside)
    found = verify(out)
    assert found.k_reached >= K
    assert found.refused == len(aside)
    assert isinstance(found.gate, dict)
    assert found.gate["attacks"][0]["found"] == 0


def test_what_is_not_recognised_is_left_as_the_method_made_it(
    faces: FaceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, Blind)
    walked = walk(faces, Options(k=K, recipe="k-same-m"), seed=1)
    assert walked.findings is not None
    assert walked.findings.rechosen == walked.findings.quarantined == 0
    codes = [walked.stage.code(row) for row in range(len(faces))]
    assert codes == walked.pool.chosen[walked.people.of_row].tolist()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"max_risk": -0.1}, "between 0 and 1"),
        ({"max_risk": 0.34}, "above 1/k"),
        ({"max_risk": 0.1, "gate": False}, "nothing is attacked"),
        ({"k": 1}, "a group of one hides nobody"),
        ({"form": "film"}, "faces or photos"),
        ({"form": "photos", "background": "fog"}, "keep, blur, mean, mask"),
        ({"background": "mask"}, "--form photos"),
        ({"recipe": "k-same-select"}, "--select gender"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Options(**{"k": K, **asked})
