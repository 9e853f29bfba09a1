"""What the walk hands over to be written: a draft, and how to write it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from everyface.errors import InputError, TooFewPeopleError
from everyface.guarantee import Guarantee, Level
from everyface.release.signer import Signer

Form = Literal["faces", "photos"]

MERGED = "the surrogates were merged into the original photos"


@dataclass(frozen=True)
class Item:
    """One file of the release to be.

    Attributes
    ----------
    source
        The original photo; its name never reaches the release.
    people
        Index of the person behind each face in the file.
    groups
        Index of the surrogate each face received; equal where `people` share one.
    """

    source: Path
    people: tuple[int, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True)
class Draft:
    """Everything about a release except its pixels.

    Attributes
    ----------
    form
        "faces" (one aligned crop a file) or "photos" (surrogates merged into whole photos).
    k
        The least number of people that was asked for.
    recipe
        The whole recipe as data, without any seed.
    guarantee
        What the parts have left of the promise.
    items
        One entry a file to be released.
    made_of
        Photos form: surrogate → how many people it is the average of. In the faces form k counts
        the people who share a surrogate in the release, in the photos form those behind it.
    refused
        Photos that are not released, and the sentence that says why.
    models
        Name, sha256 and licence of every network that was used.
    notes
        Figures that a reader of the certificate must know.
    carried_over
        What of the originals is still in the release, a sentence each.
    background
        The background policy of the photos form, None for faces.
    """

    form: Form
    k: int
    recipe: Mapping[str, Any]
    guarantee: Guarantee
    items: Sequence[Item]
    made_of: Mapping[int, int] = field(default_factory=dict)
    refused: Sequence[tuple[Path, str]] = ()
    models: Sequence[Mapping[str, Any]] = ()
    notes: Mapping[str, float] = field(default_factory=dict)
    carried_over: tuple[str, ...] = ()
    background: str | None = None

    @property
    def claim(self) -> Guarantee:
        """The guarantee that this form can carry at all; a merged photo is never above measured."""
        if self.form == "photos":
            return self.guarantee.lowered(Level.MEASURED, MERGED)
        return self.guarantee

    @property
    def identical(self) -> bool:
        """Whether all files of a group must hold the same bytes."""
        return self.claim.level == Level.K_ANONYMOUS

    @property
    def sources(self) -> list[Path]:
        """Every original that the draft speaks of."""
        return [item.source for item in self.items] + [path for path, _ in self.refused]

    def check(self) -> None:
        """Refuse a draft that must not be released, whatever the cause."""
        if not self.items:
            raise InputError(
                "no photo is left to release",
                "see the reasons given for each photo that was left out",
            )
        for item in self.items:
            if not item.people or len(item.people) != len(item.groups):
                raise InputError(
                    f"{item.source}: {len(item.people)} people, {len(item.groups)} surrogates",
                    "a photo in which no face was replaced must not be released",
                )
            if self.form == "faces" and len(item.people) != 1:
                raise InputError(
                    f"{item.source} has more than one face in a file of the faces form"
                )
        if self.form == "faces":
            self._check_homes()
        self._check_k()

    def people_behind(self) -> dict[int, int]:
        """Return how many people stand behind each surrogate of the release."""
        if self.form == "faces":
            return people_per_group(self.items)
        used = {group for item in self.items for group in item.groups}
        return {group: self.made_of.get(group, 0) for group in used}

    def _check_homes(self) -> None:
        seen: dict[int, int] = {}
        for item in self.items:
            person, group = item.people[0], item.groups[0]
            if seen.setdefault(person, group) != group:
                raise InputError(f"person {person} would stand in two groups")

    def _check_k(self) -> None:
        if self.k < 2:
            raise InputError(f"k is {self.k}", "k must be 2 or more: a group of one hides nobody")
        short = {group: n for group, n in self.people_behind().items() if n < self.k}
        if short:
            group, people = min(short.items(), key=lambda pair: (pair[1], pair[0]))
            raise TooFewPeopleError(
                f"group {group} would hold only {people} people in the release, k = {self.k} "
                f"({len(short)} such groups)",
                "group the photos that are left anew, lower k or add people",
            )


def people_per_group(items: Sequence[Item]) -> dict[int, int]:
    """Count the distinct people who share each surrogate, over the files to be released."""
    pairs = {pair for item in items for pair in zip(item.groups, item.people, strict=True)}
    return dict(Counter(group for group, _ in pairs))


@dataclass(frozen=True)
class Settings:
    """How to write a release.

    Attributes
    ----------
    seed
        The secret from which names, pseudonyms and order are drawn; the same seed and draft
        give the same release. It is kept in the private key map and nowhere else.
    stamp
        Seconds since 1970; only its day (UTC) is used, as the one time stamp of all files.
    private
        Folder for the key map and the quarantine, "beside" for ``OUT.private``, or None: then
        neither is written.
    passphrase
        Encrypts the key map.
    signer
        The key that signs the certificate.
    """

    seed: int
    stamp: int
    signer: Signer
    private: Path | Literal["beside"] | None = "beside"
    passphrase: str | None = None

    @property
    def day(self) -> int:
        """The stamp at midnight UTC: coarse, and exact in every archive format."""
        return self.stamp - self.stamp % 86400
