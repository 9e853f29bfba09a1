"""What every surrogate rule must hold, run over all that are registered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everyface.errors import InputError
from everyface.guarantee import Level
from everyface.surrogates import RULES

from .checks import NAMES, own_is_nearest, partition_for, people, unkind

each = pytest.mark.parametrize("name", NAMES)


@each
@pytest.mark.parametrize("n", [8, 9, 30, 61])
def test_everybody_gets_a_code(name, n):
    codes = people(n)
    made = RULES[name]()(codes, partition_for(name, codes), np.random.default_rng(0))
    assert made.codes.dtype == np.float32
    assert made.codes.shape[1] == codes.shape[1]
    assert np.isfinite(made.codes).all()
    assert made.source.dtype == np.int32
    assert made.source.shape == (n,)
    assert sorted(np.unique(made.source)) == list(range(len(made.codes))), "no code unused"


@each
def test_k_anonymous_means_shared_by_k(name):
    codes = people()
    made = RULES[name]()(codes, partition_for(name, codes, k=5), np.random.default_rng(0))
    sharing = np.bincount(made.source)
    if made.guarantee.level is Level.K_ANONYMOUS:
        assert sharing.min() >= 5
        assert dict(made.notes)["fewest people sharing a surrogate"] == sharing.min()
        assert dict(made.notes)["fewest people averaged in a surrogate"] >= 5
    else:
        assert made.guarantee.lowered_by


@each
def test_members_of_a_group_fare_alike_where_faces_are_shared(name):
    codes = people()
    found = partition_for(name, codes)
    made = RULES[name]()(codes, found, np.random.default_rng(0))
    if made.guarantee.level is Level.K_ANONYMOUS:
        for group in range(found.n_groups):
            assert len(np.unique(made.source[found.labels == group])) == 1


@each
def test_same_seed_same_bytes(name):
    codes = people()
    found = partition_for(name, codes)
    one, two = (RULES[name]()(codes, found, np.random.default_rng(7)) for _ in range(2))
    assert one.codes.tobytes() == two.codes.tobytes()
    assert one.source.tobytes() == two.source.tobytes()
    assert one.notes == two.notes


@each
def test_the_codes_given_are_left_alone(name):
    codes = people()
    before = codes.copy()
    RULES[name]()(codes, partition_for(name, codes), np.random.default_rng(0))
    assert (codes == before).all()


@each
def test_no_original_is_handed_out(name):
    codes = people(80, 40)
    made = RULES[name]()(codes, partition_for(name, codes), np.random.default_rng(0))
    apart = np.linalg.norm(made.codes[:, None] - codes[None], axis=2)
    assert apart.min() > 0.05


@each
def test_guarantees_are_declared(name):
    level = {"mean": 2, "neighbour": 2, "swap": 2, "shift": 1}[name]
    codes = people()
    made = RULES[name]()(codes, partition_for(name, codes), np.random.default_rng(0))
    assert made.guarantee.level == level


@each
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_claimed_is_so(name, data):
    """Whatever the codes: the level, its reasons and the notes are those that counting finds."""
    k = data.draw(st.integers(2, 5))
    codes = data.draw(unkind(data.draw(st.integers(2 * k, 2 * k + 30))))
    seed = data.draw(st.integers(0, 1000))
    made = RULES[name]()(codes, partition_for(name, codes, k, seed), np.random.default_rng(seed))
    notes, own = dict(made.notes), own_is_nearest(codes, made.codes[made.source])
    assert np.isfinite(made.codes).all()
    assert (made.guarantee.level is Level.K_ANONYMOUS) == (made.guarantee.lowered_by == ())
    if name != "mean":
        assert notes["share nearest to their own original"] == own.mean()
    if name == "shift":
        assert (made.guarantee.level is Level.WRONG_MAP) == (not own.any())
    else:
        assert made.guarantee.level is Level.K_ANONYMOUS
        assert np.bincount(made.source).min() >= k
        assert notes["fewest people averaged in a surrogate"] >= k


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_numbers_are_refused_by_row(name, bad):
    """Groups may have been made in another space, so that nobody has looked at these codes yet."""
    codes = people()
    found = partition_for(name, codes)
    codes[17, 3] = bad
    with pytest.raises(InputError, match="row 17"):
        RULES[name]()(codes, found, np.random.default_rng(0))


@each
@pytest.mark.parametrize("n", [60, 62])
def test_one_code_a_person(name, n):
    with pytest.raises(InputError, match=f"{n} codes were given for 61 people"):
        RULES[name]()(people(n), partition_for(name, people()), np.random.default_rng(0))
