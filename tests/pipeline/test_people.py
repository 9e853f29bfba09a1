"""One code a person, whatever the number and the quality of their photos."""

import numpy as np

from everyface.faces import FaceSet
from everyface.pipeline.people import People
from everyface.spaces import Pixels


def test_the_better_photo_counts_more_and_nobody_twice(faces: FaceSet) -> None:
    people = People.of(faces)
    space = Pixels(32).fit(faces)
    codes, rows = people.codes(space, faces), space.transform(faces)
    assert len(codes) == len(people) == faces.n_subjects
    for person in range(len(people)):
        mine = people.of_row == person
        share = faces.quality[mine] / faces.quality[mine].sum()
        np.testing.assert_allclose(codes[person], share @ rows[mine], atol=1e-3)
        assert share.min() < share.max()


def test_one_photo_given_twice_changes_nobody_else(faces: FaceSet) -> None:
    space = Pixels(32).fit(faces)
    twice = faces.take(np.append(np.arange(len(faces)), 0))
    one, two = (People.of(f).codes(space, f) for f in (faces, twice))
    np.testing.assert_array_equal(one[1:], two[1:])


def test_a_photo_without_quality_still_counts_for_its_person() -> None:
    people = People(subject=np.arange(2), of_row=np.array([0, 0, 1]))
    made = people.mean(np.array([[1.0], [3.0], [5.0]]), np.array([0.0, 0.0, 0.0]))
    assert made.ravel().tolist() == [2.0, 5.0]
