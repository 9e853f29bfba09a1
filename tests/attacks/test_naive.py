from __future__ import annotations

import numpy as np

from everyface.attacks.naive import Gallery, attack
from tests.attacks.fakes import crops_of, people


def _embed(gallery: Gallery, codes: np.ndarray) -> np.ndarray:
    return gallery.recogniser.embed(crops_of(codes), np.zeros(0))


def test_originals_are_all_found() -> None:
    codes, gallery = people(20)
    scores = attack(gallery, _embed(gallery, codes), np.arange(40))
    assert scores.rank1().value == 1
    assert scores.own_matches().value > 0.9


def test_a_planted_rate_is_found_exactly() -> None:
    codes, gallery = people(50)
    released = np.roll(codes, 2, axis=0)
    released[:20] = codes[:20]
    scores = attack(gallery, _embed(gallery, released), np.arange(100))
    assert scores.rank1().hits == 20


def test_chance_on_random_faces() -> None:
    _, gallery = people(50)
    noise = np.random.default_rng(1).normal(0, 40, (100, 8)).astype(np.float32)
    scores = attack(gallery, _embed(gallery, noise), np.arange(100))
    assert scores.rank1().value < 0.1


def test_a_face_is_sought_among_the_other_photos() -> None:
    codes, gallery = people(10, noise=0.0)
    gallery.embeddings[1::2] = -gallery.embeddings[1::2]
    scores = attack(gallery, _embed(gallery, codes), np.arange(20))
    assert not scores.matched[0::2].any()


def test_one_photo_is_compared_with_itself() -> None:
    codes, gallery = people(10, photos=1)
    scores = attack(gallery, _embed(gallery, codes), np.arange(10))
    assert scores.first.all()


def test_strangers_are_counted_once_a_person() -> None:
    codes, gallery = people(4, noise=0.0)
    gallery.embeddings[2:4] = gallery.embeddings[0]
    scores = attack(gallery, _embed(gallery, codes[:1]), np.arange(1))
    assert scores.strangers[0] == np.float32(1 / 3)


def test_a_tie_counts_against_us() -> None:
    codes, gallery = people(4, noise=0.0)
    gallery.embeddings[2:4] = gallery.embeddings[0]
    assert attack(gallery, _embed(gallery, codes[:1]), np.arange(1)).first[0]
