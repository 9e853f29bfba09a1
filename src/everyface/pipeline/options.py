"""What a user may ask of a release, checked where it is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from everyface import recipe as recipes
from everyface.errors import InputError
from everyface.merge import Background
from everyface.recipe import Recipe

Form = Literal["faces", "photos"]


@dataclass(frozen=True)
class Options:
    """How to anonymise.

    Parameters
    ----------
    k
        The least number of people behind each face.
    recipe
        A recipe's name, or the path of a recipe file.
    form
        ``"faces"``: aligned faces, where the promise is a proof. ``"photos"``: whole photos with
        new faces, where it is a measurement.
    background
        What happens to everything outside the faces of a photo.
    select
        A label within whose values people are grouped, so that it survives: a column of the
        table that names the people, or ``gender``, ``age`` (by decades) or ``skin`` as computed.
    gate
        Whether the release is attacked, and changed, before it is written.
    max_risk
        The greatest rank-1 share the gate allows, at most 1/k; 1/k when None.
    commercial
        Refuse weights whose licence forbids commercial use.
    """

    k: int = 5
    recipe: str | Path | Recipe = "everyface"
    form: Form = "faces"
    background: Background | str = Background.KEEP
    select: str | None = None
    gate: bool = True
    max_risk: float | None = None
    commercial: bool = False
    method: Recipe = field(init=False)

    def __post_init__(self) -> None:
        if self.k < 2:
            raise InputError(f"k is {self.k}", "k must be 2 or more: a group of one hides nobody")
        if self.form not in get_args(Form):
            raise InputError(f"there is no form called {self.form!r}", "choose faces or photos")
        self._check_risk()
        try:
            background = Background(self.background)
        except ValueError:
            known = ", ".join(policy.value for policy in Background)
            raise InputError(
                f"there is no background policy called {self.background!r}", f"choose from {known}"
            ) from None
        object.__setattr__(self, "background", background)
        if self.form == "faces" and background is not Background.KEEP:
            raise InputError(
                f"the background policy {background.value} needs whole photos, but only faces "
                "are released",
                "add --form photos, or leave the policy out",
            )
        method = self.recipe if isinstance(self.recipe, Recipe) else recipes.load(self.recipe)
        object.__setattr__(self, "method", method)
        if method.needs_label and self.select is None:
            raise InputError(
                f"the recipe {method.name} groups people within a label, but none was named",
                "name one with --select, for instance --select gender",
            )

    def _check_risk(self) -> None:
        if self.max_risk is None:
            return
        if not 0 <= self.max_risk <= 1:
            raise InputError(
                f"the greatest risk is {self.max_risk}", "give a share between 0 and 1"
            )
        if self.max_risk > 1 / self.k:
            raise InputError(
                f"the greatest risk {self.max_risk} is above 1/k = {1 / self.k:.3g}",
                "give a smaller share, or leave it out",
            )
        if not self.gate:
            raise InputError(
                "a greatest risk was given, but without the gate nothing is attacked",
                "leave one of the two out",
            )

    @cached_property
    def bound(self) -> float:
        """The rank-1 share that the gate allows."""
        return 1 / self.k if self.max_risk is None else self.max_risk

    @cached_property
    def policy(self) -> Background:
        """The background policy as a value."""
        return Background(self.background)

    def as_dict(self) -> dict[str, Any]:
        """Return the options as plain data: what a resumed run must agree with."""
        return {
            "k": self.k,
            "recipe": self.method.as_dict(),
            "form": self.form,
            "background": self.policy.value,
            "select": self.select,
            "gate": self.gate,
            "max_risk": self.max_risk,
        }
