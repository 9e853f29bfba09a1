"""PNG and JPEG taken apart byte by byte: an image file may hold the picture and nothing else."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

MAX_PIXELS = 178_956_970
"""Twice Pillow's warning level: beyond it Pillow refuses too (a decompression bomb)."""

PNG = b"\x89PNG\r\n\x1a\n"
JFIF = b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
"""The whole of the one APP0 segment: JFIF 1.1, no density, no thumbnail."""

_SEGMENTS = {0xE0, 0xDB, 0xC0, 0xC4, 0xDA}
"""JFIF, quantisation, baseline frame, Huffman tables, scan."""

_SCAN_END = re.compile(rb"\xff[^\x00]", re.DOTALL)


class UncleanError(Exception):
    """A file holds more, less or something else than a picture.

    Parameters
    ----------
    code
        "format", "metadata", "trailing" or "damaged".
    """

    def __init__(self, code: str, what: str) -> None:
        self.code = code
        super().__init__(what)


@dataclass(frozen=True)
class Shape:
    """What the header says."""

    suffix: str
    width: int
    height: int


def shape_of(data: bytes) -> Shape:
    """Return the header's facts of a clean file, or raise `UncleanError`."""
    try:
        if data.startswith(PNG):
            return _png(data)
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
    except (struct.error, IndexError) as error:
        raise UncleanError("damaged", "it ends too early") from error
    raise UncleanError("format", "it is neither PNG nor JPEG")


def _checked(suffix: str, width: int, height: int) -> Shape:
    if not 0 < width * height <= MAX_PIXELS:
        raise UncleanError("damaged", f"it claims {width} x {height} pixels")
    return Shape(suffix, width, height)


def _png(data: bytes) -> Shape:
    """Allow IHDR (8-bit RGB, not interlaced), IDAT and IEND, and one exact zlib stream."""
    at, header = len(PNG), b""
    kinds: list[bytes] = []
    pixels: list[bytes] = []
    while not kinds or kinds[-1] != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack_from(">I", data, at + 8 + length)
        if kind not in (b"IHDR", b"IDAT", b"IEND"):
            raise UncleanError("metadata", f"it holds a {kind.decode('latin-1')!r} chunk")
        if crc != zlib.crc32(kind + body):
            raise UncleanError("damaged", f"its {kind.decode()} chunk has a wrong checksum")
        if (kind == b"IHDR") != (not kinds) or (kind == b"IEND" and length):
            raise UncleanError("damaged", "its chunks are out of order")
        header = body if kind == b"IHDR" else header
        if kind == b"IDAT":
            pixels.append(body)
        kinds.append(kind)
        at += 12 + length
    if at != len(data):
        raise UncleanError("trailing", f"{len(data) - at} bytes follow the end of the picture")
    width, height, *rest = struct.unpack(">IIBBBBB", header)
    if rest != [8, 2, 0, 0, 0]:
        raise UncleanError("format", "it is not a plain 8-bit RGB picture")
    shape = _checked(".png", width, height)
    _inflate(b"".join(pixels), height * (1 + 3 * width))
    return shape


def _inflate(stream: bytes, expected: int) -> None:
    inflater = zlib.decompressobj()
    try:
        found = len(inflater.decompress(stream, expected + 1))
    except zlib.error as error:
        raise UncleanError("damaged", "its pixels cannot be decompressed") from error
    if found < expected:
        raise UncleanError("damaged", "rows of pixels are missing")
    if found > expected or not inflater.eof or inflater.unused_data:
        raise UncleanError("trailing", "more data follow its last row of pixels")


def _jpeg(data: bytes) -> Shape:
    """Allow what a baseline JFIF picture needs, one frame, one scan, and the end marker last."""
    shape, at = None, 2
    for marker, body, end in _segments(data):
        if marker == 0xC0:
            if shape is not None:
                raise UncleanError("damaged", "it has two frames")
            height, width = struct.unpack_from(">HH", body, 1)
            shape = _checked(".jpg", width, height)
        at = end
    if shape is None:
        raise UncleanError("damaged", "it has no frame before its scan")
    stop = _SCAN_END.search(data, at)
    if stop is None:
        raise UncleanError("damaged", "it ends too early")
    if stop.group() != b"\xff\xd9":
        raise UncleanError("metadata", f"a segment {stop.group()[1]:#04x} follows its scan")
    if stop.end() != len(data):
        raise UncleanError(
            "trailing", f"{len(data) - stop.end()} bytes follow the end of the picture"
        )
    return shape


def _segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield marker, body and end of each segment up to the scan; refuse any that is not needed."""
    at, marker = 2, 0
    while marker != 0xDA:
        fill, marker, length = struct.unpack_from(">BBH", data, at)
        body = data[at + 4 : at + 2 + length]
        if fill != 0xFF or length < 2 or len(body) != length - 2:
            raise UncleanError("damaged", "its segments are broken")
        if marker not in _SEGMENTS or (at == 2) != (marker == 0xE0):
            raise UncleanError("metadata", f"it holds a segment {marker:#04x}")
        if marker == 0xE0 and body != JFIF:
            raise UncleanError("metadata", "its JFIF segment holds more than it must")
        at += 2 + length
        yield marker, body, at
