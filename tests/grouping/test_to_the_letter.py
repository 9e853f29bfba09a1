"""The papers' algorithms written out line by line, slow and plain, beside what we run."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.grouping import KMember, Mdav, Mondrian, Nearest, OnePass, Opposed
from everyface.grouping.opposed import overlap

sets = st.tuples(
    st.integers(2, 6), st.integers(0, 40), st.integers(1, 6), st.integers(0, 2**32 - 1)
)
"""k, people beyond the least number, dimensions, seed."""
each_set = settings(max_examples=60, deadline=None)


def codes(n: int, d: int, seed: int) -> np.ndarray:
    """Codes without ties, where the papers leave nothing open."""
    return np.random.default_rng(seed).standard_normal((n, d))


def apart(X: np.ndarray, row: int, point: np.ndarray) -> float:
    return float(np.linalg.norm(X[row] - point))


def knn(X: np.ndarray, left: list[int], point: np.ndarray, count: int) -> list[int]:
    return sorted(left, key=lambda row: apart(X, row, point))[:count]


def numbered(groups: list[list[int]], n: int) -> list[int]:
    labels = [-1] * n
    for number, members in enumerate(groups):
        for row in members:
            labels[row] = number
    return labels


@each_set
@given(drawn=sets)
def test_algorithm_1_of_the_thesis(drawn):
    k, more, d, seed = drawn
    X = codes(k + more, d, seed)
    turns, left, groups = np.random.default_rng(seed).permutation(len(X)), set(range(len(X))), []
    for x in turns.tolist():
        if x in left:
            wanted = len(left) if len(left) < 2 * k else k  # lines 3-5
            groups.append(knn(X, sorted(left), X[x], wanted))
            assert x in groups[-1]
            left -= set(groups[-1])
    assert Nearest(k, seed).fit_predict(X).tolist() == numbered(groups, len(X))


@each_set
@given(drawn=sets)
def test_algorithm_2_of_the_thesis(drawn):
    """Also that the order of lines 5 and 7 does not matter: s is looked for among all, as there."""
    k, more, d, seed = drawn
    X = codes(k + more, d, seed)
    left, groups = list(range(len(X))), []

    def take(row: int) -> None:
        groups.append(knn(X, left, X[row], k))
        left[:] = [other for other in left if other not in groups[-1]]

    while len(left) >= 3 * k:
        mean = X[left].mean(axis=0)
        r = max(left, key=lambda row: apart(X, row, mean))
        s = max(left, key=lambda row: apart(X, row, X[r]))
        take(r)
        take(s)
    if len(left) >= 2 * k:
        mean = X[left].mean(axis=0)
        take(max(left, key=lambda row: apart(X, row, mean)))
    groups.append(left)
    assert Mdav(k).fit_predict(X).tolist() == numbered(groups, len(X))


@each_set
@given(drawn=sets)
def test_algorithm_1_of_miku(drawn):
    k, more, d, seed = drawn
    X = codes(k + more, d, seed)
    groups: list[list[int]] = []

    def halve(V: list[int]) -> None:
        if len(V) < 2 * k:  # step 1
            groups.append(V)
            return
        widths = [X[V, j].max() - X[V, j].min() for j in range(d)]  # steps 2 and 3, N_s = d
        ordered = sorted(V, key=lambda i: X[i, int(np.argmax(widths))])  # step 4
        halve(ordered[: len(V) // 2])
        halve(ordered[len(V) // 2 :])

    halve(list(range(len(X))))
    assert Mondrian(k, seed).fit_predict(X).tolist() == numbered(groups, len(X))


def algorithm_3(X, k, seed, least):
    """Clusters of k-Same-furthest, and who counts in the frozen centroids.

    Where one person is nearest to both centroids, lines 10 to 12 would add them to both clusters;
    here the furthest cluster takes them, and the other its next.
    """
    rng, left, groups, core = np.random.default_rng(seed), list(range(len(X))), [], set()
    while len(left) >= 2 * k:
        c = [left.pop(rng.integers(len(left)))]
        f = [max(left, key=lambda row: apart(X, row, X[c[0]]))]
        left.remove(f[0])
        while len(c) < k:
            more_f = knn(X, left, X[f].mean(axis=0), 1)
            more_c = knn(X, [x for x in left if x not in more_f], X[c].mean(axis=0), 1)
            if len(c) >= least and overlap(X[c + more_c], X[f + more_f]):
                break  # lines 15-19
            c, f = c + more_c, f + more_f
            left = [x for x in left if x not in more_c + more_f]
        core |= {*c, *f}
        mu_c, mu_f = X[c].mean(axis=0), X[f].mean(axis=0)
        f += knn(X, left, mu_f, k - len(f))  # lines 22-23
        left = [x for x in left if x not in f]
        c += knn(X, left, mu_c, k - len(c))  # lines 24-25
        left = [x for x in left if x not in c]
        groups += [c, f]
    for x in left:  # lines 30-34
        groups[-2 if apart(X, x, mu_f) > apart(X, x, mu_c) else -1].append(x)
    return numbered(groups, len(X)), sorted(core)


@each_set
@given(drawn=sets, every=st.booleans())
def test_algorithm_3_of_the_thesis(drawn, every):
    k, more, d, seed = drawn
    X = codes(2 * k + more, d, seed)
    labels, core = algorithm_3(X, k, seed, k if every else 1)
    found = Opposed(k, seed, least=None if every else 1).fit(X).partition_
    assert found.labels.tolist() == labels
    assert np.flatnonzero(found.core).tolist() == core
    assert (found.partner == (np.arange(found.n_groups) ^ 1)).all()


def first_is_drawn_first(n: int) -> int:
    """Find a seed whose first turn begins with row 0."""
    return next(seed for seed in range(1000) if np.random.default_rng(seed).integers(n) == 0)


def test_somebody_nearest_to_both_centroids_goes_to_the_furthest_cluster():
    """Alg. 3 does not say what lines 10 to 13 do then; k = 2, from 0: 10 takes 4, 0 takes −7."""
    X = np.array([[0.0], [10.0], [4.0], [-7.0]])
    labels = Opposed(2, first_is_drawn_first(4)).fit_predict(X)
    assert labels.tolist() == [0, 1, 1, 0]


def test_somebody_as_near_to_both_last_clusters_joins_the_furthest():
    """Alg. 3, lines 30 to 34: the else branch."""
    X = np.array([[0.0], [1.0], [10.0], [11.0], [5.5]])
    labels = Opposed(2, first_is_drawn_first(5)).fit_predict(X)
    assert labels.tolist() == [0, 0, 1, 1, 1]


def test_mdav_keeps_r_and_s_apart_where_everybody_is_as_far():
    """Alg. 2 to the letter may find s in the group that r has just taken away."""
    X = np.eye(9)
    sizes = np.bincount(Mdav(3).fit_predict(X))
    assert sizes.tolist() == [3, 3, 3]
    assert np.bincount(Mdav(3).fit_predict(np.ones((9, 2)))).tolist() == [3, 3, 3]


def test_a_seed_stays_in_its_own_group_among_duplicates():
    """Alg. 1 and 2 call kNN(H, x, k) with x in H: of equal rows the first k need not hold x."""
    X = np.zeros((12, 2))
    turns = np.random.default_rng(5).permutation(12)
    labels = Nearest(3, random_state=5).fit_predict(X)
    assert labels[turns[0]] == 0
    assert np.bincount(labels).tolist() == [3, 3, 3, 3]


@each_set
@given(drawn=sets)
def test_greedy_k_member_of_byun(drawn):
    """Figure 2 of the paper; all attributes are numbers."""
    k, more, d, seed = drawn
    X = codes(k + more, d, seed)
    domain = X.max(axis=0) - X.min(axis=0)

    def loss(members: list[int]) -> float:
        ranges = X[members].max(axis=0) - X[members].min(axis=0)
        return len(members) * float((ranges / domain).sum())

    def distance(one: int, other: int) -> float:
        return float((np.abs(X[one] - X[other]) / domain).sum())

    left, groups = list(range(len(X))), []
    r = int(np.random.default_rng(seed).integers(len(X)))
    while len(left) >= k:
        r = max(left, key=lambda row: distance(row, r))
        left.remove(r)
        c = [r]
        while len(c) < k:
            best = min(left, key=lambda row: loss([*c, row]) - loss(c))
            left.remove(best)
            c.append(best)
        groups.append(c)
    for r in left:
        min(groups, key=lambda c: loss([*c, r]) - loss(c)).append(r)
    assert KMember(k, seed).fit_predict(X).tolist() == numbered(groups, len(X))


@each_set
@given(drawn=sets)
def test_one_pass_k_means_of_lin_and_wei(drawn):
    """Figures 2 and 3 of the paper: the clustering stage and the adjustment stage."""
    k, more, d, seed = drawn
    X = codes(k + more, d, seed)
    rng = np.random.default_rng(seed)
    groups = [[int(row)] for row in rng.choice(len(X), len(X) // k, replace=False)]
    seeds = {row for group in groups for row in group}

    def join(row: int, among: list[list[int]]) -> None:
        min(among, key=lambda group: apart(X, row, X[group].mean(axis=0))).append(row)

    for row in sorted(set(range(len(X))) - seeds, key=lambda row: tuple(X[row])):
        join(row, groups)
    out: list[int] = []
    for group in groups:
        if len(group) > k:
            order = knn(X, group, X[group].mean(axis=0), len(group))
            group[:] = order[:k]
            out += order[k:]
    for row in rng.permutation(out).tolist():
        join(int(row), [group for group in groups if len(group) < k] or groups)
    assert OnePass(k, seed).fit_predict(X).tolist() == numbered(groups, len(X))
