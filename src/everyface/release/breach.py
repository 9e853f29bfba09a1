"""What a check found wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from everyface.errors import BreachError

SHOWN = 20


@dataclass(frozen=True)
class Breach:
    """One thing that a release does not hold.

    Attributes
    ----------
    code
        A short name of the kind of breach, listed in docs/proof.md.
    what
        What is wrong and where, one sentence without a full stop.
    """

    code: str
    what: str


class ReleaseBreachError(BreachError):
    """Everything that is wrong with a release, in one error.

    Attributes
    ----------
    breaches
        All of them; the message shows the first twenty.
    """

    def __init__(self, where: str, breaches: Sequence[Breach]) -> None:
        self.breaches = tuple(breaches)
        shown = "; ".join(breach.what for breach in self.breaches[:SHOWN])
        more = len(self.breaches) - SHOWN
        super().__init__(
            f"{where} does not hold what it promises: {shown}"
            + (f"; and {more} more" if more > 0 else ""),
            "do not use this release; ask the publisher for a new one",
        )
