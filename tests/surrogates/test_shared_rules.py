"""Mean, swap and neighbour: one face for a whole group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.grouping import Mdav, Mondrian, Nearest, Opposed, Partition
from everyface.guarantee import Level
from everyface.surrogates import Mean, Neighbour, Swap

from .checks import grouped, nearest_original, people, unkind

RNG = np.random.default_rng


def on_a_line(*at: float, each: int = 3) -> tuple[np.ndarray, Partition]:
    """Groups of `each` people around places on a line."""
    codes = np.repeat(np.array(at, dtype=np.float32), each)[:, None]
    return codes, Partition(np.repeat(np.arange(len(at), dtype=np.int32), each))


def test_mean_is_the_mean():
    codes = people()
    found = grouped(codes)
    made = Mean()(codes, found, RNG(0))
    for row, group in enumerate(found.labels):
        expected = codes[found.labels == group].mean(axis=0)
        np.testing.assert_allclose(made.codes[made.source[row]], expected, atol=1e-6)


def test_mean_of_all_is_the_mean_of_all():
    """Averages keep the average: the utility that k-Same is known for."""
    codes = people(60)
    made = Mean()(codes, grouped(codes), RNG(0))
    np.testing.assert_allclose(made.codes[made.source].mean(0), codes.mean(0), atol=1e-6)


def test_swap_gives_the_partner_s_frozen_mean():
    codes = people(61)
    found = Opposed(4, 0).fit(codes).partition_
    made = Swap()(codes, found, RNG(0))
    assert not found.core.all()
    for row, group in enumerate(found.labels):
        other = (found.labels == found.partner[group]) & found.core
        np.testing.assert_allclose(made.codes[made.source[row]], codes[other].mean(0), atol=1e-6)


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("k", [2, 4])
def test_theorem_3(d, k):
    """Nobody's nearest original is their own with the thesis' centroids; with ours, counted."""
    for seed in range(6):
        codes = people(50, d, seed)
        for least in (1, None):
            grouping = Opposed(k, seed, least=least).fit(codes)
            made = Swap()(codes, grouping.partition_, RNG(0))
            own = [nearest_original(codes, made.codes[made.source[p]]) == p for p in range(50)]
            assert dict(made.notes)["share nearest to their own original"] == np.mean(own)
            assert sum(own) == grouping.exceptions_
            if least == 1:
                assert not any(own)


def test_swap_says_when_few_people_are_in_a_face():
    codes = people(60, 60)
    literal = Swap()(codes, Opposed(5, 0, least=1).fit(codes).partition_, RNG(0))
    assert dict(literal.notes)["fewest people averaged in a surrogate"] < 3


@pytest.mark.parametrize("rule", [Mean(), Swap(), Neighbour(), Neighbour(injective=True)])
def test_the_face_of_one_person_is_not_called_k_anonymous(rule):
    """Many share it, but it is an original; two people in it are the least that is an average."""
    codes = people(60, 60)
    for least, level in ((1, Level.MEASURED), (2, Level.K_ANONYMOUS), (None, Level.K_ANONYMOUS)):
        found = Opposed(5, 0, least=least).fit(codes).partition_
        made = rule(codes, found, RNG(0))
        apart = np.linalg.norm(made.codes[:, None] - codes[None], axis=2)
        originals = int((apart.min(axis=1) < 1e-5).sum())
        assert (originals > 0) == (least == 1)
        assert made.guarantee.level is level
        if least == 1:
            assert f"{originals} surrogates are the code of one" in made.guarantee.lowered_by[0]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nobody_who_matches_faces_is_right_more_often_than_once_in_k(data):
    """Thesis Definition 2.3 and Theorem 1: one face, one guess, and k people behind it."""
    k = data.draw(st.integers(2, 6))
    n = data.draw(st.integers(2 * k, 2 * k + 40))
    codes = data.draw(unkind(n))
    method = data.draw(st.sampled_from([Mdav, Mondrian, Nearest, Opposed]))
    rule = data.draw(st.sampled_from([Mean(), Swap()] if method is Opposed else [Mean()]))
    made = rule(codes, method(k, random_state=0).fit(codes).partition_, RNG(0))
    guess = np.array([nearest_original(codes, face) for face in made.codes])
    right = guess[made.source] == np.arange(n)
    assert right.mean() <= 1 / k
    best = np.unique(made.source, return_index=True)[1]
    assert np.isin(np.arange(n), best).mean() <= 1 / k, "nor by any other guess"


def test_rules_for_pairs_refuse_other_groups():
    codes = people()
    with pytest.raises(InputError, match="pairs"):
        Swap()(codes, grouped(codes), RNG(0))


@pytest.mark.parametrize("injective", [False, True])
@pytest.mark.parametrize("k", [2, 4, 20])
def test_neighbour_is_never_the_own_group(injective, k):
    codes = people()
    found = grouped(codes, k)
    means = found.centroids(codes)
    for seed in range(10):
        made = Neighbour(injective=injective)(codes, found, RNG(seed))
        given = made.codes[made.source]
        apart = np.linalg.norm(given[:, None] - means[None], axis=2)
        assert (apart.min(axis=1) < 1e-5).all()
        assert (apart.argmin(axis=1) != found.labels).all()
        if injective:
            assert len(made.codes) == found.n_groups


def test_candidates_are_the_others_nearest_first():
    codes, found = on_a_line(0, 1, 3, 7)
    expected = [[1, 2, 3], [0, 2, 3], [1, 0, 3], [2, 1, 0]]
    assert Neighbour().candidates(codes, found).tolist() == expected
    assert Neighbour().candidates(codes, found, 1).tolist() == [[1], [0], [1], [2]]
    assert Neighbour().candidates(codes, found, 99).tolist() == expected


def test_candidates_of_equal_means_never_name_oneself():
    codes, found = on_a_line(2, 2, 2, 2, 2)
    listed = Neighbour().candidates(codes, found, 2)
    assert listed.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1]]


def test_cost_comes_first_then_nearness_and_infinity_forbids():
    codes, found = on_a_line(0, 1, 3, 7)
    cost = np.zeros((4, 4))
    cost[0, 1] = 1.0
    cost[1, 0] = cost[1, 3] = np.inf
    listed = Neighbour(cost=cost).candidates(codes, found)
    assert listed.tolist() == [[2, 3, 1], [2, -1, -1], [1, 0, 3], [2, 1, 0]]
    for seed in range(5):
        made = Neighbour(among=3, cost=cost)(codes, found, RNG(seed))
        assert made.codes[made.source[3], 0] == 3.0


def test_among_bounds_the_draw_and_the_draw_varies():
    codes, found = on_a_line(0, 1, 3, 7, 15)
    drawn = [Neighbour(among=2)(codes, found, RNG(s)) for s in range(40)]
    assert {float(m.codes[m.source[0], 0]) for m in drawn} == {1.0, 3.0}
    only = [Neighbour(among=1)(codes, found, RNG(s)) for s in range(5)]
    assert {float(m.codes[m.source[0], 0]) for m in only} == {1.0}


def test_one_each_looks_further_where_it_must():
    """Four groups share one nearest neighbour, which can serve but one of them."""
    codes, found = on_a_line(0, 10, 11, 12, 13)
    made = Neighbour(among=1, injective=True)(codes, found, RNG(0))
    assert len(made.codes) == 5
    assert (made.codes[made.source] != codes).all()


def test_one_each_says_when_it_is_impossible():
    codes, found = on_a_line(0, 1, 2)
    cost = np.zeros((3, 3))
    cost[0, 2] = cost[1, 2] = np.inf
    assert len(Neighbour(cost=cost)(codes, found, RNG(0)).source) == 9
    with pytest.raises(InputError, match="one-to-one"):
        Neighbour(cost=cost, injective=True)(codes, found, RNG(0))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Neighbour(among=0), "among"),
        (Neighbour(cost=np.full((3, 3), np.inf)), "group 0 has no neighbour"),
        (Neighbour(cost=np.zeros((2, 2))), "shape"),
        (Neighbour(cost=np.full((3, 3), np.nan)), "NaN"),
    ],
)
def test_neighbour_refuses(rule, message):
    codes, found = on_a_line(0, 1, 2)
    with pytest.raises(InputError, match=message):
        rule(codes, found, RNG(0))


def test_one_group_has_no_neighbour():
    codes, found = on_a_line(0)
    with pytest.raises(InputError, match="one group alone"):
        Neighbour()(codes, found, RNG(0))
