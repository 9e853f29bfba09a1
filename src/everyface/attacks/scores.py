"""Figures with their uncertainty: a share is a count, a total and an exact interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.stats import beta


@dataclass(frozen=True)
class Share:
    """So many of so many.

    Examples
    --------
    >>> share = Share(2, 10)
    >>> share.value, [round(end, 3) for end in share.interval()]
    (0.2, [0.025, 0.556])
    """

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share itself; an empty total has none to show, 0."""
        return self.hits / self.total if self.total else 0.0

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the exact interval of Clopper and Pearson (1934): it never covers too little."""
        tail = (1 - level) / 2
        miss = self.total - self.hits
        low = float(beta.ppf(tail, self.hits, miss + 1)) if self.hits else 0.0
        high = float(beta.ppf(1 - tail, self.hits + 1, miss)) if miss else 1.0
        return low, high

    def as_dict(self) -> dict[str, Any]:
        """Return hits, total, share and interval, as certificates hold them."""
        low, high = self.interval()
        return {
            "hits": self.hits,
            "total": self.total,
            "share": round(self.value, 6),
            "interval_95": [round(low, 6), round(high, 6)],
        }
