"""Recipes: a published method, or the user's own, as data.

A recipe names the five parts of the walk (group space, grouping, synthesis space, surrogate and
gate) and their parameters. The published ones are TOML files in the folder `recipes/`; a user
writes their own the same way and gives its path.
"""

from __future__ import annotations

import difflib
import tomllib
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from everyface.errors import InputError
from everyface.grouping import GROUPINGS, Grouping
from everyface.spaces import SPACES
from everyface.spaces.base import Space, SynthesisSpace
from everyface.surrogates import RULES
from everyface.surrogates.base import Rule

_FOLDER = "recipes"


class Part(BaseModel):
    """One part of the walk: the name it is registered under, and its parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


def _known(part: Part, names: Any, what: str) -> Part:
    if part.name not in names:
        raise ValueError(f"there is no {what} called {part.name!r}; there are {_listed(names)}")
    return part


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))


class Recipe(BaseModel):
    """The five parts of one method.

    Attributes
    ----------
    name
        How the command line calls it.
    title, paper, summary
        What it is, where it comes from, and what it does, in words.
    group_space, grouping, synthesis_space, surrogate
        The parts.
    needs_label
        Whether people are grouped within the values of a label (k-same-select), so that the user
        has to name one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    paper: str
    summary: str
    group_space: Part
    grouping: Part
    synthesis_space: Part
    surrogate: Part
    needs_label: bool = False

    @field_validator("group_space")
    @classmethod
    def _group_space(cls, part: Part) -> Part:
        return _known(part, SPACES, "space")

    @field_validator("synthesis_space")
    @classmethod
    def _synthesis_space(cls, part: Part) -> Part:
        _known(part, SPACES, "space")
        if not issubclass(SPACES[part.name], SynthesisSpace):
            raise ValueError(f"the space {part.name!r} cannot draw faces")
        return part

    @field_validator("grouping")
    @classmethod
    def _grouping(cls, part: Part) -> Part:
        return _known(part, GROUPINGS, "grouping")

    @field_validator("surrogate")
    @classmethod
    def _surrogate(cls, part: Part) -> Part:
        return _known(part, RULES, "surrogate rule")

    @cached_property
    def one_space(self) -> bool:
        """Whether grouping and synthesis share one space, so that it is fitted only once."""
        return self.group_space == self.synthesis_space

    def make_group_space(self) -> Space:
        """Build the group space."""
        part = self.group_space
        return cast(Space, _built(SPACES[part.name], part, "space"))

    def make_synthesis_space(self) -> SynthesisSpace:
        """Build the synthesis space."""
        part = self.synthesis_space
        return cast(SynthesisSpace, _built(SPACES[part.name], part, "space"))

    def make_grouping(self, k: int, random_state: int | None) -> Grouping:
        """Build the grouping for groups of at least `k`."""
        part = self.grouping
        params = {**part.params, "k": k, "random_state": random_state}
        whole = Part(name=part.name, params=params)
        return cast(Grouping, _built(GROUPINGS[part.name], whole, "grouping"))

    def make_rule(self) -> Rule:
        """Build the surrogate rule."""
        return cast(Rule, _built(RULES[self.surrogate.name], self.surrogate, "surrogate rule"))

    def as_dict(self) -> dict[str, Any]:
        """Return the whole recipe as plain data, as certificates hold it."""
        return self.model_dump(mode="json")


def _built(made: Any, part: Part, what: str) -> Any:
    try:
        return made(**part.params)
    except TypeError as error:
        raise InputError(
            f"the {what} {part.name!r} does not take these parameters ({error})",
            "correct them in the recipe file",
        ) from error


def names() -> list[str]:
    """Return the names of the recipes that come with Everyface, sorted."""
    folder = resources.files("everyface") / _FOLDER
    return sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml"))


def source(name: str) -> str:
    """Return a shipped recipe's TOML text, to read or to copy and change."""
    if name not in names():
        close = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose from {_listed(names())}"
        raise InputError(f"there is no recipe called {name!r}", hint)
    return (resources.files("everyface") / _FOLDER / f"{name}.toml").read_text("utf-8")


def load(name: str | Path) -> Recipe:
    """Read a recipe by name, or from the user's own TOML file.

    Examples
    --------
    >>> from everyface import recipe
    >>> recipe.load("k-same-m").surrogate.name
    'mean'
    """
    path = Path(name)
    if path.suffix == ".toml":
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the recipe file {path} cannot be read ({error})") from error
        return _parsed(text, path.stem, str(path))
    return _parsed(source(str(name)), str(name), f"the recipe {name}")


def _parsed(text: str, name: str, where: str) -> Recipe:
    try:
        return Recipe(**{"name": name, **tomllib.loads(text)})
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not valid TOML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise InputError(f"{where}: {key}: {message}", "correct the recipe file") from error
