"""What the user says about who is who is taken by the letter or refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from everyface.errors import InputError
from everyface.faces.naming import Naming, naming, short_names

PHOTOS = [
    Path("/data/london/anna/1.jpg"),
    Path("/data/london/anna/2.jpg"),
    Path("/data/london/ben/1.jpg"),
    Path("/data/paris/anna/3.jpg"),
]


def paths(*names: str) -> list[Path]:
    return [Path("/photos") / name for name in names]


def test_folder() -> None:
    """Folders of the same name are one person, wherever they lie."""
    said = naming("folder", PHOTOS)
    assert said.person == {0: "anna", 1: "anna", 2: "ben", 3: "anna"}
    assert not said.face and not said.unknown


def test_folder_of_paths_with_dots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "anna").mkdir()
    monkeypatch.chdir(tmp_path / "anna")
    found = naming("folder", [Path("a.jpg"), Path("../anna/b.jpg"), Path("./c.jpg")])
    assert set(found.person.values()) == {"anna"}
    assert naming("folder", [Path("/a.jpg")]).person == {0: "/"}


def test_each() -> None:
    said = naming("each", PHOTOS)
    assert said.person[0] == "london/anna/1.jpg" and said.person[3] == "paris/anna/3.jpg"
    assert len(set(said.person.values())) == 4


def test_auto_says_nothing() -> None:
    assert naming("auto", PHOTOS) == Naming()


@pytest.mark.parametrize("spec", ["", "folders", "csv", "csv:", "pattern:", "auto:1", "Folder"])
def test_what_says_nothing_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="does not say who is who"):
        naming(spec, PHOTOS)


@pytest.mark.parametrize(
    ("pattern", "names", "people"),
    [
        ("{person}_*.jpg", ["ann_1.jpg", "ann_2.jpg", "bob_1.jpg"], ["ann", "ann", "bob"]),
        ("{person}_*.jpg", ["ann_lee_1.jpg"], ["ann"]),
        ("*_{person}.jpg", ["x_y_ann.jpg"], ["ann"]),
        ("img_?_{person}.*", ["img_7_ann.png", "img_8_ann.jpeg"], ["ann", "ann"]),
        ("{person}/*.jpg", ["ann/1.jpg", "bob/1.jpg"], ["ann", "bob"]),
        ("{person}/{person}_*.jpg", ["ann/ann_1.jpg"], ["ann"]),
        (r"(\d+)[a-z]\.jpg", ["007a.jpg", "007b.jpg"], ["007", "007"]),
        (r"(?:x)(?P<person>..)(.*)", ["xabcd.jpg"], ["ab"]),
        ("{person}(1)*.jpg", ["ann(1)x.jpg"], ["ann"]),
    ],
)
def test_patterns(pattern: str, names: list[str], people: list[str]) -> None:
    said = naming(f"pattern:{pattern}", paths(*names))
    assert [said.person[i] for i in range(len(names))] == people


def test_what_a_pattern_does_not_match_is_set_aside() -> None:
    said = naming("pattern:{person}_*.jpg", paths("ann_1.jpg", "bob.jpg", "ann_1.jpgx"))
    assert said.person == {0: "ann"}
    assert said.unknown == dict.fromkeys(
        (1, 2), "its name does not match the pattern {person}_*.jpg"
    )
    # The same person twice in the pattern must be the same person.
    said = naming("pattern:{person}/{person}_*.jpg", paths("ann/ann_1.jpg", "ann/bob_1.jpg"))
    assert set(said.unknown) == {1}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("{person}-*.jpg", "no photo matches the pattern"),
        ("*.jpg", "is not a regular expression"),
        ("[a-z]+.jpg", "does not say where the person's name stands"),
    ],
)
def test_patterns_that_say_nothing_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        naming(f"pattern:{pattern}", paths("ann_1.jpg"))


def table(folder: Path, text: str, encoding: str = "utf-8") -> str:
    (folder / "people.csv").write_text(text, encoding=encoding)
    return f"csv:{folder / 'people.csv'}"


@pytest.fixture
def here(tmp_path: Path) -> list[Path]:
    return [tmp_path / name for name in ("ann/1.jpg", "ann/2.jpg", "bob/1.jpg", "group.jpg")]


@pytest.mark.parametrize(
    "text",
    [
        "file,subject\nann/1.jpg,Ann\nann/2.jpg,Ann\nbob/1.jpg,Bob\n",
        "Subject;Filename\nAnn;ann/1.jpg\nAnn;2.jpg\nBob;bob/1.jpg\n",
        "photo\tperson\n./ann/1.jpg\tAnn\nann\\2.jpg\tAnn\n\nbob/1.jpg\t Bob \n",
        'path,note,who\n"ann/1.jpg","a, b",Ann\nann/2.jpg,,Ann\nbob/1.jpg,,Bob\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_tables(here: list[Path], tmp_path: Path, text: str, encoding: str) -> None:
    """Commas, semicolons or tabs; common names of columns; paths from the table or their ends."""
    said = naming(table(tmp_path, text, encoding), here)
    assert said.person == {0: "Ann", 1: "Ann", 2: "Bob"}
    assert said.unknown == {3: "people.csv does not say who is on it"}


def test_a_table_names_faces_from_the_left(here: list[Path], tmp_path: Path) -> None:
    said = naming(
        table(tmp_path, "file,face,subject\ngroup.jpg,2,Bob\ngroup.jpg,1,Ann\nann/1.jpg,,Ann\n"),
        here,
    )
    assert said.face == {(3, 2): "Bob", (3, 1): "Ann"} and said.person == {0: "Ann"}
    assert set(said.unknown) == {1, 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,subject\n1.jpg,Ann\n", "line 2 of .* may mean 2 photos called 1.jpg"),
        ("file,subject\nann/1.jpg,\n", "line 2 of .* names no person"),
        ("file,subject\nann/1.jpg,Ann\n,Ann\n", "line 3 of .* names no file"),
        ("file,subject\nann/1.jpg,A\nann/1.jpg,B\n", "line 3 .* calls 'B' who was called 'A'"),
        ("file,subject,face\nann/1.jpg,A,x\n", "has 'x' for a face"),
        ("file,subject,face\nann/1.jpg,A,0\n", "has '0' for a face"),
        ("file,subject\nx.jpg,Ann\n", "names none of the photos"),
        ("file,subject\n", "is empty"),
        ("", "is empty"),
        ("picture,age\nann/1.jpg,7\n", r"no column for the subject \(picture, age\)"),
        ("subject,age\nann/1.jpg,7\n", "no column for the file"),
        ('file,subject\n"ann/1.jpg"x,Ann\n', "is not a CSV"),
    ],
)
def test_tables_that_say_nothing_clear_are_refused(
    here: list[Path], tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        naming(table(tmp_path, text), here)


def test_tables_that_cannot_be_read(here: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        naming(f"csv:{tmp_path / 'missing.csv'}", here)
    (tmp_path / "people.csv").write_bytes(b"file,subject\n\xff\xfe,\xe9\n")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        naming(f"csv:{tmp_path / 'people.csv'}", here)


def test_the_same_line_twice_is_no_contradiction(here: list[Path], tmp_path: Path) -> None:
    said = naming(table(tmp_path, "file,subject\nann/1.jpg,A\nann/1.jpg,A\n"), here)
    assert said.person == {0: "A"}


def test_short_names_leave_out_what_all_share() -> None:
    assert short_names(PHOTOS[:2]) == ["1.jpg", "2.jpg"]
    assert short_names(PHOTOS) == [
        "london/anna/1.jpg",
        "london/anna/2.jpg",
        "london/ben/1.jpg",
        "paris/anna/3.jpg",
    ]
    assert short_names([]) == []
