"""Which weights exist, where they come from, and who may use them."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from importlib import resources
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from everyface.errors import ModelError

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Frozen(BaseModel):
    """A record that refuses unknown fields and cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Carrier(Frozen):
    """A published package that carries weights.

    Attributes
    ----------
    requirement
        Name and pinned version, as pip understands it.
    archive
        ``wheel``, or ``sdist`` where the package has no wheel.
    platform
        Platform tag of the wheel where it has one; the weights inside are for every platform.
    sha256
        Hash of the whole archive; required of source archives, whose setup script pip runs.
    bytes
        Size of the archive: what a download costs.
    """

    requirement: Annotated[str, StringConstraints(pattern=r"^[\w.-]+==[\w.]+$")]
    archive: Literal["wheel", "sdist"] = "wheel"
    platform: str | None = None
    sha256: Sha256 | None = None
    bytes: Annotated[int, Field(gt=0)]

    @model_validator(mode="after")
    def _source_is_pinned(self) -> Carrier:
        if self.archive == "sdist" and self.sha256 is None:
            raise ValueError(f"{self.requirement} is a source archive without a sha256")
        return self


class Place(Frozen):
    """A member of a carrier's archive."""

    carrier: str
    member: str


class Weights(Place):
    """One file of a model, where it lies, and what its bytes must be.

    Attributes
    ----------
    inner
        Name inside the member, where the member is itself a zip.
    sha256, bytes
        Of the file as it is used (the inner one where there is one).
    mirrors
        Other places of the very same bytes.
    """

    inner: str | None = None
    sha256: Sha256
    bytes: Annotated[int, Field(gt=0)]
    mirrors: tuple[Place, ...] = ()

    @property
    def name(self) -> str:
        """File name in the cache."""
        return PurePosixPath(self.inner or self.member).name

    @property
    def places(self) -> tuple[Place, ...]:
        """Everywhere the file can be had, the preferred place first."""
        return (Place(carrier=self.carrier, member=self.member), *self.mirrors)


class Entry(Frozen):
    """One model: its files, and what its licence allows."""

    name: str
    role: str
    note: str
    licence: str
    commercial: bool
    files: Annotated[tuple[Weights, ...], Field(min_length=1)]

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return sum(file.bytes for file in self.files)

    @property
    def digest(self) -> str:
        """One SHA-256 that stands for all files of the model (the file's own if there is one)."""
        if len(self.files) == 1:
            return self.files[0].sha256
        return hashlib.sha256("".join(f.sha256 for f in self.files).encode()).hexdigest()


class Registry(Frozen):
    """Carriers and models by name."""

    carriers: dict[str, Carrier]
    models: dict[str, Entry]

    @model_validator(mode="before")
    @classmethod
    def _name_the_models(cls, raw: dict[str, dict[str, dict[str, object]]]) -> object:
        return {**raw, "models": {n: {**e, "name": n} for n, e in raw.get("models", {}).items()}}

    @model_validator(mode="after")
    def _carriers_exist(self) -> Registry:
        for entry in self.models.values():
            for place in (place for file in entry.files for place in file.places):
                if place.carrier not in self.carriers:
                    raise ValueError(f"{entry.name} names an unknown carrier {place.carrier}")
        return self


@functools.cache
def registry() -> Registry:
    """Read `registry.toml`, once."""
    text = resources.files("everyface.models").joinpath("registry.toml").read_text("utf-8")
    return Registry.model_validate(tomllib.loads(text))


def entries() -> tuple[Entry, ...]:
    """Every model, in the order of the registry."""
    return tuple(registry().models.values())


def entry(name: str) -> Entry:
    """One model by name."""
    try:
        return registry().models[name]
    except KeyError:
        known = ", ".join(registry().models)
        raise ModelError(f"there is no model named {name!r}", f"choose one of {known}") from None


def carrier(name: str) -> Carrier:
    """One carrier by name."""
    return registry().carriers[name]


def siblings(name: str) -> tuple[Entry, ...]:
    """List the models whose files all come first from the same carriers as those of `name`."""
    homes = {file.carrier for file in entry(name).files}
    return tuple(e for e in entries() if {file.carrier for file in e.files} <= homes)


def licences() -> tuple[tuple[str, str, bool], ...]:
    """Name, licence, and whether commercial use is allowed, of every model."""
    return tuple((e.name, e.licence, e.commercial) for e in entries())
