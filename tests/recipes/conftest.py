"""Every recipe, run from photos to a saved release: each once, for all checks."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everyface import recipe
from everyface.faces import FaceSet, identity
from everyface.faces.identity import embedded
from everyface.pipeline import Form, Release, anonymize
from everyface.release import read_key_map

K = 3
SEED = 4_071_823_946_550_017
"""Long enough not to stand anywhere by chance."""
FEW = 6
"""People in the photos form, whose every round merges every photo."""


@dataclass(frozen=True)
class Case:
    """One recipe in one form."""

    recipe: str
    form: Form
    gate: bool = True


@dataclass(frozen=True)
class Ran:
    """A saved release, the faces that it was made from, and what its files say."""

    faces: FaceSet
    release: Release
    out: Path

    @cached_property
    def certificate(self) -> dict[str, Any]:
        return dict(json.loads((self.out / "certificate.json").read_text()))

    @cached_property
    def key_map(self) -> dict[str, Any]:
        return read_key_map(self.out.with_name(f"{self.out.name}.private"))

    @cached_property
    def people_by_picture(self) -> dict[bytes, set[str]]:
        """Return, for each distinct picture on the disk, the people whose files it is."""
        found: dict[bytes, set[str]] = defaultdict(set)
        for entry in self.key_map["files"]:
            found[(self.out / entry["released"]).read_bytes()].add(
                Path(entry["original"]).parts[-2]
            )
        return found


TWO = {name: identity.RECOGNISERS[name] for name in ("sface", "dlib")}
ONE = {"sface": TWO["sface"]}


class Kitchen:
    """Runs each case once, on one read set of faces.

    Two recognisers attack aligned faces and the default method's photos, one the other photos,
    whatever else is on the machine.
    """

    def __init__(self, faces: FaceSet, folder: Path) -> None:
        for name in TWO:
            embedded(faces, name)
        few = np.isin(faces.subject, np.unique(faces.subject)[:FEW])
        self.faces = {"faces": faces, "photos": faces.take(few)}
        self.folder = folder
        self.ran: dict[Case, Ran] = {}

    def __call__(self, case: Case) -> Ran:
        if case not in self.ran:
            faces = self.faces[case.form]
            select = "gender" if recipe.load(case.recipe).needs_label else None
            both = case.form == "faces" or case.recipe == "everyface"
            name = f"{case.recipe}-{case.form}-{'gate' if case.gate else 'open'}"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(identity, "RECOGNISERS", TWO if both else ONE)
                release = anonymize(
                    faces,
                    K,
                    case.recipe,
                    form=case.form,
                    gate=case.gate,
                    select=select,
                    random_state=SEED,
                )
                self.ran[case] = Ran(faces, release, release.save(self.folder / name))
        return self.ran[case]


@pytest.fixture(scope="session")
def kitchen(faces: FaceSet, tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    return Kitchen(faces, tmp_path_factory.mktemp("recipes"))
