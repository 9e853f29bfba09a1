"""The base class: what no method can get past, and centroids of people."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.grouping import Grouping, Opposed, Partition, base


class Given(Grouping):
    """Hands out the labels it was given, right or wrong."""

    name = "given"

    def __init__(self, k=2, random_state=None, labels=()):
        super().__init__(k, random_state)
        self.labels = labels

    def _partition(self, X, rng):
        return Partition(np.array(self.labels, dtype=np.int32))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 0, 0, 0, 1], "a group of 1 people, k = 2"),
        ([0, 0, 0, 2, 2, 2], "a group of 0 people"),
        ([0, 0, 0, 1, 1, -1], "without a group"),
    ],
)
def test_a_method_that_breaks_the_promise_is_stopped(labels, message):
    with pytest.raises(AssertionError, match=message):
        Given(labels=labels).fit(np.zeros((6, 2)))
    assert Given(labels=[0, 0, 0, 1, 1, 1]).fit_predict(np.zeros((6, 2))).tolist()[:3] == [0, 0, 0]


def test_the_promise_counts_people_and_not_photos():
    """Five rows of two people are a group of two."""
    people = np.array([0, 0, 0, 0, 1, 2, 3, 4])
    with pytest.raises(AssertionError, match="a group of 2 people, k = 3"):
        Given(k=3, labels=[0, 0, 1, 1, 1]).fit(np.zeros((8, 2)), subjects=people)


@pytest.mark.parametrize("k", [5.0, float("nan"), "5", None])
def test_k_is_a_whole_number_and_not_something_like_one(k):
    with pytest.raises(InputError, match="k is"):
        Given(k=k, labels=[0] * 6).fit(np.zeros((6, 2)))
    Given(k=np.int64(5), labels=[0] * 6).fit(np.zeros((6, 2)))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["small", "negative", "huge", "text"]),
    frozen=st.booleans(),
)
def test_centroids_are_means_of_people_whatever_they_are_called(seed, kind, frozen):
    """Thesis Definition 2.2 and Eq. 4.1: one row a person, so first the mean of their photos."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(4), 3)
    photos = np.concatenate([np.arange(12), rng.integers(0, 12, 20)])
    X = rng.standard_normal((len(photos), 3))
    names = {
        "small": np.arange(12),
        "negative": np.arange(12) - 7,
        "huge": 2**62 + np.arange(12),
        "text": np.array([f"person {i}" for i in range(12)]),
    }[kind]
    core = np.arange(12) % 3 < 2 if frozen else np.ones(12, bool)
    found = Partition(groups[photos].astype(np.int32), core=core[photos] if frozen else None)
    made = found.centroids(X, names[photos])
    person = np.array([X[photos == p].mean(axis=0) for p in range(12)])
    for group in range(4):
        expected = person[(groups == group) & core].mean(axis=0)
        np.testing.assert_allclose(made[group], expected, atol=1e-12)


def test_several_photos_weigh_as_one_person_in_groups_and_in_their_means():
    """Person 0 has photos at 0 and 8, so stands at 4; nobody nearer to 100 than that."""
    X = np.array([[0.0], [8.0], [0.0], [4.0], [100.0]])
    people = np.array([0, 0, 1, 2, 3])
    for seed in range(6):
        found = Opposed(2, random_state=seed).fit(X, subjects=people).partition_
        assert sorted(found.centroids(X, people).ravel().tolist()) == [2.0, 52.0]


class Streams(Given):
    """Remembers what it was given."""

    streams = True

    def _partition(self, X, rng):
        self.seen = X
        return super()._partition(X, rng)


def test_methods_that_stream_get_float32_itself_and_others_float64(tmp_path):
    X = np.arange(12, dtype=np.float32).reshape(6, 2)
    X.tofile(tmp_path / "codes.f32")
    mapped = np.memmap(tmp_path / "codes.f32", np.float32, "r", shape=(6, 2))
    made = Streams(labels=[0, 0, 0, 1, 1, 1]).fit(mapped)
    assert made.seen.dtype == np.float32
    assert np.shares_memory(made.seen, mapped)
    made.fit(X.astype(np.float16))
    assert made.seen.dtype == np.float64


def test_what_is_read_in_blocks_is_the_same(monkeypatch):
    """Blocks of one or two rows: the bad row keeps its number, and people their means."""
    rng = np.random.default_rng(0)
    X, people = rng.standard_normal((40, 3)), rng.integers(0, 9, 40)
    whole = base.one_row_each(X, people)
    labels = np.arange(40) % 4
    centroids = Partition(labels.astype(np.int32)).centroids(X)
    monkeypatch.setattr(base, "_NUMBERS", 6)
    parts = base.one_row_each(X, people)
    np.testing.assert_allclose(whole[0], [X[people == p].mean(axis=0) for p in np.unique(people)])
    np.testing.assert_allclose(parts[0], whole[0])
    assert (parts[1] == whole[1]).all()
    np.testing.assert_allclose(Partition(labels.astype(np.int32)).centroids(X), centroids)
    X[31, 2] = np.inf
    with pytest.raises(InputError, match="row 31 of"):
        base.require_table(X)
