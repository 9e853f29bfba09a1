"""What a clean image file is, in three facts, and what an unclean one is refused with."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PIXELS = 178_956_970
"""Twice Pillow's warning level: beyond it Pillow refuses too (a decompression bomb)."""


class UncleanError(Exception):
    """A file holds more, less or something else than a picture.

    Parameters
    ----------
    code
        "format", "metadata", "trailing", "padded" or "damaged".
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

    def __post_init__(self) -> None:
        if not 0 < self.width * self.height <= MAX_PIXELS:
            raise UncleanError("damaged", f"it claims {self.width} x {self.height} pixels")
