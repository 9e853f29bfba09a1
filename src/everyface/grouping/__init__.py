"""The grouping room: vectors in, groups of at least k people out.

Every method is one module, named as recipes name it, that holds one class. A module is imported
when somebody asks for its class, so that the command line does not pay for what it does not use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everyface.grouping.base import Grouping, Partition
from everyface.registry import Registry

if TYPE_CHECKING:
    from everyface.grouping.balanced import Balanced
    from everyface.grouping.hierarchical import Hierarchical
    from everyface.grouping.kmember import KMember
    from everyface.grouping.mdav import Mdav
    from everyface.grouping.mondrian import Mondrian
    from everyface.grouping.nearest import Nearest
    from everyface.grouping.onepass import OnePass
    from everyface.grouping.opposed import Opposed
    from everyface.grouping.refined import Refined

__all__ = [
    "GROUPINGS",
    "Balanced",
    "Grouping",
    "Hierarchical",
    "KMember",
    "Mdav",
    "Mondrian",
    "Nearest",
    "OnePass",
    "Opposed",
    "Partition",
    "Refined",
]

GROUPINGS: Registry[type[Grouping]] = Registry(
    __name__,
    {
        "balanced": ("balanced", "Balanced"),
        "hierarchical": ("hierarchical", "Hierarchical"),
        "kmember": ("kmember", "KMember"),
        "mdav": ("mdav", "Mdav"),
        "mondrian": ("mondrian", "Mondrian"),
        "nearest": ("nearest", "Nearest"),
        "onepass": ("onepass", "OnePass"),
        "opposed": ("opposed", "Opposed"),
        "refined": ("refined", "Refined"),
    },
)
"""Every grouping by the name that recipes use."""


def __getattr__(name: str) -> type[Grouping]:
    return GROUPINGS.called(name)
