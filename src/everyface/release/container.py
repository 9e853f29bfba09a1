"""PNG and JPEG taken apart byte by byte: an image file may hold the picture and nothing else."""

from __future__ import annotations

import struct
import zlib

from everyface.release.jpeg import jpeg
from everyface.release.shape import Shape, UncleanError

PNG = b"\x89PNG\r\n\x1a\n"

LEAST_CHUNK = 8192
"""Bytes of every chunk of pixels but the last: a row of tiny chunks would be a message."""


def shape_of(data: bytes) -> Shape:
    """Return the header's facts of a clean file, or raise `UncleanError`."""
    try:
        if data.startswith(PNG):
            return _png(data)
        if data.startswith(b"\xff\xd8"):
            return jpeg(data)
    except (struct.error, IndexError) as error:
        raise UncleanError("damaged", "it ends too early") from error
    raise UncleanError("format", "it is neither PNG nor JPEG")


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
    if any(len(body) < LEAST_CHUNK for body in pixels[:-1]) or b"" in pixels:
        raise UncleanError("padded", "its pixels are cut into needlessly small chunks")
    shape = Shape(".png", width, height)
    _inflate(b"".join(pixels), height * (1 + 3 * width))
    return shape


def _inflate(stream: bytes, expected: int) -> None:
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(stream, expected + 1)
    except zlib.error as error:
        raise UncleanError("damaged", "its pixels cannot be decompressed") from error
    if len(raw) < expected:
        raise UncleanError("damaged", "rows of pixels are missing")
    if len(raw) > expected or not inflater.eof or inflater.unused_data:
        raise UncleanError("trailing", "more data follow its last row of pixels")
    # One picture can be compressed in many ways, some of which carry as much besides as one likes
    # (empty blocks). The fastest way sets the limit, which every honest one keeps.
    if len(stream) > 1024 + 1.1 * len(zlib.compress(raw, 1)):
        raise UncleanError("padded", "its pixels take up far more bytes than they need")
