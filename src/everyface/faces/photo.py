"""Reading photos: every common format, upright, eight bits of sRGB, or one clear refusal."""

from __future__ import annotations

import functools
import io
import os
import re
import struct
import warnings
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageCms, TiffImagePlugin, UnidentifiedImageError

from everyface.arrays import U8, AnyArray
from everyface.errors import EveryfaceWarning, InputError, PhotoError

PIXEL_LIMIT = 178_956_970
"""More pixels than this are refused unread, as a decompression bomb (Pillow's own limit)."""

LEAST_SIDE = 16
"""A photo with a shorter side holds no face that anybody could find."""

_JPEG = (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo")
_OTHER = (".png", ".webp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".bmp", ".gif")
SUFFIXES = frozenset((*_JPEG, *_OTHER))
"""What a file must be called to be taken from a folder; one named by itself may have any name."""

_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "HEIF", "AVIF", "BMP", "GIF")
_ONE_PICTURE = ("MPO", "HEIF")
_BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, TypeError, KeyError, IndexError, MemoryError),
    *(OverflowError, ZeroDivisionError, AttributeError, RuntimeError, struct.error, zlib.error),
)
_SAVE_AGAIN = "open it in a picture viewer and save it again, or leave it out"


def find_photos(paths: Iterable[str | Path] | str | Path) -> list[Path]:
    """Return the photos under `paths`: files as given, folders with all folders inside them.

    Inside a folder the order is the natural one (``2.jpg`` before ``10.jpg``), hidden files are
    ignored, and files that are not called like a photo are left out with a warning. Every
    photo comes once, however often it was named.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: dict[Path, Path] = {}
    others: list[Path] = []
    for path in map(Path, given):
        for file in _files(path):
            if file == path or file.suffix.lower() in SUFFIXES:
                found.setdefault(file.parent.resolve() / file.name, file)
            else:
                others.append(file)
    if others:
        names = ", ".join(file.name for file in others[:3]) + (", …" if len(others) > 3 else "")
        one = len(others) == 1
        warnings.warn(
            (
                "1 file is not called like a photo and was"
                if one
                else f"{len(others)} files are not called like photos and were"
            )
            + f" left out: {names}",
            EveryfaceWarning,
            stacklevel=2,
        )
    if not found:
        places = ", ".join(str(path) for path in given) or "nothing"
        raise InputError(f"there is no photo in {places}", "name photos or folders that hold some")
    return list(found.values())


def read_photo(path: str | Path) -> U8:
    """Return a photo as it is meant to be seen: (h, w, 3) sRGB, its EXIF orientation applied.

    Sixteen-bit, integer and float pictures are scaled, never clipped; transparent parts become
    white; colours are converted to sRGB where the file names their profile. Of
    a file with several pictures only a camera's (MPO, HEIC) is taken, its main one: pages and
    films are refused, because the faces on the others would go unseen.

    Raises
    ------
    PhotoError
        The file is missing, not a photo, broken, too large or too small.
    """
    path = Path(path)
    data = _bytes(path)
    try:
        pixels = _decoded(path, data)
    except PhotoError:
        raise
    except UnidentifiedImageError as error:
        raise PhotoError(
            f"{path} is not a photo in a known format",
            "give JPEG, PNG, WebP, TIFF, HEIC, AVIF, BMP or GIF",
        ) from error
    except Image.DecompressionBombError as error:
        raise _too_large(path) from error
    except _BROKEN as error:
        raise PhotoError(f"{path} is damaged ({_short(error)})", _SAVE_AGAIN) from error
    if min(pixels.shape[:2]) < LEAST_SIDE:
        raise PhotoError(
            f"{path} has {pixels.shape[1]} x {pixels.shape[0]} pixels, too few to hold a face",
            "leave it out",
        )
    return pixels


def _files(path: Path) -> Iterator[Path]:
    """Yield a file itself, or what a folder holds."""
    try:
        if not path.is_dir():
            path.lstat()
            yield path
            return
    except OSError as error:
        raise InputError(
            f"{path} cannot be found ({error.strerror or error})", "check how it is spelled"
        ) from error

    def refuse(error: OSError) -> None:
        raise InputError(
            f"the folder {error.filename} cannot be read ({error.strerror or error})",
            "change its permissions or leave it out",
        ) from error

    for folder, inside, names in os.walk(path, onerror=refuse):
        inside[:] = sorted((name for name in inside if not name.startswith(".")), key=natural)
        for name in sorted((name for name in names if not name.startswith(".")), key=natural):
            yield Path(folder) / name


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Sort key under which numbers count as numbers: ``2`` before ``10``."""
    parts = re.split(r"(\d+)", text)
    return (
        *((int(part), "") if part.isdigit() else (-1, part.lower()) for part in parts),
        (0, text),
    )


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except IsADirectoryError as error:
        raise PhotoError(f"{path} is a folder, not a photo") from error
    except OSError as error:
        raise PhotoError(
            f"{path} cannot be read ({error.strerror or error})", "check its name and permissions"
        ) from error
    if not data:
        raise PhotoError(f"{path} is empty (0 bytes)", "copy it again or leave it out")
    return data


@functools.cache
def _prepare() -> None:
    """Teach Pillow HEIC, and silence its bomb warning: larger pictures are refused here anyway."""
    import pillow_heif

    Image.init()
    pillow_heif.register_heif_opener()
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)


def _decoded(path: Path, data: bytes) -> U8:
    _prepare()
    try:
        image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except UnidentifiedImageError:
        pixels = _tiff_by_opencv(path, data)
        if pixels is None:
            raise
        return pixels
    with image:
        if image.width * image.height > PIXEL_LIMIT:
            raise _too_large(path)
        frames = int(getattr(image, "n_frames", 1))
        if frames > 1 and image.format not in _ONE_PICTURE:
            raise _several(path, str(frames))
        image.load()
        return _upright(_colours(image), _orientation(image))


def _too_large(path: Path) -> PhotoError:
    return PhotoError(
        f"{path} has more than {PIXEL_LIMIT // 1_000_000} million pixels", "make it smaller"
    )


def _several(path: Path, how_many: str) -> PhotoError:
    return PhotoError(
        f"{path} holds {how_many} pictures, and faces on all but the first would go unseen",
        "save each of them as a photo of its own",
    )


def _orientation(image: Image.Image) -> int:
    """Return the EXIF orientation, 1 where it is missing or cannot be read."""
    try:
        return int(image.getexif().get(0x0112, 1))
    except _BROKEN:
        return 1


def _upright(pixels: U8, orientation: int) -> U8:
    """Undo an EXIF orientation (EXIF 2.3, tag 274)."""
    turned = {
        2: lambda p: p[:, ::-1],
        3: lambda p: p[::-1, ::-1],
        4: lambda p: p[::-1],
        5: lambda p: p.transpose(1, 0, 2),
        6: lambda p: p.transpose(1, 0, 2)[:, ::-1],
        7: lambda p: p.transpose(1, 0, 2)[::-1, ::-1],
        8: lambda p: p.transpose(1, 0, 2)[::-1],
    }.get(orientation, lambda p: p)(pixels)
    return np.ascontiguousarray(turned)


def _colours(image: Image.Image) -> U8:
    """Return eight bits of sRGB, transparent parts on white."""
    if image.mode in ("F", "I") or image.mode.startswith("I;16"):
        return _scaled(np.asarray(image))
    profile = image.info.get("icc_profile")
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if _transparent(image) else "RGB")
    alpha = image.convert("RGBA").getchannel("A") if _transparent(image) else None
    if alpha is not None or image.mode not in ("L", "RGB", "CMYK", "LAB"):
        image = image.convert("L" if image.mode in ("1", "LA", "La") else "RGB")
    image = _srgb(image, profile)
    if alpha is not None:
        white = Image.new("RGB", image.size, "white")
        white.paste(image, mask=alpha)
        image = white
    return np.asarray(image)


def _transparent(image: Image.Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info


def _srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert to sRGB by the file's own profile; a profile that is broken counts as none."""
    if profile and b"sRGB" not in profile:
        try:
            converted = ImageCms.profileToProfile(
                image,
                ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                outputMode="RGB",
            )
        except (ImageCms.PyCMSError, *_BROKEN):
            converted = None
        if converted is not None:
            return converted
    return image.convert("RGB")


def _scaled(values: AnyArray) -> U8:
    """Bring values of any depth to eight bits; their maximum tells the range they are in."""
    values = np.nan_to_num(values.astype(np.float64), posinf=0, neginf=0).clip(min=0)
    largest = float(values.max(initial=0))
    top = next((top for top in (1.0, 255.0, 65535.0) if largest <= top), largest)
    eight = (values * (255 / top) + 0.5).astype(np.uint8)
    return np.dstack([eight] * 3) if eight.ndim == 2 else eight


def _tiff_by_opencv(path: Path, data: bytes) -> U8 | None:
    """Read a TIFF that Pillow cannot, such as one with float colours; None if nobody can."""
    if data[:4] not in (b"II*\0", b"MM\0*"):
        return None
    tags = TiffImagePlugin.ImageFileDirectory_v2(data[:8])
    file = io.BytesIO(data)
    file.seek(tags.next)
    tags.load(file)
    if int(tags[256]) * int(tags[257]) > PIXEL_LIMIT:
        raise _too_large(path)
    if tags.next:
        raise _several(path, "several")
    try:
        values = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        return None
    if values is None:
        return None
    if values.ndim == 3:
        values = values[..., 2::-1] if values.shape[2] >= 3 else values[..., 0]
    return _scaled(values)


def _short(error: BaseException) -> str:
    """First line of what a library says."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:80]
