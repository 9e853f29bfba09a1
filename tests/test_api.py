"""The library as `import everyface as ef` shows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import everyface as ef
from everyface.errors import BreachError, EveryfaceError, InputError, ModelError

K = 3


def test_every_name_that_is_promised_is_there() -> None:
    for name in ef.__all__:
        assert getattr(ef, name) is not None
    with pytest.raises(AttributeError, match="wisdom"):
        ef.wisdom  # noqa: B018


def test_the_import_is_light() -> None:
    code = (
        "import sys, everyface;"
        "print([m for m in ('openvino', 'sklearn', 'torch', 'numba', 'cv2') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_images_can_be_looked_at_before_they_are_saved(faces: ef.FaceSet) -> None:
    release = ef.anonymize(faces, K, "k-same-m", gate=False, random_state=4_071_823_946)
    labels = release.walked.partition.labels[release.walked.people.of_row]
    first, other = np.flatnonzero(labels == labels[0]), np.flatnonzero(labels != labels[0])
    assert all(np.array_equal(release.image(0), release.image(int(row))) for row in first)
    assert not np.array_equal(release.image(0), release.image(int(other[0])))
    assert str(release.seed) not in repr(release)


def test_nothing_is_overwritten(faces: ef.FaceSet, tmp_path: Path) -> None:
    release = ef.anonymize(faces, K, "k-same-eigen", gate=False)
    out = release.save(tmp_path / "release")
    before = {path.name: path.read_bytes() for path in (out / "images").iterdir()}
    with pytest.raises(EveryfaceError, match="already exists"):
        release.save(out)
    assert {path.name: path.read_bytes() for path in (out / "images").iterdir()} == before


def test_the_key_map_can_be_left_out(faces: ef.FaceSet, tmp_path: Path) -> None:
    release = ef.anonymize(faces, K, "k-same-eigen", gate=False)
    release.save(tmp_path / "release", private=None)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_verify_raises_on_a_breach(faces: ef.FaceSet, tmp_path: Path) -> None:
    out = ef.anonymize(faces, K, "k-same-eigen", gate=False).save(tmp_path / "release")
    image = next((out / "images").iterdir())
    image.write_bytes(image.read_bytes() + b"\0")
    with pytest.raises(BreachError, match=image.name):
        ef.verify(out)


def test_errors_say_what_and_what_to_do(faces: ef.FaceSet) -> None:
    with pytest.raises(InputError) as caught:
        ef.anonymize(faces, 100)
    assert "needs at least 100 people, but there are 12" in caught.value.what
    assert "lower k" in caught.value.todo
    with pytest.raises(TypeError, match="colour"):
        ef.anonymize(faces, K, colour="red")


def test_commercial_use_is_refused_where_the_faces_were_read_with_other_networks(
    faces: ef.FaceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    from everyface.models import policy
    from everyface.pipeline import release

    monkeypatch.setenv(policy.VARIABLE, "")
    monkeypatch.setattr(release, "_READERS", ("stylegan_synthesis",))
    with pytest.raises(ModelError, match="may not be used commercially"):
        ef.anonymize(faces, K, "k-same-eigen", gate=False, commercial=True)
    assert policy.commercial_only()
