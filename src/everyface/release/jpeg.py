"""JPEG files taken apart to the last bit.

Only what `everyface.release.encode` writes is allowed: JFIF, one baseline frame in full colour,
the quantisation tables that libjpeg scales (ITU-T T.81, Annex K.1), the Huffman tables of
Annex K.3, one scan. With fixed tables and a scan that is read code by code, nothing is left in
the file that is not a coefficient of the picture.
"""

from __future__ import annotations

import functools
import re
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

from everyface.compiled import compiled
from everyface.release.shape import Shape, UncleanError

JFIF = b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
"""The whole of the one APP0 segment: JFIF 1.1, no density, no thumbnail."""

FRAME = bytes.fromhex("03 01 11 00 02 11 01 03 11 01")
"""Three components, none reduced, the first with table 0 and the others with table 1."""

SCAN = bytes.fromhex("03 01 00 02 11 03 11 00 3f 00")
"""One scan of all three components."""

LUMINANCE = bytes.fromhex(
    "100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933"
    "383740485c4e404457453738506d51575f626768673e4d71797064785c656763"
)
CHROMINANCE = bytes.fromhex(
    "1112121815182f1a1a2f63423842636363636363636363636363636363636363"
    "6363636363636363636363636363636363636363636363636363636363636363"
)
"""Annex K.1, in zigzag order, before libjpeg scales them."""

DC_LUMINANCE = bytes.fromhex("00010501010101010100000000000000 000102030405060708090a0b")
DC_CHROMINANCE = bytes.fromhex("00030101010101010101010000000000 000102030405060708090a0b")
AC_LUMINANCE = bytes.fromhex(
    "0002010303020403050504040000017d"
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f0"
    "2433627282090a161718191a25262728292a3435363738393a43444546474849"
    "4a535455565758595a636465666768696a737475767778797a83848586878889"
    "8a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5"
    "c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"
)
AC_CHROMINANCE = bytes.fromhex(
    "00020102040403040705040400010277"
    "000102031104052131061241510761711322328108144291a1b1c109233352f0"
    "156272d10a162434e125f11718191a262728292a35363738393a434445464748"
    "494a535455565758595a636465666768696a737475767778797a828384858687"
    "88898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3"
    "c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"
)
"""Annex K.3: how many codes there are of each length, and what they mean."""

HUFFMAN = {0x00: DC_LUMINANCE, 0x10: AC_LUMINANCE, 0x01: DC_CHROMINANCE, 0x11: AC_CHROMINANCE}
LARGE = 1 << 16
"""Bytes of a scan from which it is worth while to compile the reader."""

_STOP = re.compile(rb"\xff[^\x00]", re.DOTALL)


def jpeg(data: bytes) -> Shape:
    """Return the facts of a clean JPEG file; all of it is looked at."""
    shape: Shape | None = None
    quantised: set[int] = set()
    huffman: set[int] = set()
    at = 2
    for marker, body, end in _segments(data):
        at = end
        if marker == 0xDB:
            _take(quantised, body[:1], known=len(body) == 65 and _is_scaled(body))
        elif marker == 0xC4:
            _take(huffman, body[:1], known=body[1:] == HUFFMAN.get(body[0] if body else -1))
        elif marker == 0xC0:
            if shape is not None:
                raise UncleanError("damaged", "it has two frames")
            shape = _frame(body)
        elif marker == 0xDA and body != SCAN:
            raise UncleanError("format", "its scan is not that of a plain picture")
    if shape is None:
        raise UncleanError("damaged", "it has no frame before its scan")
    if quantised != {0, 1} or huffman != set(HUFFMAN):
        raise UncleanError("format", "it does not have the tables of a plain picture")
    _read_scan(_scan(data, at), shape)
    return shape


def _segments(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield marker, body and end of each segment up to the scan; refuse any that is not needed."""
    at, marker = 2, 0
    while marker != 0xDA:
        fill, marker, length = struct.unpack_from(">BBH", data, at)
        body = data[at + 4 : at + 2 + length]
        if fill != 0xFF or length < 2 or len(body) != length - 2:
            raise UncleanError("damaged", "its segments are broken")
        needed = marker in (0xE0, 0xDB, 0xC0, 0xC4, 0xDA)
        if not needed or (at == 2) != (marker == 0xE0):
            raise UncleanError("metadata", f"it holds a segment {marker:#04x}")
        if marker == 0xE0 and body != JFIF:
            raise UncleanError("metadata", "its JFIF segment holds more than it must")
        at += 2 + length
        yield marker, body, at


def _take(seen: set[int], name: bytes, *, known: bool) -> None:
    """Note a table; refuse one that is not a known one, or that was there before."""
    if not known or name[0] in seen:
        raise UncleanError("metadata", "it holds a table that a plain picture does not need")
    seen.add(name[0])


def _is_scaled(body: bytes) -> bool:
    base = {0: LUMINANCE, 1: CHROMINANCE}.get(body[0])
    return base is not None and body[1:] in _scaled(base)


@functools.cache
def _scaled(base: bytes) -> frozenset[bytes]:
    """Return what libjpeg makes of a table, for each quality from 1 to 100."""
    factors = [5000 // q if q < 50 else 200 - 2 * q for q in range(1, 101)]
    return frozenset(
        bytes(min(255, max(1, (entry * factor + 50) // 100)) for entry in base)
        for factor in factors
    )


def _frame(body: bytes) -> Shape:
    depth, height, width = struct.unpack_from(">BHH", body)
    if depth != 8 or body[5:] != FRAME:
        raise UncleanError("format", "it is not a plain 8-bit colour picture")
    return Shape(".jpg", width, height)


def _scan(data: bytes, at: int) -> bytes:
    """Return the scan without its stuffing; only the end of the picture may follow it."""
    stop = _STOP.search(data, at)
    if stop is None:
        raise UncleanError("damaged", "it ends too early")
    if stop.group() != b"\xff\xd9":
        raise UncleanError("metadata", f"a segment {stop.group()[1]:#04x} follows its scan")
    if stop.end() != len(data):
        raise UncleanError(
            "trailing", f"{len(data) - stop.end()} bytes follow the end of the picture"
        )
    return data[at : stop.start()].replace(b"\xff\x00", b"\xff")


def _read_scan(scan: bytes, shape: Shape) -> None:
    """Read every code of the scan: it must end with the last block, padded with ones."""
    blocks = -(-shape.width // 8) * -(-shape.height // 8)
    fast = len(scan) > LARGE or "numba" in sys.modules
    reader = _compiled() if fast else read_codes
    end = int(reader(*_input(scan, compiled=fast), blocks, 8 * len(scan)))
    if end < 0:
        raise UncleanError("damaged", "its scan is not made of the codes of a picture")
    left = 8 * len(scan) - end
    if left > 7:
        raise UncleanError("trailing", f"{left // 8} bytes follow the last block of its scan")
    if left and scan[-1] & ((1 << left) - 1) != (1 << left) - 1:
        raise UncleanError("trailing", "the last bits of its scan say something")


def _input(scan: bytes, *, compiled: bool) -> tuple[Any, Any]:
    """Return the bytes, with room to look ahead, and the lookup tables."""
    padded = scan + b"\xff" * 4
    if not compiled:
        return padded, _tables()
    import numpy as np

    return np.frombuffer(padded, np.uint8), _packed()


@functools.cache
def _tables() -> list[tuple[int, ...]]:
    return [_lookup(table) for table in HUFFMAN.values()]


@functools.cache
def _packed() -> Any:
    import numpy as np

    return np.array(_tables(), np.int32)


def _lookup(table: bytes) -> tuple[int, ...]:
    """Return, for each 16 bits that may come next, 256 times a code's length plus its meaning."""
    found: list[int] = []
    meanings = iter(table[16:])
    for length, count in enumerate(table[:16], start=1):
        for _ in range(count):
            found += [256 * length + next(meanings)] * (1 << (16 - length))
    return tuple(found + [0] * ((1 << 16) - len(found)))


@functools.cache
def _compiled() -> Callable[..., int]:
    """Compile `read_codes`, which in Python takes a second for a megabyte."""
    return compiled(read_codes)


def read_codes(data: Any, tables: Any, blocks: int, bits: int) -> int:
    """Return the bit after the last block of a scan, or −1 where it is not one.

    A code that no encoder needs (a run of zeros that nothing follows) is none either, so
    that there is one way only to write a picture's coefficients.
    """
    at = 0
    for unit in range(3 * blocks):
        pair = 0 if unit % 3 == 0 else 2
        k = 0
        zeros = False
        while k < 64:
            first = at >> 3
            ahead = (int(data[first]) << 16) | (int(data[first + 1]) << 8) | int(data[first + 2])
            code = int(tables[pair + (k > 0)][(ahead >> (8 - (at & 7))) & 0xFFFF])
            meaning = code & 255
            size = meaning & 15
            at += (code >> 8) + size
            if code == 0 or at > bits:
                return -1
            if k > 0 and size == 0:
                if meaning == 0:
                    if zeros:
                        return -1
                    break
                k += 16
                zeros = True
            else:
                k += (meaning >> 4) + 1
                zeros = False
            if k > 64 or (zeros and k == 64):
                return -1
    return at
