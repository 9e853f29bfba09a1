"""Same faces, same seed: the same bytes on any number of threads. Another seed: other ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from everyface.faces import FaceSet
from everyface.pipeline import anonymize, stages
from everyface.release import staging, verify
from tests.pipeline.conftest import QUICK, K, snapshot

DAY = 1_795_000_000


@pytest.fixture(scope="module")
def some(faces: FaceSet) -> FaceSet:
    return faces.take(faces.subject < 6)


def released(faces: FaceSet, out: Path, seed: int, **how: object) -> dict[str, bytes]:
    release = anonymize(faces, K, **{"recipe": QUICK, **how}, random_state=seed)  # type: ignore[arg-type]
    return snapshot(release.save(out, stamp=DAY))


def test_the_same_seed_gives_the_same_bytes(some: FaceSet, tmp_path: Path) -> None:
    first = released(some, tmp_path / "first", 1)
    assert released(some, tmp_path / "second", 1) == first


def test_another_seed_gives_other_names_and_pseudonyms(some: FaceSet, tmp_path: Path) -> None:
    first = released(some, tmp_path / "first", 1, gate=False)
    other = released(some, tmp_path / "other", 2, gate=False)
    images = [{name for name in found if name.startswith("images")} for found in (first, other)]
    assert len(images[0]) == len(images[1]) > 0
    assert not images[0] & images[1]
    assert first["certificate.json"] != other["certificate.json"]


def test_another_seed_gives_other_faces(faces: FaceSet) -> None:
    """The default's groups may be the same for every seed; whose face a group gets is drawn."""
    seen = set()
    for seed in range(3):
        release = anonymize(faces, K, gate=False, random_state=seed)
        seen.add(b"".join(release.image(row).tobytes() for row in range(0, len(faces), 4)))
    assert len(seen) > 1


def test_another_seed_gives_other_groups(faces: FaceSet) -> None:
    """k-Same starts from a person drawn at random, so nobody can replay the groups."""
    seen = set()
    for seed in range(3):
        walked = anonymize(faces, K, "k-same-eigen", gate=False, random_state=seed).walked
        labels = walked.partition.labels
        seen.add((labels[:, None] == labels[None, :]).tobytes())
    assert len(seen) > 1


@pytest.mark.parametrize("form", ["faces", "photos"])
def test_threads_change_nothing(
    some: FaceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    many = released(some, tmp_path / "many", 3, form=form)
    monkeypatch.setattr(stages, "cpu_count", lambda: 1)
    monkeypatch.setattr(staging, "WORKERS", 1)
    with threadpool_limits(1):
        alone = released(some, tmp_path / "alone", 3, form=form)
    assert alone == many


def test_two_releases_at_once_are_as_one_after_the_other(some: FaceSet, tmp_path: Path) -> None:
    """Both beside the main thread: OpenBLAS heeds a limit on its threads from that one alone."""

    def made(workers: int) -> list[dict[str, bytes]]:
        def one(seed: int) -> dict[str, bytes]:
            return released(some, tmp_path / f"{workers}-{seed}", seed)

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, (4, 5)))

    assert made(2) == made(1)


def test_a_new_seed_is_drawn_each_time(some: FaceSet) -> None:
    seeds = {anonymize(some, K, QUICK, gate=False).seed for _ in range(3)}
    assert len(seeds) == 3
    assert min(seeds) > 2**40


def test_nothing_is_written_before_it_is_saved(
    some: FaceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    release = anonymize(some, K, QUICK, gate=False, random_state=1)
    assert release.image(0).shape == some.crops[0].shape
    assert list(tmp_path.iterdir()) == []
    assert verify(release.save("release")).files == len(some)
