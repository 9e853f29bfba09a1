"""Broken input through the real commands: one clear sentence, and nothing lost or half-written."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from everyface import files
from everyface.faces import photo as photo_room
from everyface.release import read_key_map

K = 3
QUICK = ("-k", K, "--recipe", "k-same-eigen", "--no-gate", "--quiet")


@pytest.fixture(scope="session")
def seven(synthetic: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one photo each of seven people; it must stay as it is."""
    folder = tmp_path_factory.mktemp("seven") / "photos"
    folder.mkdir()
    for path in synthetic[:14:2]:
        shutil.copy(path, folder / f"{path.parent.name}.jpg")
    return folder


@pytest.fixture
def photos(seven: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seven, tmp_path / "photos"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "release"


@pytest.fixture(autouse=True)
def _originals_stay(seven: Path, tmp_path: Path) -> Iterator[None]:
    """Hold, after every test, that no photo was touched."""
    before = {path.name: path.read_bytes() for path in seven.iterdir()}
    yield
    for folder in (seven, tmp_path / "photos"):
        if folder.is_dir() and folder.stat().st_mode & 0o200:
            left = {
                p.name: p.read_bytes() for p in folder.iterdir() if p.name in before and p.is_file()
            }
            assert all(before[name] == data for name, data in left.items() if "broken" not in name)


def refused(ran: Any, code: int, *says: str) -> None:
    """Hold that a command failed with one sentence (or two) on one line, and printed nothing."""
    assert ran.code == code, ran.err
    [line] = [line for line in ran.err.splitlines() if not line.startswith("note: ")]
    assert line.startswith("error: ")
    assert line.endswith((".", "?"))
    assert "Traceback" not in ran.err
    for words in says:
        assert words in line
    assert ran.out == ""


def nothing_left(out: Path) -> None:
    left = {path.name for path in out.parent.iterdir()}
    assert not left & {"release", "release.private", "release.work", ".release.private.part"}


def aside(out: Path) -> dict[str, str]:
    """Return the photos that were set aside, each with its reason."""
    held = read_key_map(out.with_name("release.private"))
    return {Path(entry["original"]).name: entry["reason"] for entry in held["refused"]}


class TestNothingToDo:
    def test_an_empty_folder(self, cli, tmp_path: Path, out: Path) -> None:
        (tmp_path / "empty").mkdir()
        refused(cli("anonymize", tmp_path / "empty", "-o", out), 2, "there is no photo in")
        nothing_left(out)

    def test_a_folder_of_other_things(self, cli, tmp_path: Path, out: Path) -> None:
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "a.txt").write_text("no photo")
        ran = cli("anonymize", tmp_path / "notes", "-o", out)
        refused(ran, 2, "there is no photo in")
        assert "note: 1 file is not called like a photo and was left out: a.txt" in ran.err
        nothing_left(out)

    def test_a_photo_without_faces(self, cli, tmp_path: Path, out: Path) -> None:
        cv2.imwrite(str(tmp_path / "sky.png"), np.full((200, 300, 3), 180, np.uint8))
        refused(cli("anonymize", tmp_path / "sky.png", "-o", out, *QUICK), 2, "no face was found")
        nothing_left(out)

    def test_fewer_people_than_k(self, cli, photos: Path, out: Path) -> None:
        asked = ("anonymize", photos, "-o", out, "--subjects", "each", "--no-gate", "--quiet")
        ran = cli(*asked, "-k", 8)
        refused(ran, 2, "needs at least 8 people, but there are 7", "Lower k or add people")
        assert not out.exists()
        assert not out.with_name("release.private").exists()
        ran = cli(*asked, "-k", 7)
        refused(ran, 2, "one group alone", "k-same-m")
        assert cli(*asked, "-k", 7, "--recipe", "k-same-m").code == 0


def text(path: Path, good: bytes) -> None:
    path.write_text("This is not a photo.\n")


def empty(path: Path, good: bytes) -> None:
    path.write_bytes(b"")


def truncated(path: Path, good: bytes) -> None:
    path.write_bytes(good[: len(good) // 2])


def one_pixel(path: Path, good: bytes) -> None:
    cv2.imwrite(str(path), np.zeros((1, 1, 3), np.uint8))


def faceless(path: Path, good: bytes) -> None:
    cv2.imwrite(str(path), np.full((300, 200, 3), 200, np.uint8))


def dangling(path: Path, good: bytes) -> None:
    path.symlink_to(path.with_name("nowhere.jpg"))


BROKEN: list[tuple[Callable[[Path, bytes], None], str]] = [
    (text, "not a photo"),
    (empty, "empty"),
    (truncated, "damaged"),
    (one_pixel, "1 x 1 pixels"),
    (faceless, "no face was found"),
    (dangling, "cannot be read"),
]


class TestOneBadPhoto:
    """One photo that cannot be used stops that photo alone."""

    @pytest.mark.parametrize(("make", "reason"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
    def test_it_is_set_aside_with_its_reason(
        self, cli, photos: Path, out: Path, make: Callable[[Path, bytes], None], reason: str
    ) -> None:
        make(photos / "broken.jpg", (photos / "person_001.jpg").read_bytes())
        ran = cli("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
        assert ran.code == 0, ran.err
        assert "Released 7 of 8 photos" in ran.out
        assert "1 photo, not released" in ran.out
        [(name, said)] = aside(out).items()
        assert name == "broken.jpg"
        assert reason in said
        assert cli("verify", out).code == 0

    def test_alone_it_is_an_error(self, cli, tmp_path: Path, out: Path) -> None:
        text(tmp_path / "broken.jpg", b"")
        refused(cli("anonymize", tmp_path / "broken.jpg", "-o", out, *QUICK), 2, "not a photo")
        nothing_left(out)

    def test_a_file_that_may_not_be_read(
        self, cli, photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As the system refuses it; told to the reader, since root may read everything."""
        secret = photos / "person_003.jpg"
        read = Path.read_bytes

        def guarded(path: Path) -> bytes:
            if path == secret and not out.exists():
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return read(path)

        monkeypatch.setattr(photo_room.Path, "read_bytes", guarded)
        opened = photo_room.Path.open

        def guarded_open(path: Path, *args: Any, **how: Any) -> Any:
            if path == secret and not out.exists():
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return opened(path, *args, **how)

        monkeypatch.setattr(photo_room.Path, "open", guarded_open)
        ran = cli("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
        assert ran.code == 0, ran.err
        assert "Released 6 of 7 photos" in ran.out
        assert "Permission denied" in aside(out)["person_003.jpg"]

    def test_a_folder_called_like_a_photo(self, cli, photos: Path, out: Path) -> None:
        (photos / "album.jpg").mkdir()
        ran = cli("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
        assert ran.code == 0, ran.err
        assert "Released 7 of 7 photos" in ran.out


@pytest.fixture(scope="session")
def crowd(synthetic: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one photo with thirty faces: everybody, and six a second time, mirrored."""
    images = [cv2.imread(str(path)) for path in synthetic]
    images += [image[:, ::-1] for image in images[:6]]
    small = [cv2.resize(image, (192, 192), interpolation=cv2.INTER_AREA) for image in images]
    framed = [
        cv2.copyMakeBorder(i, *[20] * 4, cv2.BORDER_CONSTANT, value=(90, 110, 100)) for i in small
    ]
    rows = [np.concatenate(framed[start : start + 6], axis=1) for start in range(0, 30, 6)]
    path = tmp_path_factory.mktemp("crowd") / "crowd.jpg"
    cv2.imwrite(str(path), np.concatenate(rows))
    return path


class TestManyFaces:
    @pytest.mark.parametrize("form", ["faces", "photos"])
    def test_thirty_in_one_photo(self, cli, crowd: Path, out: Path, form: str) -> None:
        ran = cli("anonymize", crowd, "-o", out, "--form", form, "--json", *QUICK)
        assert ran.code == 0, ran.err
        assert ran.document["people"] == 30
        assert ran.document["k_reached"] >= K
        assert len(list((out / "images").iterdir())) == (30 if form == "faces" else 1)
        assert cli("verify", out).code == 0


class TestPeople:
    def test_the_same_photo_twice_is_one_person(self, cli, photos: Path, out: Path) -> None:
        shutil.copy(photos / "person_001.jpg", photos / "copy.jpg")
        ran = cli("anonymize", photos, "-o", out, "--json", *QUICK)
        assert ran.code == 0, ran.err
        assert (ran.document["photos"], ran.document["released"]) == (8, 8)
        held = read_key_map(out.with_name("release.private"))
        who = {Path(entry["original"]).name: entry["people"] for entry in held["files"]}
        assert who["copy.jpg"] == who["person_001.jpg"]

    def test_a_photo_named_twice_is_read_once(self, cli, photos: Path, out: Path) -> None:
        again = photos / ".." / "photos" / "person_001.jpg"
        ran = cli("anonymize", photos, again, "-o", out, "--json", *QUICK)
        assert ran.code == 0, ran.err
        assert ran.document["photos"] == 7

    def test_a_table_without_the_column(self, cli, photos: Path, out: Path, tmp_path: Path) -> None:
        (tmp_path / "people.csv").write_text("file,hat\nperson_001.jpg,red\n")
        ran = cli("anonymize", photos, "-o", out, "--subjects", f"csv:{tmp_path / 'people.csv'}")
        refused(ran, 2, "no column for the subject", "file, hat")
        nothing_left(out)

    def test_a_label_that_the_table_does_not_have(
        self, cli, photos: Path, out: Path, tmp_path: Path
    ) -> None:
        lines = [f"{path.name},{path.stem},north" for path in photos.iterdir()]
        (tmp_path / "people.csv").write_text("\n".join(["file,subject,ward", *lines]))
        given = ("--subjects", f"csv:{tmp_path / 'people.csv'}", *QUICK)
        ran = cli("anonymize", photos, "-o", out, "--select", "hat", *given)
        refused(ran, 2, "no label called 'hat'", "age, gender, skin, ward")
        ran = cli("anonymize", photos, "-o", out, "--select", "ward", *given)
        assert ran.code == 0, ran.err

    def test_a_pattern_that_matches_nothing(self, cli, photos: Path, out: Path) -> None:
        ran = cli("anonymize", photos, "-o", out, "--subjects", "pattern:{person}-*.png")
        refused(ran, 2, "no photo matches the pattern", "person_001.jpg")
        nothing_left(out)


class TestRecipes:
    def test_unknown(self, cli, photos: Path, out: Path) -> None:
        refused(
            cli("anonymize", photos, "-o", out, "--recipe", "k-same-x"),
            2,
            "k-same-x",
            "Did you mean k-same-",
        )
        nothing_left(out)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("title = ", "not valid TOML"),
            ('title = "mine"', "Field required"),
            ("SWAP nearest sideways", "no grouping called 'sideways'"),
            ("SWAP mean median", "no surrogate rule called 'median'"),
            ("SWAP appearance embedding", "cannot draw faces"),
            ("SWAP needless colour", "colour"),
        ],
    )
    def test_broken(
        self, cli, photos: Path, out: Path, tmp_path: Path, text: str, says: str
    ) -> None:
        if text.startswith("SWAP"):
            good = cli("recipes", "k-same-m", "--toml").out
            _, old, new = text.split()
            text = good.replace(f'"{old}"', f'"{new}"') + (
                'colour = "red"\n' if old == "needless" else ""
            )
        (tmp_path / "mine.toml").write_text(text)
        ran = cli("anonymize", photos, "-o", out, "--recipe", tmp_path / "mine.toml")
        refused(ran, 2, "mine.toml", says)
        nothing_left(out)

    def test_a_parameter_that_a_part_does_not_take(
        self, cli, photos: Path, out: Path, tmp_path: Path
    ) -> None:
        good = cli("recipes", "k-same-eigen", "--toml").out
        (tmp_path / "mine.toml").write_text(good + "params = { colour = 3 }\n")
        asked = ("--recipe", tmp_path / "mine.toml", "-k", K, "--no-gate", "--quiet")
        ran = cli("anonymize", photos, "-o", out, "--subjects", "each", *asked)
        refused(ran, 2, "colour", "Correct them in the recipe file")
        assert not out.exists()


class TestPlaces:
    def test_a_release_that_stands_already(self, cli, photos: Path, out: Path) -> None:
        out.mkdir()
        (out / "precious.txt").write_text("precious")
        refused(cli("anonymize", photos, "-o", out), 4, "already exists")
        refused(cli("anonymize", photos, "-o", out, "--resume"), 4, "already exists")
        assert [path.name for path in out.iterdir()] == ["precious.txt"]

    def test_a_release_among_the_photos(self, cli, photos: Path) -> None:
        refused(cli("anonymize", photos, "-o", photos / "release"), 4, "inside the photos")
        assert not (photos / "release").exists()

    def test_no_permission(
        self, cli, photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As the system refuses it; root would be let in."""
        make = Path.mkdir

        def mkdir(path: Path, *args: Any, **how: Any) -> None:
            if path.name.startswith("release"):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            make(path, *args, **how)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        refused(cli("anonymize", photos, "-o", out, *QUICK), 4, "no permission to write")
        nothing_left(out)

    def test_a_place_that_cannot_be(self, cli, photos: Path, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("precious")
        refused(cli("anonymize", photos, "-o", tmp_path / "file" / "release", *QUICK), 4, "file")
        assert (tmp_path / "file").read_text() == "precious"

    def test_a_private_folder_of_another_release(self, cli, photos: Path, out: Path) -> None:
        other = out.with_name("release.private")
        other.mkdir()
        (other / "key_map.json").write_text('{"release": "another"}')
        ran = cli("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
        refused(ran, 4, "not of this release", "Move it away")
        assert (other / "key_map.json").read_text() == '{"release": "another"}'
        assert not out.exists()


@pytest.mark.parametrize("after", [1, 3, 9])
def test_a_full_disk(
    cli, photos: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """The run stops with a sentence, and with space it goes on to the end."""
    written = 0
    sync = os.fsync

    def full(handle: int) -> None:
        nonlocal written
        written += 1
        if written > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    asked = ("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        refused(cli(*asked), 4, "the disk is full while writing", "--resume")
    assert written > after
    assert not out.exists()
    assert not out.with_name("release.private").exists()
    ran = cli(*asked, "--resume")
    assert ran.code == 0, ran.err
    assert cli("verify", out).code == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("release")) == [
        "release",
        "release.private",
    ]


def test_other_options_are_not_resumed(
    cli, photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["everyface.pipeline.run"], "walk", stop)
        asked = ("anonymize", photos, "-o", out, "--subjects", "each", *QUICK)
        ran = cli(*asked)
    assert ran.code == 130
    assert "--resume" in ran.err
    refused(cli(*asked), 4, "an unfinished run lies in", "--resume")
    refused(cli(*asked, "--resume", "-k", 2), 2, "k changed")
    assert cli(*asked, "--resume").code == 0
