"""Why photos were left out, as classes: a sentence could name the photo or the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

CLASSES: dict[str, tuple[str, ...]] = {
    "at risk": ("attack", "recognis", "risk", "gate", "match"),
    "no face": ("no face", "without a face", "not one face"),
    "doubtful": ("doubt", "missed", "unsure", "uncertain", "too small", "cut off", "hidden"),
    "unreadable": ("read", "decode", "truncated", "permission", "not an image", "damaged", "bomb"),
    "too few people": ("too few", "fewer"),
}
"""Class → words that give it away in the sentence; the first class that fits is taken."""

OTHER = "other"


def reason_class(sentence: str) -> str:
    """Return the class of a reason."""
    low = sentence.lower()
    for name, words in CLASSES.items():
        if any(word in low for word in words):
            return name
    return OTHER


def reason_counts(sentences: Iterable[str]) -> dict[str, int]:
    """Count reasons by class."""
    return dict(Counter(reason_class(sentence) for sentence in sentences))
