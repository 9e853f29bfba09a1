"""From photos to a table: bad ones refused alone, a killed run taken up again, changes noticed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from everyface.errors import InputError, OutputError, PhotoError
from everyface.faces import FaceSet, read, reading
from everyface.faces.align import crop, crop_points, face_transform
from everyface.faces.identity import embedded
from everyface.faces.photo import read_photo

from .pictures import collage, scene

SIDE = 224
PHOTOS = 5
Opened = list[str]


class Killed(BaseException):
    """The run was stopped, as by a signal."""


@pytest.fixture(scope="module")
def small(portraits: list[np.ndarray]) -> list[np.ndarray]:
    """Small portraits: reading them is quick."""
    return [
        cv2.resize(portrait, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        for portrait in portraits[:8]
    ]


@pytest.fixture
def photos(tmp_path: Path, small: list[np.ndarray]) -> list[Path]:
    paths = [tmp_path / "photos" / f"{number}.png" for number in range(PHOTOS)]
    paths[0].parent.mkdir()
    for path, picture in zip(paths, small, strict=False):
        Image.fromarray(picture).save(path)
    return paths


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Names of the photos that were opened, in shards of two."""
    names: Opened = []

    def listening(path: Path) -> np.ndarray:
        names.append(path.name)
        return read_photo(path)

    monkeypatch.setattr(reading, "SHARD", 2)
    monkeypatch.setattr(reading, "read_photo", listening)
    return names


def same(a: FaceSet, b: FaceSet) -> None:
    """Byte for byte the same faces."""
    for field in fields(FaceSet):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name == "crops":
            assert x[:].tobytes() == y[:].tobytes()
        elif field.name == "labels":
            assert x.keys() == y.keys()
            assert all(np.asarray(x[key]).tolist() == np.asarray(y[key]).tolist() for key in x)
        elif isinstance(x, np.ndarray):
            assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), field.name
        elif field.name != "vectors":
            assert x == y, field.name


def killed_after(photo: int) -> Callable[[str, int, int], None]:
    """A listener that stops the run once that photo is being read."""

    def tick(stage: str, done: int, _: int) -> None:
        if stage == "reading" and done >= photo:
            raise Killed

    return tick


def test_a_row_a_face_in_the_order_of_the_photos(faces: FaceSet, synthetic: list[Path]) -> None:
    assert list(faces.photos) == synthetic and len(faces) == len(synthetic)
    assert faces.photo.tolist() == list(range(len(synthetic)))
    assert (faces.sizes == 512).all() and faces.refused == ()
    assert faces.subjects == tuple(f"person_{n:03d}" for n in range(1, 13))
    assert faces.subject.tolist() == [n // 2 for n in range(24)]
    assert faces.box.dtype == faces.points.dtype == faces.quality.dtype == np.float32
    assert (faces.box[:, :2] == faces.points[..., :2].min(axis=1)).all()
    assert (faces.box[:, 2:] == faces.points[..., :2].max(axis=1)).all()


def test_crops_are_cut_by_the_mesh(faces: FaceSet, portraits: list[np.ndarray]) -> None:
    for row in (2, 15):
        wanted = crop(portraits[row], face_transform(faces.points[row]))
        assert faces.crops[row].tobytes() == wanted.tobytes()


def test_crops_lie_on_disk(faces: FaceSet) -> None:
    """They are mapped and cannot be written to; rows are read when they are asked for."""
    held = faces.crops._held
    assert isinstance(held, np.memmap) and not held.flags.writeable


def test_embeddings_fit_the_rows(faces: FaceSet) -> None:
    assert len(embedded(faces, "sface")) == len(faces)


@pytest.mark.parametrize("orientation", [3, 5, 6, 8])
def test_orientation_is_applied_first(
    tmp_path: Path, small: list[np.ndarray], orientation: int
) -> None:
    """However the file stores it, the face stands where it is seen, and once."""
    shown = np.ascontiguousarray(small[4][:, :200])
    stored = {
        3: shown[::-1, ::-1],
        5: shown.transpose(1, 0, 2),
        6: np.rot90(shown),
        8: np.rot90(shown, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(shown).save(tmp_path / "a.png")
    Image.fromarray(np.ascontiguousarray(stored)).save(tmp_path / "b.png", exif=exif)
    found = read([tmp_path / "a.png", tmp_path / "b.png"])
    assert found.sizes.tolist() == [[200, SIDE]] * 2
    assert found.points[0].tobytes() == found.points[1].tobytes()
    assert found.crops[0].tobytes() == found.crops[1].tobytes()


def test_bad_photos_are_refused_alone(tmp_path: Path, photos: list[Path], opened: Opened) -> None:
    photos[0].write_bytes(b"")
    photos[2].write_bytes(photos[2].read_bytes()[:2000])
    Image.fromarray(scene(200, 200)).save(photos[3])
    found = read(tmp_path / "photos")
    assert found.photo.tolist() == [1, 4] and len(found.crops) == 2
    assert found.sizes.tolist() == [[0, 0], [SIDE] * 2, [0, 0], [200] * 2, [SIDE] * 2]
    reasons = {refusal.photo: refusal.reason for refusal in found.refused}
    assert reasons.keys() == {0, 2, 3}
    assert "is empty" in reasons[0] and "is damaged" in reasons[2]
    assert reasons[3] == "no face was found in it"
    assert all(not reason.endswith(".") for reason in reasons.values())
    alone = read([photos[4]])
    assert found.points[1].tobytes() == alone.points[0].tobytes()
    assert found.crops[1].tobytes() == alone.crops[0].tobytes()


def test_a_photo_with_a_doubt_has_no_rows(
    photos: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the faces that were found in it must not go on: it cannot be released whole."""
    from everyface.faces import finding

    decide = finding._decide
    counted = iter(range(100))

    def doubtful(*given: object) -> finding.Found:
        found = decide(*given)  # type: ignore[arg-type]
        refusal = "there may be a face" if next(counted) == 1 else found.refusal
        return finding.Found(found.box, found.points, found.score, found.presence, refusal)

    monkeypatch.setattr(finding, "_decide", doubtful)
    found = read(photos[:3])
    assert found.photo.tolist() == [0, 2] and found.n_subjects == 2
    assert [(r.photo, r.reason) for r in found.refused] == [(1, "there may be a face")]
    alone = read([photos[2]])
    assert found.crops[1].tobytes() == alone.crops[0].tobytes()


def test_photos_nobody_named_have_no_rows(tmp_path: Path, photos: list[Path]) -> None:
    table = tmp_path / "people.csv"
    table.write_text("file,subject\nphotos/0.png,Ann\nphotos/2.png,Ann\n")
    found = read(photos[:3], f"csv:{table}")
    assert found.photo.tolist() == [0, 2] and found.subjects == ("Ann",)
    assert [r.photo for r in found.refused] == [1]


def test_several_faces_in_a_photo(tmp_path: Path, small: list[np.ndarray]) -> None:
    """From left to right, each with its own crop, each a subject of its own."""
    Image.fromarray(collage(small[:8:2], columns=4, side=SIDE, gap=30)).save(tmp_path / "all.png")
    found = read(tmp_path)
    assert found.photo.tolist() == [0] * 4
    assert (np.diff(found.box[:, 0]) > 100).all()
    assert found.n_subjects == 4 and "all.png" in found.subjects
    points = crop_points(found)
    assert np.ptp(points[:, 4, :2], axis=0).max() < 40


def test_nothing_to_use(tmp_path: Path) -> None:
    Image.fromarray(scene(100, 100)).save(tmp_path / "wall.png")
    with pytest.raises(InputError, match=r"none of the 1 photos can be used: wall\.png: no face"):
        read(tmp_path)


def test_shards_give_what_one_go_gives(
    tmp_path: Path, photos: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read(photos)
    monkeypatch.setattr(reading, "SHARD", 2)
    monkeypatch.setattr(reading, "_BATCH_PHOTOS", 1)
    heard: list[int] = []
    same(read(photos, tick=lambda _, done, __: heard.append(done), store=tmp_path / "s"), whole)
    assert heard == sorted(heard) and heard[0] == 0 and heard[-1] == PHOTOS


@pytest.mark.parametrize("photo", [0, 1, 2, 4])
def test_a_killed_run_goes_on_where_it_was(
    tmp_path: Path, photos: list[Path], opened: Opened, monkeypatch: pytest.MonkeyPatch, photo: int
) -> None:
    monkeypatch.setattr(reading, "_BATCH_PHOTOS", 1)
    with pytest.raises(Killed):
        read(photos, tick=killed_after(photo), store=tmp_path / "store")
    opened.clear()
    resumed = read(photos, store=tmp_path / "store")
    kept = photo // 2 * 2  # whole shards of two
    assert sorted(opened) == [path.name for path in photos[kept:]]
    opened.clear()
    same(read(photos, store=tmp_path / "store"), resumed)
    assert opened == []
    same(resumed, read(photos))


def test_changes_are_noticed(tmp_path: Path, photos: list[Path], opened: Opened) -> None:
    store = tmp_path / "store"
    read(photos, store=store)
    opened.clear()

    # The same size and another content: the time tells.
    last = photos[4]
    state = last.stat()
    last.write_bytes(last.read_bytes())
    os.utime(last, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    read(photos, store=store)
    assert opened == ["4.png"]
    opened.clear()

    # A photo more at the front moves all others; nothing may be taken for what it was.
    first = photos[0].with_name("00.png")
    first.write_bytes(photos[3].read_bytes())
    found = read([first, *photos], store=store)
    assert len(opened) == 6
    opened.clear()
    same(found, read([first, *photos]))

    # Fewer photos.
    opened.clear()
    same(read([first, photos[0], photos[1]], store=store), read([first, photos[0], photos[1]]))
    assert opened.count("00.png") == 1  # only by the run without a store


def test_a_photo_that_goes_away_is_noticed(
    tmp_path: Path, photos: list[Path], opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(photos, store=tmp_path / "store")
    monkeypatch.setattr(reading, "find_photos", lambda _: photos)
    photos[4].unlink()
    found = read(photos, store=tmp_path / "store")
    assert [r.photo for r in found.refused] == [4] and found.photo.tolist() == [0, 1, 2, 3]


def test_lost_crops_are_made_again(tmp_path: Path, photos: list[Path], opened: Opened) -> None:
    store = tmp_path / "store"
    whole = read(photos, store=store)
    held = whole.crops[:].copy()
    crops = max(store.iterdir(), key=lambda path: path.stat().st_size)
    os.truncate(crops, crops.stat().st_size // 2)
    opened.clear()
    again = read(photos, store=store)
    assert len(opened) == PHOTOS
    assert again.crops[:].tobytes() == held.tobytes()


def test_crops_without_a_table_are_cut_off(
    tmp_path: Path, photos: list[Path], opened: Opened
) -> None:
    """What a killed run had begun to append belongs to nobody."""
    store = tmp_path / "store"
    whole = read(photos, store=store)
    crops = max(store.iterdir(), key=lambda path: path.stat().st_size)
    size = crops.stat().st_size
    with crops.open("ab") as file:
        file.write(b"x" * 12345)
    opened.clear()
    same(read(photos, store=store), whole)
    assert opened == [] and crops.stat().st_size == size


def test_a_store_that_cannot_be_written(tmp_path: Path, photos: list[Path]) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OutputError, match="cannot be written"):
        read(photos, store=tmp_path / "file")


def test_few_photos_are_in_memory_at_once(
    photos: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches end when they hold enough pixels."""
    sizes: list[int] = []
    examined = reading._examined

    def counting(batch: list[object], first: int) -> object:
        sizes.append(len(batch))
        return examined(batch, first)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "_examined", counting)
    monkeypatch.setattr(reading, "_BATCH_PIXELS", SIDE * SIDE)
    read(photos)
    assert sizes == [2, 2, 1]


def test_no_error_but_a_photos_own_is_swallowed(
    photos: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> np.ndarray:
        raise PhotoError("it is broken", "mend it")

    monkeypatch.setattr(reading, "read_photo", broken)
    with pytest.raises(InputError, match=r"none of the 5 photos can be used: 0\.png: it is broken"):
        read(photos)

    def bug(_: Path) -> np.ndarray:
        raise ZeroDivisionError

    monkeypatch.setattr(reading, "read_photo", bug)
    with pytest.raises(ZeroDivisionError):
        read(photos)
