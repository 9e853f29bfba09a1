from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from everyface.errors import InputError
from everyface.release import verify
from everyface.release.breach import ReleaseBreachError
from everyface.release.container import UncleanError, shape_of
from everyface.release.encode import encode
from everyface.release.interval import clopper_pearson
from everyface.release.leaks import leaks
from everyface.release.reasons import reason_class
from everyface.release.tree import copied
from tests.release import build


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (33, 2), (64, 48)])
def test_what_is_encoded_is_clean_and_of_its_size(suffix: str, size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    raw = encode(image, suffix)
    found = shape_of(raw)
    assert (found.suffix, found.height, found.width) == (suffix, *size)
    assert raw == encode(image, suffix)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_every_truncation_is_seen(suffix: str) -> None:
    raw = encode(build.noise(1), suffix)
    for length in range(len(raw)):
        with pytest.raises(UncleanError):
            shape_of(raw[:length])


@given(st.binary(max_size=60), st.sampled_from([".png", ".jpg"]), st.integers(0, 2000))
def test_bytes_put_anywhere_never_crash_the_parser(added: bytes, suffix: str, at: int) -> None:
    raw = encode(build.noise(1), suffix)
    try:
        shape_of(raw[:at] + added + raw[at:])
    except UncleanError as error:
        assert error.code in {"format", "metadata", "trailing", "damaged"}


def test_a_bomb_is_not_inflated() -> None:
    raw = bytearray(encode(build.noise(1), ".png"))
    raw[16:24] = b"\x7f\xff\xff\xff\x7f\xff\xff\xff"
    with pytest.raises(UncleanError):
        shape_of(bytes(raw))


@pytest.mark.parametrize(
    "image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3))]
)
def test_what_is_no_picture_is_not_encoded(image: np.ndarray) -> None:
    with pytest.raises(InputError):
        encode(image, ".png")


@given(st.integers(1, 400), st.data())
def test_the_interval_is_the_exact_one(people: int, data: st.DataObject) -> None:
    """At each end the chance of what was found, or worse, is 2.5 %."""
    found = data.draw(st.integers(0, people))
    low, high = clopper_pearson(found, people)
    assert 0 <= low <= found / people <= high <= 1
    if found > 0:
        assert binom.sf(found - 1, people, low) == pytest.approx(0.025, abs=2e-4)
    if found < people:
        assert binom.cdf(found, people, high) == pytest.approx(0.025, abs=2e-4)


@pytest.mark.parametrize(
    "innocent",
    [
        "Apache-2.0",
        "trained on iBUG 300-W: research only",
        "https://github.com/opencv/opencv_zoo/tree/main/models",
        "face and/or hair",
        "1 / k",
        "nearest, k = 5",
        "thesis Alg. 3, lines 21-34",
        "the hair, the clothes and everything behind the person",
    ],
)
def test_innocent_words_are_no_leak(innocent: str) -> None:
    assert not list(leaks({"recipe": {"title": innocent}}))


@pytest.mark.parametrize(
    "guilty",
    [
        "/srv/photos",
        "~/photos",
        "~anna/x",
        "../photos",
        "C:\\x",
        "\\\\server\\x",
        "file:x",
        "a.JPG",
    ],
)
def test_places_and_pictures_are_leaks(guilty: str) -> None:
    assert list(leaks({"carried_over": ["x", guilty]}))
    assert list(leaks({"notes": {"a": {"b": f"kept ({guilty})"}}})) or guilty[0] in "~.\\"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("no face was found", "no face"),
        ("the photo cannot be read", "unreadable"),
        ("an attack could still recognise somebody in it", "at risk"),
        ("a face is too small", "doubtful"),
        ("a comet", "other"),
    ],
)
def test_reasons_become_classes(sentence: str, expected: str) -> None:
    assert reason_class(sentence) == expected


def test_what_is_no_folder_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        verify(tmp_path / "nothing")
    with pytest.raises(ReleaseBreachError, match=r"certificate\.json is missing"):
        verify(tmp_path)


def test_as_dict_is_plain(masters: dict[str, Path]) -> None:
    import json

    found = verify(masters["faces"])
    assert json.loads(json.dumps(found.as_dict()))["guarantee"] == "k-anonymous"
    assert not copied(masters["faces"], build.DAY)


def test_verifying_needs_no_heavy_library(masters: dict[str, Path]) -> None:
    """A stranger's machine checks a release without models and without waiting."""
    code = (
        "import sys; from everyface.release import verify; "
        f"verify({str(masters['photos'])!r}, {build.PUBLISHER.public_key!r}); "
        "heavy = {'openvino', 'torch', 'cv2', 'sklearn', 'numba', 'dlib', 'scipy.stats'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": "src"}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env=environment)
