"""Who may use which weights."""

from __future__ import annotations

import os

from everyface.errors import ModelError
from everyface.models.registry import Entry

VARIABLE = "EVERYFACE_COMMERCIAL"


def commercial_only() -> bool:
    """Tell whether weights that may not be used commercially are refused."""
    return os.environ.get(VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


def restrict() -> None:
    """Refuse non-commercial weights from now on, in this process and in those it starts."""
    os.environ[VARIABLE] = "1"


def allowed(entry: Entry) -> bool:
    """Tell whether the policy lets `entry` be used."""
    return entry.commercial or not commercial_only()


def require_allowed(entry: Entry) -> None:
    """Raise if the policy does not let `entry` be used."""
    if not allowed(entry):
        raise ModelError(
            f"the weights of {entry.name} may not be used commercially ({entry.licence})",
            f"choose a recipe that does without them, or drop --commercial and {VARIABLE}",
        )
