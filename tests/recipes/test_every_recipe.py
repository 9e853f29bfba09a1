"""What every recipe owes, from the day it is added: checked on the files that it writes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from everyface import recipe
from everyface.faces import read_photo
from everyface.models import registry
from everyface.release import verify
from tests.recipes.conftest import SEED, Case, K, Kitchen, Ran

FORMS = ("faces", "photos")
AVERAGES = ("mean", "neighbour", "swap")
"""Rules under which a group shares one face."""

GATED = [Case(name, form) for name in recipe.names() for form in FORMS]
OPEN = [Case(name, "faces", gate=False) for name in recipe.names()]
PHOTOS_OPEN = [
    Case("k-same-m", "photos", gate=False),
    Case("k-diff-furthest", "photos", gate=False),
]
EVERY = [*GATED, *OPEN, *PHOTOS_OPEN]


def named(case: Case) -> str:
    return f"{case.recipe}-{case.form}{'' if case.gate else '-open'}"


@pytest.fixture(params=EVERY, ids=named)
def ran(request: pytest.FixtureRequest, kitchen: Kitchen) -> Ran:
    return kitchen(request.param)


@pytest.fixture(params=[case for case in EVERY if case.form == "faces"], ids=named)
def faces_form(request: pytest.FixtureRequest, kitchen: Kitchen) -> Ran:
    return kitchen(request.param)


@pytest.fixture(params=[case for case in EVERY if case.form == "photos"], ids=named)
def photos_form(request: pytest.FixtureRequest, kitchen: Kitchen) -> Ran:
    return kitchen(request.param)


def test_it_is_verified(ran: Ran) -> None:
    found = verify(ran.out)
    assert found.k == K
    assert found.k_reached >= K
    assert found.guarantee == ran.release.walked.guarantee.level.label


def test_nobody_is_lost(ran: Ran) -> None:
    """Every photo is released, or set aside with its reason; a photo is never both."""
    originals = [entry["original"] for entry in ran.key_map["files"]]
    aside = [entry["original"] for entry in ran.key_map["refused"]]
    given = {str(ran.faces.photos[photo].absolute()) for photo in ran.faces.photo}
    assert set(originals) | set(aside) == given
    assert not set(originals) & set(aside)
    assert all(entry["reason"] for entry in ran.key_map["refused"])
    assert len(originals) >= K


def test_every_group_has_k_people_by_the_certificate(ran: Ran) -> None:
    groups = ran.certificate["groups"]
    assert groups
    assert min(group["people"] for group in groups) >= K


def test_the_certificate_says_what_was_done(ran: Ran) -> None:
    said, asked = ran.certificate, ran.release.options
    assert (said["form"], said["k"]) == (asked.form, K)
    assert said["recipe"] == asked.method.as_dict()
    assert said["guarantee"]["level"] == ran.release.walked.guarantee.level.label
    assert said["guarantee"]["lowered_by"] == list(ran.release.walked.guarantee.lowered_by)
    assert bool(said["guarantee"]["lowered_by"]) == (said["guarantee"]["level"] != "k-anonymous")
    assert said["models"]
    for model in said["models"]:
        entry = registry.entry(model["name"])
        assert (model["sha256"], model["licence"]) == (entry.files[0].sha256, entry.licence)
    assert {file["sha256"] for file in said["files"]} == {
        hashlib.sha256(path.read_bytes()).hexdigest() for path in (ran.out / "images").iterdir()
    }


def test_the_seed_is_nowhere_in_the_release(ran: Ran) -> None:
    secrets = [str(SEED).encode(), f"{SEED:x}".encode()]
    for path in ran.out.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            assert not any(secret in data for secret in secrets), path.name
    assert ran.key_map["seed"] == SEED


def test_the_gate_is_named_run_or_not_run(ran: Ran) -> None:
    gate = ran.certificate["gate"]
    if not ran.release.options.gate:
        assert gate == "not run"
        assert any("not run" in remark for remark in verify(ran.out).remarks)
        return
    assert gate["bound"] == pytest.approx(1 / K, abs=1e-6)
    assert gate["attacks"][0]["recogniser"] == "sface"
    for attack in gate["attacks"]:
        assert attack["people"] == ran.certificate["counts"]["faces"]
        assert attack["found"] / attack["people"] <= 1 / K


def test_who_shares_a_picture_is_k_people_on_the_disk(faces_form: Ran) -> None:
    """The promise itself: counted from bytes and from who is really behind them."""
    if faces_form.certificate["guarantee"]["level"] == "k-anonymous":
        assert all(len(people) >= K for people in faces_form.people_by_picture.values())
    released = set().union(*faces_form.people_by_picture.values())
    aside = {Path(entry["original"]).parts[-2] for entry in faces_form.key_map["refused"]}
    assert released | aside == set(faces_form.faces.subjects)
    assert not released & aside


def test_averages_are_one_picture_a_group(faces_form: Ran) -> None:
    said, rule = faces_form.certificate, faces_form.release.options.method.surrogate.name
    by_group: dict[int, set[str]] = {}
    for file in said["files"]:
        by_group.setdefault(file["groups"][0], set()).add(file["sha256"])
    if rule in AVERAGES:
        assert said["guarantee"]["level"] == "k-anonymous"
        assert all(len(pictures) == 1 for pictures in by_group.values())
        assert len(faces_form.people_by_picture) == len(by_group) == said["counts"]["groups"]


def test_all_photos_of_a_person_become_one_face(faces_form: Ran) -> None:
    pictures: dict[str, set[bytes]] = {}
    for picture, people in faces_form.people_by_picture.items():
        for person in people:
            pictures.setdefault(person, set()).add(picture)
    assert all(len(found) == 1 for found in pictures.values())


def test_whole_photos_are_only_measured(photos_form: Ran) -> None:
    said = photos_form.certificate
    assert said["guarantee"]["level"] == "measured"
    assert any("merged" in reason for reason in said["guarantee"]["lowered_by"])
    assert said["carried_over"]
    assert said["background"] == "keep"


def test_every_face_of_a_whole_photo_is_new(photos_form: Ran) -> None:
    """Same size, another face where the face was, and nothing but pixels in the file."""
    number = {str(path.absolute()): i for i, path in enumerate(photos_form.faces.photos)}
    for entry in photos_form.key_map["files"]:
        path = photos_form.out / entry["released"]
        old, new = read_photo(Path(entry["original"])), read_photo(path)
        assert new.shape == old.shape
        for row in np.flatnonzero(photos_form.faces.photo == number[entry["original"]]):
            x0, y0, x1, y1 = photos_form.faces.box[row].astype(int)
            middle = np.s_[
                (3 * y0 + y1) // 4 : (y0 + 3 * y1) // 4, (3 * x0 + x1) // 4 : (x0 + 3 * x1) // 4
            ]
            assert np.abs(new[middle].astype(int) - old[middle]).mean() > 3
        with Image.open(path) as image:
            assert not image.getexif()


def test_k_diff_gives_everybody_a_face_of_their_own(kitchen: Kitchen) -> None:
    ran = kitchen(Case("k-diff-furthest", "faces", gate=False))
    assert all(len(people) == 1 for people in ran.people_by_picture.values())
    assert len(ran.people_by_picture) == ran.faces.n_subjects
    assert ran.certificate["guarantee"]["level"] in ("wrong-map", "measured")
    assert "face of their own" in ran.certificate["guarantee"]["lowered_by"][0]


@pytest.mark.parametrize("gate", [True, False])
def test_k_same_select_keeps_the_label(kitchen: Kitchen, gate: bool) -> None:
    """No picture is shared by women and men, where both are enough for groups of their own."""
    ran = kitchen(Case("k-same-select", "faces", gate))
    walked = ran.release.walked
    kinds = walked.people.kinds(ran.faces, "gender")
    gender = dict(zip((ran.faces.subjects[s] for s in walked.people.subject), kinds, strict=True))
    assert min(list(gender.values()).count(kind) for kind in ("female", "male")) >= K
    for people in ran.people_by_picture.values():
        assert len({str(gender[person]) for person in people}) == 1
    assert ran.certificate["notes"]["share of people grouped across gender"] == 0
