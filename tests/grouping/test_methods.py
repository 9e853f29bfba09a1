"""Hand-worked cases against the papers' algorithms."""

import numpy as np
import pytest

from everyface.errors import InputError
from everyface.grouping import Mdav, Mondrian, Nearest, Opposed
from everyface.grouping.opposed import overlap


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def groups(labels: np.ndarray) -> list[list[int]]:
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


def test_nearest_by_hand():
    """Thesis Alg. 1 at k = 2: 4 takes 5; 0 takes 1; the three who are left stay together."""
    X = column(4, 0, 1, 5, 9, 20, 30)
    assert groups(Nearest(2, order="given").fit_predict(X)) == [[0, 3], [1, 2], [4, 5, 6]]


def test_nearest_takes_people_already_in_its_list_only_once():
    """Every turn's list is made beforehand; those who left since must not come back."""
    X = np.repeat(np.arange(40.0), 10)[:, None]
    labels = Nearest(7, random_state=3).fit_predict(X)
    turns = np.random.default_rng(3).permutation(len(X))
    expected, made = np.full(len(X), -1), 0
    for seed in turns:
        left = np.flatnonzero(expected < 0)
        if expected[seed] >= 0:
            continue
        if len(left) < 14:
            expected[left] = made
            break
        left = left[left != seed]
        near = left[np.lexsort((left, np.abs(X[left, 0] - X[seed, 0])))][:6]
        expected[[seed, *near]] = made
        made += 1
    assert (labels == expected).all()


def test_nearest_order_is_random_by_seed():
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert (Nearest(5, 1).fit_predict(X) != Nearest(5, 2).fit_predict(X)).any()
    with pytest.raises(InputError, match="order"):
        Nearest(5, order="alphabetical").fit(X)


def test_mdav_by_hand():
    """Thesis Alg. 2 at k = 2 on seven people.

    Mean 7, furthest 20 with 12; furthest from it 0 with 1. Three are left, 4, 5 and 7: below 2k.
    """
    X = column(0, 1, 4, 5, 7, 12, 20)
    assert groups(Mdav(2).fit_predict(X)) == [[5, 6], [0, 1], [2, 3, 4]]


def test_mdav_by_hand_with_the_rest_in_two():
    """Five people are below 3k and not below 2k: lines 11 to 15.

    Mean 6, furthest 15 with 9; the rest is one group.
    """
    X = column(1, 2, 3, 9, 15)
    assert groups(Mdav(2).fit_predict(X)) == [[3, 4], [0, 1, 2]]


def test_mdav_is_better_than_nearest():
    """Thesis Fig. 2.5: no holes, so members are nearer to their centroid."""
    X = np.random.default_rng(0).multivariate_normal([0, 0], [[1, 1], [1, 3]], 200)

    def loss(labels):
        return sum(
            ((X[labels == g] - X[labels == g].mean(0)) ** 2).sum() for g in np.unique(labels)
        )

    nearest = np.mean([loss(Nearest(5, s).fit_predict(X)) for s in range(5)])
    assert loss(Mdav(5).fit_predict(X)) < 0.9 * nearest


def test_mondrian_by_hand():
    """MIKU Alg. 1 at k = 2: y is wider, cut 2 | 3; the three are below 2k."""
    X = np.array([[0, 0], [1, 10], [2, 20], [3, 30], [9, 40]], dtype=float)
    assert groups(Mondrian(2).fit_predict(X)) == [[0, 1], [2, 3, 4]]


def test_mondrian_cuts_again_along_another_dimension():
    X = np.array([[0, 0], [0, 5], [1, 0], [1, 5], [50, 0], [59, 0], [50, 1], [59, 1]], dtype=float)
    assert groups(Mondrian(2).fit_predict(X)) == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_mondrian_looks_at_n_s_dimensions_only():
    X = np.zeros((8, 3))
    X[:, 2] = np.arange(8)
    wide = Mondrian(4, n_s=3).fit_predict(X)
    assert groups(wide) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    X[:, 0] = [0, 9, 0, 9, 0, 9, 0, 9]
    seen = {tuple(Mondrian(4, s, n_s=1).fit_predict(X)) for s in range(20)}
    assert len(seen) >= 2
    assert len({tuple(Mondrian(4, s).fit_predict(X)) for s in range(20)}) == 1
    for bad in (0, 4):
        with pytest.raises(InputError, match="n_s"):
            Mondrian(4, n_s=bad).fit(X)


def test_mondrian_ties_go_to_the_first_dimension_and_the_lower_index():
    """The paper does not say which of equally wide dimensions is cut, nor how equals are sorted."""
    X = np.array([[0, 1], [0, 0], [1, 1], [1, 0]], dtype=float)
    assert groups(Mondrian(2).fit_predict(X)) == [[0, 1], [2, 3]]
    assert groups(Mondrian(2).fit_predict(np.ones((5, 2)))) == [[0, 1], [2, 3, 4]]


def test_mondrian_draws_dimensions_anew_for_every_set():
    """Steps 2 and 5 of Alg. 1: with n_s = 1 of two, some cut goes along the other one."""
    X = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    cuts = set()
    for seed in range(20):
        labels = Mondrian(4, seed, n_s=1).fit_predict(X)
        cuts |= {tuple(np.ptp(X[labels == g], axis=0)) for g in range(labels.max() + 1)}
    assert cuts == {(1.0, 1.0), (3.0, 0.0), (0.0, 3.0)}


def test_mondrian_reads_wide_codes_in_blocks():
    X = np.random.default_rng(0).standard_normal((9000, 2))
    X[8999, 1] = 100.0
    labels = Mondrian(4500).fit_predict(X)
    assert set(labels[X[:, 1] < np.sort(X[:, 1])[4500]]) == {0}


def test_overlap_counts_touching():
    """Eq. 4.3 has ≥ where Alg. 4 has <; the stricter one is taken."""
    assert overlap(column(0, 2), column(2, 4))
    assert not overlap(column(0, 2), column(2.01, 4))
    assert overlap(column(1), column(1))
    assert not overlap(column(1), column(1.5))


def test_opposed_by_hand():
    """Two heaps of three, and one straggler who joins the nearer one without moving its mean."""
    X = column(0, 1, 2, 10, 11, 12, 7)
    fitted = Opposed(3, random_state=0).fit(X)
    low, high = fitted.labels_[0], fitted.labels_[3]
    assert low != high
    assert fitted.partition_.partner.tolist() == [1, 0]
    sizes = np.bincount(fitted.labels_)
    assert sorted(sizes) == [3, 4]
    assert fitted.partition_.core.sum() == 6
    assert fitted.exceptions_ == 0


def test_opposed_leaves_the_centroid_when_the_rest_joins():
    """Thesis 4.2: the values of the centroids are not updated during this process."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((23, 4))
    fitted = Opposed(4, random_state=1).fit(X)
    found = fitted.partition_
    assert (np.bincount(found.labels[found.core]) == 4).all()
    joined = np.flatnonzero(~found.core)
    assert len(joined) == 7
    assert set(found.labels[joined]) <= {found.n_groups - 2, found.n_groups - 1}
    centres = found.centroids(X)
    for row in joined:
        own = found.labels[row]
        assert np.linalg.norm(X[row] - centres[own]) <= np.linalg.norm(X[row] - centres[own ^ 1])


def test_opposed_to_the_letter_freezes_at_the_first_overlap():
    """In many dimensions the thesis' centroid is one or two people: why `least` is k."""
    X = np.random.default_rng(0).standard_normal((60, 60))
    literal = Opposed(5, 0, least=1).fit(X).partition_
    assert np.bincount(literal.labels[literal.core]).max() <= 2
    assert np.bincount(literal.labels).min() >= 5
    ours = Opposed(5, 0).fit(X).partition_
    assert np.bincount(ours.labels[ours.core]).min() == 5
    for bad in (0, 6):
        with pytest.raises(InputError, match="least"):
            Opposed(5, least=bad).fit(X)


def test_mondrian_reads_from_disk_what_it_has_in_memory(tmp_path, monkeypatch):
    """Large sets are halved on disk, small ones in memory; the groups are those of one table."""
    X = np.random.default_rng(0).integers(0, 50, (500, 12)).astype(np.float32)
    X.tofile(tmp_path / "codes.f32")
    mapped = np.memmap(tmp_path / "codes.f32", np.float32, "r", shape=X.shape)
    whole = Mondrian(4, 3, n_s=5).fit_predict(X)
    for at_hand in (0, 700, 3000):
        monkeypatch.setattr("everyface.grouping.mondrian._AT_HAND", at_hand)
        assert (Mondrian(4, 3, n_s=5).fit_predict(mapped) == whole).all()
