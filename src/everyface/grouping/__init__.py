"""The grouping room: vectors in, groups of at least k people out.

Every method is one module, named as recipes name it, that holds one class. A module is imported
when somebody asks for its class, so that the command line does not pay for what it does not use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from everyface.grouping.base import Grouping, Partition

if TYPE_CHECKING:
    from everyface.grouping.mdav import Mdav
    from everyface.grouping.mondrian import Mondrian
    from everyface.grouping.nearest import Nearest
    from everyface.grouping.opposed import Opposed

__all__ = [
    "GROUPINGS",
    "Grouping",
    "Mdav",
    "Mondrian",
    "Nearest",
    "Opposed",
    "Partition",
]

_CLASSES = {
    "mdav": "Mdav",
    "mondrian": "Mondrian",
    "nearest": "Nearest",
    "opposed": "Opposed",
}


class _Registry(Mapping[str, type[Grouping]]):
    """Method name → its class, imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Grouping]:
        held = _CLASSES[name]
        found: type[Grouping] = getattr(import_module(f"{__name__}.{name}"), held)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES


GROUPINGS: Mapping[str, type[Grouping]] = _Registry()
"""Every grouping by the name that recipes use."""


def __getattr__(name: str) -> type[Grouping]:
    for module, held in _CLASSES.items():
        if held == name:
            return GROUPINGS[module]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
