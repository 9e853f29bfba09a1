"""Parts by name, each imported when it is looked up, so that nobody pays for the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Name → part.

    Parameters
    ----------
    room
        The package that the parts' modules lie in.
    parts
        Name that recipes use → (module in that package, what it is called there).
    """

    def __init__(self, room: str, parts: Mapping[str, tuple[str, str]]) -> None:
        self._room = room
        self._parts = dict(parts)

    def __getitem__(self, name: str) -> T:
        module, held = self._parts[name]
        found: T = getattr(import_module(f"{self._room}.{module}"), held)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def called(self, held: str) -> T:
        """Return the part whose class is called so, for ``from room import Class``."""
        for name, (_, known) in self._parts.items():
            if known == held:
                return self[name]
        raise AttributeError(f"module {self._room!r} has no attribute {held!r}")
