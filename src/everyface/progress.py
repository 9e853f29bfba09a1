"""How long work says where it stands, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable

Tick = Callable[[str, int, int], None]
"""``tick(stage, done, total)``: called as work proceeds; the command line draws a bar from it."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """Listen to nothing."""
