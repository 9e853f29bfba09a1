"""Every common format is read upright in eight bits, and everything else is refused clearly."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageCms

from everyface.errors import EveryfaceWarning, InputError, PhotoError
from everyface.faces.photo import PIXEL_LIMIT, find_photos, read_photo


@pytest.fixture
def picture() -> np.ndarray:
    """Smooth colours without a symmetry, so that a turn or a swapped channel shows."""
    y, x = np.mgrid[:48, :64].astype(np.float32)
    return np.dstack([x * 3, y * 4, 40 + x + y]).clip(0, 255).astype(np.uint8)


def close(a: np.ndarray, b: np.ndarray, most: float = 2.0) -> None:
    assert a.dtype == np.uint8 and a.shape == b.shape
    assert np.abs(a.astype(float) - b).mean() <= most


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("jpg", {"quality": 97, "subsampling": 0}),
        ("png", {}),
        ("webp", {"lossless": True}),
        ("tif", {}),
        ("bmp", {}),
        ("avif", {"quality": 97}),
        ("heic", {"quality": 97}),
    ],
)
def test_formats(tmp_path: Path, picture: np.ndarray, suffix: str, options: dict) -> None:
    import pillow_heif

    pillow_heif.register_heif_opener()
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(picture).save(path, **options)
    close(read_photo(path), picture, 3)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(tmp_path: Path, picture: np.ndarray, orientation: int, suffix: str) -> None:
    stored = {
        1: picture,
        2: picture[:, ::-1],
        3: picture[::-1, ::-1],
        4: picture[::-1],
        5: picture.transpose(1, 0, 2),
        6: np.rot90(picture),
        7: picture[::-1, ::-1].transpose(1, 0, 2),
        8: np.rot90(picture, -1),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(np.ascontiguousarray(stored)).save(path, exif=exif, quality=97)
    close(read_photo(path), picture, 6)


def test_grey_palette_and_bits(tmp_path: Path, picture: np.ndarray) -> None:
    grey = picture[..., 0]
    Image.fromarray(grey).save(tmp_path / "grey.png")
    close(read_photo(tmp_path / "grey.png"), np.dstack([grey] * 3), 0)
    Image.fromarray(picture).quantize(256).save(tmp_path / "palette.png")
    close(read_photo(tmp_path / "palette.png"), picture, 8)
    Image.fromarray(grey > 90).save(tmp_path / "bits.png")
    assert set(np.unique(read_photo(tmp_path / "bits.png"))) == {0, 255}


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("colour", [False, True])
def test_sixteen_bits_are_scaled(
    tmp_path: Path, picture: np.ndarray, suffix: str, colour: bool
) -> None:
    deep = picture.astype(np.uint16) * 257
    path = tmp_path / f"a.{suffix}"
    assert cv2.imwrite(str(path), deep[..., ::-1] if colour else deep[..., 0])
    close(read_photo(path), picture if colour else np.dstack([picture[..., 0]] * 3), 1)


@pytest.mark.parametrize("colour", [False, True])
def test_float_tiff(tmp_path: Path, picture: np.ndarray, colour: bool) -> None:
    values = picture.astype(np.float32) / 255
    path = tmp_path / "a.tif"
    assert cv2.imwrite(str(path), values[..., ::-1] if colour else values[..., 0])
    expected = picture if colour else np.dstack([picture[..., 0]] * 3)
    close(read_photo(path), expected, 1)


def test_alpha_on_white(tmp_path: Path, picture: np.ndarray) -> None:
    alpha = np.zeros(picture.shape[:2], np.uint8)
    alpha[:, 32:] = 255
    Image.fromarray(np.dstack([picture, alpha])).save(tmp_path / "a.png")
    read = read_photo(tmp_path / "a.png")
    assert (read[:, :32] == 255).all()
    close(read[:, 32:], picture[:, 32:], 0)
    Image.fromarray(np.dstack([picture[..., 0], alpha])).save(tmp_path / "la.png")
    assert (read_photo(tmp_path / "la.png")[:, :32] == 255).all()


def test_cmyk_with_and_without_adobe(tmp_path: Path, picture: np.ndarray) -> None:
    cmyk = Image.fromarray(picture).convert("CMYK")
    cmyk.save(tmp_path / "adobe.jpg", quality=97)
    cmyk.save(tmp_path / "plain.tif")
    close(read_photo(tmp_path / "adobe.jpg"), picture, 4)
    close(read_photo(tmp_path / "plain.tif"), picture, 4)


def test_profile_is_applied(tmp_path: Path, picture: np.ndarray) -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    wrong = b"not a profile at all"
    Image.fromarray(picture).save(tmp_path / "broken.png", icc_profile=wrong)
    close(read_photo(tmp_path / "broken.png"), picture, 0)
    image = ImageCms.profileToProfile(
        Image.fromarray(picture),
        ImageCms.createProfile("sRGB"),
        ImageCms.ImageCmsProfile(io.BytesIO(lab)),
        outputMode="LAB",
    )
    image.save(tmp_path / "lab.tif", icc_profile=lab)
    close(read_photo(tmp_path / "lab.tif"), picture, 3)


def bomb(side: int) -> bytes:
    """A tiny PNG that says it is huge."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def test_bomb_is_refused_unread(tmp_path: Path) -> None:
    for side in (int(PIXEL_LIMIT**0.5) + 1, 60_000):
        (tmp_path / "bomb.png").write_bytes(bomb(side))
        with pytest.raises(PhotoError, match="million pixels"):
            read_photo(tmp_path / "bomb.png")


def test_tiff_bomb_in_the_way_round_pillow(tmp_path: Path, picture: np.ndarray) -> None:
    path = tmp_path / "a.tif"
    cv2.imwrite(str(path), picture.astype(np.float32))
    data = bytearray(path.read_bytes())
    (ifd,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, ifd)
    for at in range(ifd + 2, ifd + 2 + 12 * entries, 12):
        if struct.unpack_from("<H", data, at)[0] in (256, 257):
            struct.pack_into("<HI", data, at + 2, 4, 1)
            struct.pack_into("<I", data, at + 8, 60_000)
    path.write_bytes(data)
    with pytest.raises(PhotoError, match="million pixels"):
        read_photo(path)


def test_broken_photos(tmp_path: Path, picture: np.ndarray) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200, 3), np.uint8))
    image.save(tmp_path / "whole.jpg")
    data = (tmp_path / "whole.jpg").read_bytes()
    cases = {
        "text.jpg": (b"I am not a photo at all", "known format"),
        "zero.jpg": (b"", "empty"),
        "cut.jpg": (data[: len(data) // 2], "damaged"),
        "head.jpg": (data[:200], "damaged|known format"),
        "tiff.tif": (b"II*\0\xff\xff\xff\xff", "damaged|known format"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PhotoError, match=message):
            read_photo(tmp_path / name)
    Image.fromarray(picture[:1, :1]).save(tmp_path / "one.png")
    with pytest.raises(PhotoError, match="too few"):
        read_photo(tmp_path / "one.png")
    with pytest.raises(PhotoError, match="folder"):
        read_photo(tmp_path)
    with pytest.raises(PhotoError, match="cannot be read"):
        read_photo(tmp_path / "missing.jpg")
    (tmp_path / "loop.jpg").symlink_to(tmp_path / "loop.jpg")
    with pytest.raises(PhotoError, match="cannot be read"):
        read_photo(tmp_path / "loop.jpg")


@pytest.mark.parametrize("seed", range(30))
def test_damage_never_escapes(tmp_path: Path, picture: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    suffix = ["jpg", "png", "tif", "webp", "gif", "bmp"][seed % 6]
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(picture).save(path)
    data = bytearray(path.read_bytes())
    for at in rng.integers(0, min(len(data), 200), 6):
        data[at] = rng.integers(256)
    path.write_bytes(data)
    try:
        assert read_photo(path).dtype == np.uint8
    except PhotoError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("suffix", ["gif", "webp", "png", "tif"])
def test_films_and_pages_are_refused(tmp_path: Path, picture: np.ndarray, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    frames = [Image.fromarray(picture), Image.fromarray(picture[::-1].copy())]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    with pytest.raises(PhotoError, match="pictures"):
        read_photo(path)


def test_find_photos(tmp_path: Path, picture: np.ndarray) -> None:
    for name in ("b/10.jpg", "b/2.JPG", "a/x.png", "b/.hidden.jpg", ".git/y.jpg", "b/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    (tmp_path / "b" / "up").symlink_to(tmp_path)
    with pytest.warns(EveryfaceWarning, match=r"notes\.txt"):
        found = find_photos([tmp_path, tmp_path / "a" / "x.png"])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a/x.png", "b/2.JPG", "b/10.jpg"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_photos(tmp_path / "b" / "notes.txt") == [tmp_path / "b" / "notes.txt"]


def test_nothing_to_find(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no photo"):
        find_photos(tmp_path)
    with pytest.raises(InputError, match="cannot be found"):
        find_photos(tmp_path / "missing")
