"""The certificate: what a release claims, in a schema that a stranger can check."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from everyface.errors import InputError
from everyface.release.interval import clopper_pearson
from everyface.release.leaks import strings
from everyface.release.reasons import Reason

SCHEMA = "1"
IMAGES = "images"
CERTIFICATE = "certificate.json"
SIGNATURE = "certificate.sig"
README = "README.txt"
MEASURED_ANEW = ("rank1", "low", "high")

MOST = 2**53
"""The greatest whole number that every reader of JSON reads alike."""

LONGEST, LARGEST_RECIPE = 1000, 64 * 1024
LARGEST_IMAGE, LARGEST_NOTE = 2**30, 2**16
"""Bytes; what is larger is not a picture, not a note."""


def _without_orders(data: Any) -> Any:
    """Refuse free text that is endless, or that orders a screen about."""
    for text in strings(data):
        if len(text) > LONGEST:
            raise ValueError(f"a text has more than {LONGEST} characters")
        if any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in text):
            raise ValueError("a text holds characters that cannot be shown")
    if len(json.dumps(data)) > LARGEST_RECIPE:
        raise ValueError("it is too large")
    return data


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Line = Annotated[str, Field(max_length=LONGEST, pattern=r"^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$")]
"""What programs may show as it is: no control characters, nothing that turns a line round."""

Figure = int | float | Line | None
Figures = Annotated[dict[Line, float], Field(max_length=100)]
Round = Annotated[
    dict[Line, Figure | Annotated[dict[Line, Figure], Field(max_length=100)]],
    Field(max_length=100),
]


class Part(BaseModel):
    """Strict, frozen, and nothing in it that the schema does not name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class FileEntry(Part):
    """One image of the release."""

    name: Annotated[str, Field(pattern=r"^[0-9a-f]{16}\.(png|jpg)$")]
    sha256: Sha256
    bytes: Annotated[int, Field(ge=1, le=LARGEST_IMAGE)]
    width: Positive
    height: Positive
    groups: Annotated[tuple[Positive, ...], Field(min_length=1)]
    people: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")], ...]
    """Faces form: the pseudonym behind the face. Photos form: empty, for it would link photos."""


class GroupEntry(Part):
    """Those behind one surrogate.

    `people` counts, in the faces form, those who share it in this release; in the photos form,
    those whose average it is.
    """

    group: Positive
    people: Positive
    files: Positive


class Counts(Part):
    """How much there is of everything."""

    files: Positive
    faces: Positive
    people: Positive
    groups: Positive


class Claim(Part):
    """The guarantee, and what lowered it."""

    level: Literal["measured", "wrong-map", "k-anonymous"]
    lowered_by: tuple[Line, ...]


class ModelEntry(Part):
    """A network that was used."""

    name: Line
    sha256: Sha256
    licence: Line


class Attack(Part):
    """What one recogniser found in the release, over `people` trials: one a released face.

    `rank1`, `low` and `high` follow from `found` and `people` (Clopper-Pearson, 95 %).
    """

    recogniser: Line
    against: Line
    people: Positive
    found: Count
    rank1: Share
    low: Share
    high: Share
    threshold: float | None = None
    own_above: Share | None = None
    strangers_above: Share | None = None


class Gate(Part):
    """The release attacked itself: the rounds, the last figures and the price."""

    bound: Share
    attacks: Annotated[tuple[Attack, ...], Field(min_length=1)]
    rounds: Annotated[tuple[Round, ...], Field(max_length=1000)] = ()
    price: Figures = {}


class Refused(Part):
    """Photos that were asked for and are not here; reasons as classes, without names."""

    total: Count
    reasons: dict[Reason, Positive]


class Software(Part):
    """What made the release."""

    name: Literal["everyface"]
    version: Line


class TextEntry(Part):
    """The note for the receiver."""

    sha256: Sha256
    bytes: Annotated[int, Field(ge=1, le=LARGEST_NOTE)]


class Certificate(Part):
    """Everything that a release claims. The field order is that of docs/certificate.md."""

    schema_version: Literal["1"]
    release: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    created: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    software: Software
    form: Literal["faces", "photos"]
    k: Annotated[int, Field(ge=2, le=MOST)]
    k_reached: Positive
    counts: Counts
    guarantee: Claim
    gate: Gate | Literal["not run"]
    background: Literal["keep", "blur", "mean", "mask"] | None
    carried_over: tuple[Line, ...]
    recipe: Annotated[dict[str, Any], AfterValidator(_without_orders)]
    models: tuple[ModelEntry, ...]
    notes: Figures
    refused: Refused
    groups: Annotated[tuple[GroupEntry, ...], Field(min_length=1)]
    files: Annotated[tuple[FileEntry, ...], Field(min_length=1)]
    readme: TextEntry


class Signature(Part):
    """The detached signature over the bytes of the certificate."""

    algorithm: Literal["Ed25519"]
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


def canonical(data: Mapping[str, Any]) -> bytes:
    """Return the one way to write `data`: sorted keys, two blanks, ASCII, a newline at the end."""
    text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return f"{text}\n".encode("ascii")


def gate_from(found: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the attacks' counts into certificate form; shares and intervals are computed here.

    Parameters
    ----------
    found
        ``bound``; ``attacks``, each with ``recogniser``, ``against``, ``people``, ``found`` and,
        where measured, ``threshold``, ``own_above``, ``strangers_above``; ``rounds``; ``price``.
    """
    attacks = []
    for attack in found["attacks"]:
        counts = {key: value for key, value in attack.items() if key not in MEASURED_ANEW}
        low, high = clopper_pearson(counts["found"], counts["people"])
        rank1 = round(counts["found"] / counts["people"], 6)
        attacks.append({**counts, "rank1": rank1, "low": low, "high": high})
    return {**found, "attacks": attacks}


def validated(data: Mapping[str, Any]) -> bytes:
    """Return the certificate's bytes, or say which field cannot be certified."""
    try:
        raw = canonical(data)
        return canonical(Certificate.model_validate_json(raw).model_dump(mode="json"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"the certificate's {where} cannot be written: {first['msg']}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"the certificate cannot be written: {error}") from error
