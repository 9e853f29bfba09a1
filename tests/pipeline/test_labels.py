from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.faces import FaceSet, read
from everyface.guarantee import Level
from everyface.pipeline import anonymize
from everyface.pipeline.people import People, selectable
from tests.pipeline.conftest import K


def table(folder: Path, few: Path, column: str, values: list[str]) -> str:
    lines = [f"file,subject,{column}"]
    for photo, value in zip(sorted(few.iterdir()), values, strict=True):
        lines.append(f"{photo.name},{photo.name[:10]},{value}")
    (folder / "people.csv").write_text("\n".join(lines))
    return f"csv:{folder / 'people.csv'}"


WARDS = ["north", "south", "north", "south", "south", "north", "south"]


@pytest.fixture
def named(few: Path, tmp_path: Path) -> FaceSet:
    return read(few, table(tmp_path, few, "Ward", WARDS))


def test_a_column_of_the_table_is_a_label(named: FaceSet) -> None:
    by_photo = {
        named.photos[p].name: v for p, v in zip(named.photo, named.labels["ward"], strict=True)
    }
    assert [by_photo[name] for name in sorted(by_photo)] == WARDS


def test_people_are_grouped_within_it(named: FaceSet) -> None:
    walked = anonymize(named, K, "k-same-select", select="ward", gate=False).walked
    ward = walked.people.kinds(named, "ward")
    for group in range(walked.partition.n_groups):
        assert len(set(ward[walked.partition.labels == group])) == 1
    assert walked.partition.n_groups == 2
    assert walked.guarantee.level is Level.K_ANONYMOUS


def test_any_recipe_takes_a_label(named: FaceSet) -> None:
    walked = anonymize(named, K, "mdav", select="ward", gate=False).walked
    assert "share of people grouped across ward" in walked.notes


def test_a_value_with_too_few_people_is_reported(few: Path, tmp_path: Path) -> None:
    wards = ["north"] * 5 + ["south"] * 2
    named = read(few, table(tmp_path, few, "ward", wards))
    walked = anonymize(named, K, "k-same-select", select="ward", gate=False).walked
    assert walked.notes["share of people grouped across ward"] > 0
    assert np.bincount(walked.partition.labels).min() >= K


def test_the_users_word_goes_before_the_networks_guess(few: Path, tmp_path: Path) -> None:
    named = read(few, table(tmp_path, few, "gender", ["x", "y", "x", "y", "x", "y", "x"]))
    assert set(named.labels["gender"]) <= {"female", "male"}
    assert set(People.of(named).kinds(named, "gender")) == {"x", "y"}
    assert "gender" in selectable(named)
    assert "given_gender" not in selectable(named)


def test_ages_count_by_decades(few: Path, tmp_path: Path) -> None:
    years = ["31", "39", "40", "44", "8", "12", "12.5"]
    named = read(few, table(tmp_path, few, "age", years))
    order = np.argsort([named.photos[photo].name for photo in named.photo])
    kinds = People.of(named).kinds(named, "age")[order]
    assert kinds.tolist() == [3, 3, 4, 4, 0, 1, 1]
    computed = read(few, "each")
    assert set(People.of(computed).kinds(computed, "age")) <= set(range(9))


def test_ages_in_words_stay_words(few: Path, tmp_path: Path) -> None:
    words = ["young", "old", "young", "old", "old", "old", "old"]
    named = read(few, table(tmp_path, few, "age", words))
    assert set(People.of(named).kinds(named, "age")) == {"young", "old"}


def test_skin_counts_by_tones(faces: FaceSet) -> None:
    people = People.of(faces)
    angle, tone = people.label(faces, "skin"), people.kinds(faces, "skin")
    assert set(tone) <= set(range(6))
    order = np.argsort(angle)
    assert (np.diff(tone[order]) >= 0).all()
    assert all((tone[i] == 5) == (angle[i] >= 55) for i in range(len(people)))


@pytest.mark.parametrize("label", ["expression", "gender_probability", "shoe size"])
def test_what_is_no_label_for_people_is_refused(faces: FaceSet, label: str) -> None:
    with pytest.raises(InputError, match="age, gender, skin"):
        anonymize(faces, K, "k-same-select", select=label)


def test_a_person_of_whom_the_table_says_nothing_is_unknown(few: Path, tmp_path: Path) -> None:
    values = ["north", "", "north", "", "", "north", "north"]
    named = read(few, table(tmp_path, few, "ward", values))
    assert sorted(named.labels["ward"]) == ["north"] * 4 + ["unknown"] * 3


def test_other_photos_of_a_person_speak_for_one_without_a_value(
    synthetic: list[Path], tmp_path: Path
) -> None:
    photos = synthetic[:4]
    lines = ["file,subject,ward"]
    lines += [f"{p.parent.name}/{p.name},{p.parent.name},north" for p in photos[:3]]
    lines += [f"{p.parent.name}/{p.name},{p.parent.name}," for p in photos[3:]]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    named = read(photos, f"csv:{tmp_path / 'people.csv'}")
    assert named.labels["ward"].tolist() == ["north"] * 4
