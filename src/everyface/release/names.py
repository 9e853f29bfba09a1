"""New names, drawn from the secret seed: they say nothing about the originals or their order."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from everyface.release.draft import Draft
from everyface.release.encode import suffix_for


@dataclass(frozen=True)
class Names:
    """What everything is called in the release.

    Without the seed the names are those of a random function (HMAC-SHA-256), so listing the
    files by name is a shuffle; with it, a run that was killed finds the same names again.
    """

    seed: int

    def draw(self, what: str, digits: int) -> str:
        """Return hexadecimal digits that stand for `what`."""
        secret = hashlib.sha256(f"everyface release {self.seed}".encode()).digest()
        return hmac.new(secret, what.encode(), hashlib.sha256).hexdigest()[:digits]

    def release(self, draft: Draft) -> str:
        """Return the identifier of the release; where the originals lie does not matter."""
        items = [(item.source.name, item.people, item.groups) for item in draft.items]
        method = (draft.form, draft.k, dict(draft.recipe), draft.background)
        return self.draw(f"release {method!r} {items!r}", 32)

    def files(self, draft: Draft) -> list[str]:
        """Return the file name of every item; no two share a stem."""
        stems: dict[str, int] = {}
        for index in range(len(draft.items)):
            again = 0
            while (stem := self.draw(f"file {index} {again}", 16)) in stems:
                again += 1
            stems[stem] = index
        return [
            f"{stem}{suffix_for(draft.items[index].source, draft.form)}"
            for stem, index in stems.items()
        ]

    def first(self) -> str:
        """Return the stem of the first item's file: it tells whose seed made a release."""
        return self.draw("file 0 0", 16)

    def person(self, index: int) -> str:
        """Return the pseudonym of a person."""
        return self.draw(f"person {index}", 12)

    def numbers(self, groups: Iterable[int]) -> dict[int, int]:
        """Give groups numbers from 1 that say nothing about how they were found."""
        order = sorted(set(groups), key=lambda group: self.draw(f"group {group}", 32))
        return {group: number for number, group in enumerate(order, start=1)}
