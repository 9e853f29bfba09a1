"""The surrogates room: codes of people and their groups in, the codes of new faces out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from everyface.surrogates.base import Rule, Surrogates
from everyface.surrogates.mean import Mean
from everyface.surrogates.neighbour import Neighbour
from everyface.surrogates.shift import Shift
from everyface.surrogates.swap import Swap

__all__ = ["RULES", "Mean", "Neighbour", "Rule", "Shift", "Surrogates", "Swap"]

RULES: Mapping[str, Callable[..., Rule]] = {
    "mean": Mean,
    "neighbour": Neighbour,
    "shift": Shift,
    "swap": Swap,
}
"""Every rule by the name that recipes use; called with the rule's own parameters."""
