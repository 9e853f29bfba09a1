from __future__ import annotations

import numpy as np

from everyface.arrays import I64
from everyface.attacks.gate import Gate, Probes
from tests.attacks.fakes import crops_of, people


class Options:
    """Each person is a unit; `faces[state]` is what would be released of everybody."""

    def __init__(self, faces: list[np.ndarray]) -> None:
        self.faces = faces
        n = len(faces[0])
        self.unit: I64 = np.arange(n)
        self.state = np.zeros(n, dtype=int)
        self.gone: list[int] = []

    def probes(self, rows: I64) -> Probes:
        codes = np.stack([self.faces[self.state[row]][row] for row in rows])
        return Probes(
            crops_of(codes), np.zeros((len(rows), 478, 3), np.float32), np.arange(len(rows))
        )

    def states(self, unit: int) -> int:
        return len(self.faces)

    def set(self, unit: int, state: int) -> None:
        self.state[unit] = state

    def quarantine(self, rows: I64) -> I64:
        self.gone += rows.tolist()
        return rows


def _strangers(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 40, (n, 8)).astype(np.float32)


def test_a_safe_release_is_left_alone() -> None:
    codes, gallery = people(30, photos=1)
    stage = Options([np.roll(codes, 1, axis=0), _strangers(30, 1)])
    found = Gate([gallery], 0.2).run(stage)
    assert found.passed
    assert found.rechosen == found.quarantined == 0
    assert not stage.state.any()


def test_originals_are_replaced_by_the_next_choice() -> None:
    codes, gallery = people(30, photos=1)
    stage = Options([codes, np.roll(codes, 1, axis=0)])
    found = Gate([gallery], 0.2).run(stage)
    assert found.passed
    assert found.rechosen == 30
    assert found.rounds[0]["rank1"]["pixel"] == 1
    assert not stage.gone


def test_what_cannot_be_mended_is_quarantined() -> None:
    codes, gallery = people(30, photos=1)
    stage = Options([np.concatenate([codes[:12], np.roll(codes, 1, axis=0)[12:]])])
    found = Gate([gallery], 0.2).run(stage)
    assert found.passed
    assert found.quarantined == len(stage.gone) > 0
    assert set(stage.gone) <= set(range(12))


def test_nothing_but_originals_leaves_nothing() -> None:
    codes, gallery = people(10, photos=1)
    stage = Options([codes])
    found = Gate([gallery], 0.2).run(stage)
    assert sorted(stage.gone) == list(range(10))
    assert found.passed


def test_a_worse_choice_is_not_kept() -> None:
    codes, gallery = people(10, photos=1)
    gallery.recogniser.threshold = 0.0  # type: ignore[misc]
    gallery.embeddings[:] = np.abs(gallery.embeddings)
    codes = np.abs(codes)
    mixed = 0.9 * codes + 0.1 * np.roll(codes, 1, axis=0)
    stage = Options([mixed, codes])
    Gate([gallery], 0.2).run(stage)
    assert not stage.state.any()


def test_rank1_is_held_even_below_the_threshold() -> None:
    codes, gallery = people(30, photos=1)
    weak = 0.7 * codes + _strangers(30, 3) * 0.4
    gallery.recogniser.threshold = 2.0  # type: ignore[misc]
    stage = Options([weak.astype(np.float32), np.roll(codes, 1, axis=0)])
    found = Gate([gallery], 0.2).run(stage)
    assert found.rounds[0]["rank1"]["pixel"] > 0.2
    assert found.verdicts[0].scores.rank1().value <= 0.2
