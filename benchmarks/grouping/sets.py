"""The codes that groupings are measured on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Codes:
    """A table of codes and who each row shows."""

    name: str
    X: np.ndarray
    subjects: np.ndarray

    def people(self) -> np.ndarray:
        """One row a person, as groupings see them."""
        from everyface.grouping.base import one_row_each

        return one_row_each(self.X, self.subjects)[0]


def facelike(n: int, d: int = 128, seed: int = 0) -> np.ndarray:
    """Codes of length 1 in 16 loose clusters, with a spectrum that falls as a recogniser's."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    spectrum = (1.0 / np.sqrt(1.0 + np.arange(d))).astype(np.float32)
    centres = 0.7 * spectrum * rng.standard_normal((16, d), dtype=np.float32)
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 1 << 16):
        rows = min(1 << 16, n - start)
        block = centres[rng.integers(0, 16, rows)]
        block = (block + spectrum * rng.standard_normal((rows, d), dtype=np.float32)) @ basis
        X[start : start + rows] = block / np.linalg.norm(block, axis=1, keepdims=True)
    return X


def synthetic() -> list[Codes]:
    """Face-like codes, tight heaps, and a plain normal cloud."""
    rng = np.random.default_rng(0)
    heaps = 3.0 * rng.standard_normal((40, 16))
    made = {
        "face-like, 1,000 × 128": facelike(1000),
        "heaps, 500 × 16": heaps[rng.integers(0, 40, 500)] + rng.standard_normal((500, 16)),
        "normal, 500 × 8": rng.standard_normal((500, 8)),
    }
    return [Codes(name, X, np.arange(len(X))) for name, X in made.items()]


def real(folder: Path, cache: Path | None) -> list[Codes]:
    """SFace and dlib codes of the photos `PERSON_NUMBER.jpg` in a folder; none if it is absent."""
    if not folder.is_dir():
        print(f"skipped: {folder} is not here", file=sys.stderr)
        return []
    kept = cache / "codes.npz" if cache else None
    if kept is None or not kept.exists():
        from everyface.faces import read
        from everyface.faces.identity import embedded

        faces = read([folder], subjects="pattern:{person}_*.jpg", store=cache)
        found = {name: embedded(faces, name) for name in ("sface", "dlib")}
        found["subjects"] = faces.subject
        if kept is not None:
            np.savez(kept, **found)
    else:
        found = dict(np.load(kept))
    sface = found["sface"] / np.linalg.norm(found["sface"], axis=1, keepdims=True)
    subjects = found["subjects"]
    first = np.unique(subjects, return_index=True)[1]
    made = []
    for name, X in (("SFace", sface), ("dlib", found["dlib"])):
        heads = f"{len(first)} people"
        made.append(Codes(f"{name}, {heads}, one photo each", X[first], np.arange(len(first))))
        made.append(Codes(f"{name}, {heads}, {len(X)} photos", X, subjects))
    return made
