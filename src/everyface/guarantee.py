"""A guarantee is a value, not a mood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum


class Level(IntEnum):
    """How much of a promise is left, weakest first, so that ``min`` is the honest sum."""

    MEASURED = 0
    WRONG_MAP = 1
    K_ANONYMOUS = 2

    @property
    def label(self) -> str:
        """The name that certificates use."""
        return {0: "measured", 1: "wrong-map", 2: "k-anonymous"}[int(self)]

    @classmethod
    def from_label(cls, label: str) -> Level:
        """Read a name back from a certificate."""
        return {level.label: level for level in cls}[label]


@dataclass(frozen=True)
class Guarantee:
    """A level, and every reason for which it is not a higher one.

    ``K_ANONYMOUS``: every surrogate is shared, byte for byte in aligned form, by at least k people.
    ``WRONG_MAP``: the nearest original in the group space is somebody else, but there are not
    k copies. ``MEASURED``: no proof; the attacks' figures are all there is.
    """

    level: Level
    lowered_by: tuple[str, ...] = ()

    def lowered(self, to: Level, why: str) -> Guarantee:
        """Return this guarantee brought down to at most `to`, with the reason kept."""
        if to >= self.level:
            return self
        return replace(self, level=to, lowered_by=(*self.lowered_by, why))
