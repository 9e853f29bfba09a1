"""How sure a counted share is."""

from __future__ import annotations

CONFIDENCE = 0.95


def clopper_pearson(found: int, people: int) -> tuple[float, float]:
    """Return the exact two-sided 95 % interval of `found` out of `people`.

    Clopper and Pearson (1934): the interval never covers less than it says, which is the side
    to err on when the share is a risk.
    """
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if found == 0 else float(betaincinv(found, people - found + 1, tail))
    high = 1.0 if found == people else float(betaincinv(found + 1, people - found, 1 - tail))
    return round(low, 6), round(high, 6)
