"""The shared checks, run over every registered grouping."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from everyface.errors import InputError, TooFewPeopleError
from everyface.grouping import GROUPINGS

from .checks import NAMES, UP_TO_2K, Case, cases, people_per_group

each = pytest.mark.parametrize("name", NAMES)


@each
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_groups_hold_k_people_and_people_stay_whole(name, data):
    case: Case = data.draw(cases(GROUPINGS[name].pairs))
    fitted = case.fit(name)
    labels = fitted.labels_
    assert labels.dtype == np.int32
    assert sorted(np.unique(labels)) == list(range(fitted.partition_.n_groups))
    assert people_per_group(labels, case.subjects).min() >= case.k
    for person in np.unique(case.subjects):
        assert len(np.unique(labels[case.subjects == person])) == 1


@pytest.mark.parametrize("name", UP_TO_2K)
@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_sizes_lie_in_k_to_2k_minus_1(name, case):
    sizes = people_per_group(case.fit(name).labels_, case.subjects)
    assert sizes.min() >= case.k
    assert sizes.max() <= 2 * case.k - 1


@each
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_same_seed_same_groups(name, data):
    case = data.draw(cases(GROUPINGS[name].pairs))
    one, two = case.fit(name), case.fit(name)
    assert one.labels_.tobytes() == two.labels_.tobytes()
    if one.partition_.core is not None:
        assert (one.partition_.core == two.partition_.core).all()


@each
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_partner_and_core_make_sense(name, data):
    case = data.draw(cases(GROUPINGS[name].pairs))
    found = case.fit(name).partition_
    if GROUPINGS[name].pairs == 1:
        assert found.partner is None
        return
    groups = np.arange(found.n_groups)
    assert (found.partner != groups).all()
    assert (found.partner[found.partner] == groups).all()
    assert people_per_group(found.labels[found.core], case.subjects[found.core]).min() >= case.k


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_numbers_are_refused_by_row(name, bad):
    X = np.random.default_rng(0).standard_normal((30, 3))
    X[17, 1] = bad
    with pytest.raises(InputError, match="row 17"):
        GROUPINGS[name](k=3).fit(X)


@each
def test_too_few_people_are_refused_even_with_many_photos(name):
    need = GROUPINGS[name].pairs * 4
    X = np.random.default_rng(0).standard_normal((10 * need, 3))
    with pytest.raises(TooFewPeopleError, match=f"needs at least {need} people"):
        GROUPINGS[name](k=4).fit(X, subjects=np.arange(len(X)) % (need - 1))
    GROUPINGS[name](k=4).fit(X, subjects=np.arange(len(X)) % need)


@each
@pytest.mark.parametrize("k", [1, 0, -3, 2.5])
def test_k_must_be_a_whole_number_from_two(name, k):
    with pytest.raises(InputError, match="k is"):
        GROUPINGS[name](k=k).fit(np.zeros((20, 2)))


@each
@pytest.mark.parametrize("shape", [(20,), (20, 0), (20, 2, 2)])
def test_codes_must_be_a_table(name, shape):
    with pytest.raises(InputError, match="shape"):
        GROUPINGS[name](k=2).fit(np.zeros(shape))


@each
def test_one_subject_a_row(name):
    with pytest.raises(InputError, match="3 subjects were given for 20 rows"):
        GROUPINGS[name](k=2).fit(np.zeros((20, 2)), subjects=[0, 1, 2])


@each
@pytest.mark.parametrize("k", [2, 3, 7])
def test_smallest_sets(name, k):
    pairs = GROUPINGS[name].pairs
    rng = np.random.default_rng(k)
    for n in (pairs * k, pairs * k + k - 1):
        labels = GROUPINGS[name](k=k, random_state=0).fit_predict(rng.standard_normal((n, 4)))
        assert labels.max() + 1 == pairs


@each
def test_it_is_a_scikit_learn_clusterer(name):
    made = GROUPINGS[name](k=3, random_state=5)
    assert clone(made).get_params() == made.get_params()
    X = np.random.default_rng(0).standard_normal((20, 3))
    assert (made.fit_predict(X) == made.fit(X).labels_).all()


@each
def test_names_of_subjects_may_be_text(name):
    X = np.random.default_rng(0).standard_normal((24, 3))
    people = np.array([f"person {i % 12}" for i in range(24)])
    labels = GROUPINGS[name](k=3, random_state=0).fit_predict(X, subjects=people)
    assert (labels[:12] == labels[12:]).all()


@each
def test_close_photos_of_a_person_count_once(name):
    """Twelve photos of one person are no group of twelve."""
    rng = np.random.default_rng(1)
    X = np.concatenate(
        [np.zeros((12, 2)) + rng.standard_normal((12, 2)) * 1e-3, 5 + rng.standard_normal((8, 2))]
    )
    people = np.concatenate([np.zeros(12, int), np.arange(1, 9)])
    labels = GROUPINGS[name](k=3, random_state=0).fit_predict(X, subjects=people)
    assert people_per_group(labels, people).min() >= 3
