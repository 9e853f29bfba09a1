"""Why photos were left out, as classes: a sentence could name the photo or the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

Reason = Literal[
    "at risk", "no face", "doubtful", "unreadable", "unknown person", "too few people", "other"
]

CLASSES: dict[Reason, tuple[str, ...]] = {
    "unknown person": ("does not say who", "does not match the pattern"),
    "no face": ("no face", "without a face", "not one face"),
    "doubtful": (
        *("made out", "may be a face", "doubt", "missed", "unsure", "uncertain", "too small"),
        *("cut off", "hidden"),
    ),
    "unreadable": (
        *("cannot be read", "decode", "truncated", "permission", "not an image", "not a photo"),
        *("damaged", "bomb", "is empty", "pixels", "pictures"),
    ),
    "too few people": ("too few people", "fewer"),
    "at risk": ("attack", "recognis", "risk", "gate", "match"),
}
"""Class → words that give it away in the sentence; the first class that fits is taken."""

OTHER: Reason = "other"


def reason_class(sentence: str) -> Reason:
    """Return the class of a reason."""
    low = sentence.lower()
    for name, words in CLASSES.items():
        if any(word in low for word in words):
            return name
    return OTHER


def reason_counts(sentences: Iterable[str]) -> dict[Reason, int]:
    """Count reasons by class."""
    return dict(Counter(reason_class(sentence) for sentence in sentences))
