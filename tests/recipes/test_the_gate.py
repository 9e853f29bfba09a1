"""The gate held against an attack of the tests' own, made from the written files alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface import recipe
from everyface.faces import FaceSet, identity, read
from everyface.faces.identity import embedded
from everyface.pipeline import anonymize
from everyface.release import read_key_map, verify
from tests.recipes.conftest import ONE, SEED, Case, K, Kitchen, Ran


def found_again(ran: Ran) -> tuple[int, int]:
    """Count the released faces whose most alike original is of their own person.

    A face that nobody finds in its photo is found again by nobody.
    """
    originals, files = ran.faces, ran.key_map["files"]
    gallery = embedded(originals, "sface")
    first: dict[bytes, Path] = {}
    same = [first.setdefault(path.read_bytes(), path) for path in released_files(ran)]
    released = read(list(first.values()))
    probes = dict(
        zip((released.photos[p] for p in released.photo), embedded(released, "sface"), strict=True)
    )
    hits = 0
    for entry, picture in zip(files, same, strict=True):
        if picture not in probes:
            continue
        source, probe = Path(entry["original"]), probes[picture]
        index = [path.absolute() for path in originals.photos].index(source)
        other = originals.photo != index
        alike = probe @ gallery[other].T / np.linalg.norm(gallery[other], axis=1)
        best = originals.subjects[originals.subject[other][alike.argmax()]]
        hits += best == source.parts[-2]
    return hits, len(files)


def released_files(ran: Ran) -> list[Path]:
    return [ran.out / entry["released"] for entry in ran.key_map["files"]]


@pytest.mark.parametrize("name", recipe.names())
@pytest.mark.parametrize("form", ["faces", "photos"])
def test_few_are_found_again(kitchen: Kitchen, name: str, form) -> None:
    hits, faces = found_again(kitchen(Case(name, form)))
    assert faces >= K
    assert hits / faces <= 1 / K


def test_without_it_most_people_are_found_in_their_photos(kitchen: Kitchen) -> None:
    """Hair, jaw and light identify people though their face is shared by k."""
    hits, faces = found_again(kitchen(Case("k-same-m", "photos", gate=False)))
    assert hits / faces > 1 / K


def test_the_certificate_reports_what_the_attack_finds(kitchen: Kitchen) -> None:
    ran = kitchen(Case("everyface", "photos"))
    [said] = [a for a in ran.certificate["gate"]["attacks"] if a["recogniser"] == "sface"]
    hits, faces = found_again(ran)
    assert ran.certificate["gate"]["price"]["faces_not_detected"] == 0
    assert (said["found"], said["people"]) == (hits, faces)
    assert said["low"] <= said["found"] / said["people"] <= said["high"]
    assert set(ran.certificate["gate"]["price"]) >= {"likeness_before", "likeness_after"}


def test_max_risk_asks_for_less(
    kitchen: Kitchen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No face at all may be found; those that are go to quarantine, never into the release."""
    monkeypatch.setattr(identity, "RECOGNISERS", ONE)
    faces: FaceSet = kitchen.faces["photos"]
    release = anonymize(faces, K, "k-same-m", form="photos", max_risk=0.0, random_state=SEED)
    out = release.save(tmp_path / "release")
    gate = verify(out).gate
    assert isinstance(gate, dict)
    assert gate["bound"] == 0
    assert [attack["found"] for attack in gate["attacks"]] == [0] * len(gate["attacks"])
    held = read_key_map(tmp_path / "release.private")
    aside = {entry["original"] for entry in held["refused"]}
    assert not aside & {entry["original"] for entry in held["files"]}
    assert len(aside) + len(held["files"]) == len(faces)
    assert len(aside) >= len(kitchen(Case("k-same-m", "photos")).key_map["refused"])
    assert found_again(Ran(faces, release, out))[0] == 0
