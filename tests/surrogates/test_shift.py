"""k-Diff-furthest: Theorem 4, Eq. 5.2, and single people both ways."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.grouping import Opposed, Partition
from everyface.grouping.opposed import overlap
from everyface.grouping.wrongmap import own_nearest
from everyface.guarantee import Level
from everyface.surrogates import Shift
from everyface.surrogates.cut import cut

from .checks import grouped, nearest_original, own_is_nearest, people, unkind

RNG = np.random.default_rng


def pairs_of(codes: np.ndarray, k: int, seed: int) -> Partition:
    return Opposed(k, seed).fit(codes).partition_


def sides(found: Partition, group: int) -> tuple[list[int], list[int]]:
    return (
        np.flatnonzero(found.labels == group).tolist(),
        np.flatnonzero(found.labels == found.partner[group]).tolist(),
    )


@pytest.mark.parametrize("d", [1, 2, 5, 20, 59])
@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("spread", ["ball", "distance"])
def test_theorem_4(d, k, spread):
    """The nearest original is never one's own, single people included by the random vector."""
    for seed in range(4):
        codes = people(47, d, seed)
        made = Shift(spread=spread)(codes, pairs_of(codes, k, seed), RNG(seed))
        assert not any(nearest_original(codes, made.codes[p]) == p for p in range(47))
        assert dict(made.notes)["share nearest to their own original"] == 0
        assert made.guarantee.level is Level.WRONG_MAP


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), [(47, 3, 5), (40, 20, 4), (23, 59, 6), (13, 2, 3)])
def test_cut_puts_everybody_once_into_clusters_that_do_not_touch(assign, n, d, k):
    for seed in range(6):
        X = people(n, d, seed).astype(np.float64)
        found = pairs_of(X, k, seed)
        seen: list[int] = []
        for group in range(0, found.n_groups, 2):
            own = sides(found, group)
            parts = cut(X, own, RNG(seed), assign=assign)
            for pair in parts.pairs:
                assert not pair.single
                assert set(pair.sides[0]) <= set(own[0])
                assert set(pair.sides[1]) <= set(own[1])
                if not pair.forced:
                    assert not overlap(X[pair.sides[0]], X[pair.sides[1]])
                seen += [*pair.sides[0], *pair.sides[1]]
            seen += [person for person, _ in parts.lone]
            assert not (assign and parts.lone)
            assert assign or not any(pair.forced for pair in parts.pairs)
        assert sorted(seen) == list(range(n))


def test_theorem_4_holds_with_algorithm_5_for_all_whom_it_did_not_touch():
    for seed in range(10):
        X = people(60, 10, seed).astype(np.float64)
        found = pairs_of(X, 5, seed)
        for group in range(0, found.n_groups, 2):
            for pair in cut(X, sides(found, group), RNG(seed), assign=True).pairs:
                c, f = pair.sides
                step = X[f].mean(axis=0) - X[c].mean(axis=0)
                if not pair.forced:
                    assert all(nearest_original(X, X[p] + step) != p for p in c)
                    assert all(nearest_original(X, X[p] - step) != p for p in f)


def test_distances_inside_a_cluster_stay():
    """Eq. 5.2; two heaps far apart are one pair of clusters, the whole groups."""
    X = people(10, 4) * 0.1
    X[5:] += 10
    found = pairs_of(X, 5, 0)
    made = Shift()(X, found, RNG(0))
    assert dict(made.notes)["share under the single-member case"] == 0
    for half in (slice(0, 5), slice(5, 10)):
        before = np.linalg.norm(X[half, None] - X[None, half], axis=2)
        after = np.linalg.norm(made.codes[half, None] - made.codes[None, half], axis=2)
        np.testing.assert_allclose(after, before, atol=1e-5)
    np.testing.assert_allclose(made.codes[:5].mean(0), X[5:].mean(0), atol=1e-5)
    np.testing.assert_allclose(made.codes[5:].mean(0), X[:5].mean(0), atol=1e-5)


def test_by_hand():
    """Eq. 5.1 on a line: centroids 1 and 11, so everybody moves by ten."""
    X = np.array([[0], [1], [2], [10], [11], [12]], dtype=np.float32)
    made = Shift()(X, pairs_of(X, 3, 0), RNG(0))
    assert made.codes.ravel().tolist() == [10, 11, 12, 0, 1, 2]


def test_single_people_get_a_random_face_near_the_other():
    """Eq. 5.11 and 5.12 with r = ¼‖μc − μf‖: near the other, and never the other's very face."""
    X = people(40, 300)
    found = pairs_of(X, 5, 0)
    reach = {}
    for spread in ("ball", "distance"):
        made = Shift(spread=spread)(X, found, RNG(1))
        assert dict(made.notes)["share under the single-member case"] == 1
        near = [nearest_original(X, face) for face in made.codes]
        off = np.linalg.norm(made.codes - X[near], axis=1)
        apart = np.linalg.norm(X - X[near], axis=1)
        assert (off <= apart / 4 + 1e-5).all()
        assert (off > 0).all()
        assert (found.labels[near] == found.partner[found.labels]).all()
        reach[spread] = (off / apart * 4).mean()
    assert reach["ball"] > 0.99, "u^(1/n) lies near the surface in many dimensions"
    assert 0.3 < reach["distance"] < 0.7, "u is uniform"


def test_radius_follows_the_law_asked_for():
    """Kolmogorov-Smirnov against u and u^(1/n)."""
    from scipy.stats import kstest

    for spread, power in (("distance", 1.0), ("ball", 3.0)):
        rule, rng = Shift(spread=spread), RNG(0)
        sizes = [np.linalg.norm(rule._draw(2.0, 3, rng)) / 2 for _ in range(2000)]
        assert kstest(sizes, lambda x, p=power: np.clip(x, 0, 1) ** p).pvalue > 0.01


def test_assigning_is_counted_and_lowers_the_promise_where_it_fails():
    X = people(100, 128)
    found = pairs_of(X, 3, 0)
    made = Shift("assign")(X, found, RNG(0))
    own = [nearest_original(X, made.codes[p]) == p for p in range(len(X))]
    assert any(own)
    assert dict(made.notes)["share nearest to their own original"] == np.mean(own)
    assert dict(made.notes)["share under the single-member case"] > 0.5
    assert made.guarantee.level is Level.MEASURED
    assert f"{sum(own)} of 100 people" in made.guarantee.lowered_by[-1]


def test_identical_people_are_owned_up_to():
    X = np.ones((8, 3), dtype=np.float32)
    made = Shift()(X, pairs_of(X, 2, 0), RNG(0))
    assert made.guarantee.level is Level.MEASURED


def test_refusals():
    X = people()
    with pytest.raises(InputError, match="pairs"):
        Shift()(X, grouped(X), RNG(0))
    with pytest.raises(InputError, match="single is 'merge'"):
        Shift("merge")(X, pairs_of(X, 4, 0), RNG(0))
    with pytest.raises(InputError, match="spread is 'cube'"):
        Shift(spread="cube")(X, pairs_of(X, 4, 0), RNG(0))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), spread=st.sampled_from(["ball", "distance"]))
def test_theorem_4_on_any_codes_without_duplicates(data, spread):
    X = np.unique(data.draw(unkind(data.draw(st.integers(4, 50)))), axis=0)
    k = min(data.draw(st.integers(2, 6)), len(X) // 2)
    assume(k >= 2)
    seed = data.draw(st.integers(0, 1000))
    made = Shift(spread=spread)(X, pairs_of(X, k, seed), RNG(seed))
    assert not own_is_nearest(X, made.codes).any()
    assert made.guarantee.level is Level.WRONG_MAP


def test_theorem_4_needs_clusters_that_do_not_even_touch():
    """Alg. 4 line 15 lets spheres touch (<), Eq. 4.3 does not (≥); touching, there can be a tie."""
    X = np.array([[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
    assert overlap(X[:1], X[1:])
    moved = X[:1] - X[:1].mean(axis=0) + X[1:].mean(axis=0)
    assert own_nearest(X, moved, np.zeros(3, dtype=np.int32))[0]


def distances(X: np.ndarray) -> np.ndarray:
    return np.linalg.norm(X[:, None] - X[None], axis=2)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1000),
    k=st.integers(2, 8),
    more=st.integers(0, 15),
    d=st.integers(1, 12),
    single=st.sampled_from(["random", "assign"]),
)
def test_equation_5_2_and_the_notes(seed, k, more, d, single):
    """One pair of groups: the rule cuts it as `cut` does, and moves each cluster as a whole."""
    X = people(2 * k + more % (2 * k), d, seed)
    found = pairs_of(X, k, seed)
    assert found.n_groups == 2
    made = Shift(single)(X, found, RNG(seed))
    parts = cut(X.astype(np.float64), sides(found, 0), RNG(seed), assign=single == "assign")
    for pair in parts.pairs:
        for one, other in (pair.sides, pair.sides[::-1]):
            np.testing.assert_allclose(distances(made.codes[one]), distances(X[one]), atol=1e-4)
            np.testing.assert_allclose(made.codes[one].mean(0), X[other].mean(0), atol=1e-4)
    touched = [person for person, _ in parts.lone]
    touched += [p for pair in parts.pairs if pair.forced for p in (*pair.sides[0], *pair.sides[1])]
    assert dict(made.notes)["share under the single-member case"] == len(touched) / len(X)
    for person, near in parts.lone:
        off = np.linalg.norm(made.codes[person] - X[near])
        assert 0 < off <= np.linalg.norm(X[person] - X[near]) / 4 + 1e-5


def nearest(X, rows, cluster):
    """The row nearest to the mean of a cluster, as a list; empty where there are no rows."""
    return sorted(rows, key=lambda row: np.linalg.norm(X[row] - X[cluster].mean(axis=0)))[:1]


def furthest(X, rows, one):
    return max(rows, key=lambda row: np.linalg.norm(X[row] - X[one]))


def plain_cut(X, groups, rng, assign):
    """Alg. 4 within two groups, and Alg. 5 or the people who stand alone, written out plainly."""
    left, pairs, lone = [list(groups[0]), list(groups[1])], [], []
    while left[0] and left[1]:
        c = left[0].pop(int(rng.integers(len(left[0]))))
        f = furthest(X, left[1], c)
        left[1].remove(f)
        pair = [[c], [f]]
        while left[0] or left[1]:
            more = [nearest(X, left[s], pair[s]) for s in (0, 1)]
            if overlap(X[pair[0] + more[0]], X[pair[1] + more[1]]):
                break
            pair = [pair[s] + more[s] for s in (0, 1)]
            left = [[x for x in left[s] if x not in more[s]] for s in (0, 1)]
        if len(pair[0]) > 1 or len(pair[1]) > 1:
            pairs.append([pair, False])
        elif not assign:
            lone += [(c, f), (f, c)]
        elif left[0] or left[1]:  # Alg. 5, lines 1-6
            s = 0 if len(left[0]) >= len(left[1]) else 1
            joining = nearest(X, left[s], pair[s])
            pair[s] = pair[s] + joining
            left[s] = [x for x in left[s] if x not in joining]
            pairs.append([pair, True])
        else:
            left = pair
            break
    return pairs, lone + plain_rest(X, groups, left, pairs, assign)


def plain_rest(X, groups, left, pairs, assign):
    """Those whose counterparts are used up: Alg. 5, lines 7-16, or a cluster they do not touch."""
    lone = []
    for s in (0, 1):
        for x in left[s]:
            means = [X[pair[s]].mean(axis=0) for pair, _ in pairs]
            near = sorted(range(len(pairs)), key=lambda i: np.linalg.norm(X[x] - means[i]))
            fits = [i for i in near if not overlap(X[[*pairs[i][0][s], x]], X[pairs[i][0][1 - s]])]
            if assign:
                pairs[near[0]][1] = True
                pairs[near[0]][0][s].append(x)
            elif fits:
                pairs[fits[0]][0][s].append(x)
            else:
                lone.append((x, furthest(X, groups[1 - s], x)))
    return lone


@pytest.mark.parametrize("assign", [False, True])
@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 8),
    more=st.integers(0, 15),
    d=st.integers(1, 9),
)
def test_algorithm_4_and_5_written_out(assign, seed, k, more, d):
    X = RNG(seed).standard_normal((2 * k + more, d))
    found = pairs_of(X, k, 0)
    parts = cut(X, sides(found, 0), RNG(seed), assign=assign)
    pairs, lone = plain_cut(X, sides(found, 0), RNG(seed), assign)
    assert [[[*pair.sides], pair.forced] for pair in parts.pairs] == pairs
    assert parts.lone == lone


def test_random_faces_are_drawn_by_the_law_in_a_whole_release():
    """Eq. 5.11 and 5.12 as released: u = ‖γ* − μ‖ / r, or its n-th power, is uniform in (0, 1]."""
    from scipy.stats import kstest

    d = 200
    for spread, power in (("distance", 1), ("ball", d)):
        u, towards = [], []
        for seed in range(10):
            X = people(40, d, seed)
            made = Shift(spread=spread)(X, pairs_of(X, 5, seed), RNG(seed))
            assert dict(made.notes)["share under the single-member case"] == 1
            near = np.array([nearest_original(X, face) for face in made.codes])
            off = made.codes.astype(np.float64) - X[near]
            length = np.linalg.norm(off, axis=1)
            u += ((length / np.linalg.norm(X - X[near], axis=1) * 4) ** power).tolist()
            towards += (off / length[:, None]).tolist()
        assert kstest(u, "uniform").pvalue > 0.001
        bias = np.linalg.norm(np.mean(towards, axis=0))
        assert bias < 0.1, "no direction is preferred: 400 of them average to about 1/20"
