"""What becomes of merged faces that fail the last look."""

from types import SimpleNamespace

import numpy as np

from everyface.merge import Background
from everyface.pipeline.stages import RAISED, PhotosStage


def stage(policy: Background = Background.KEEP) -> PhotosStage:
    """Three people; the second and third stand in one photo."""
    faces = SimpleNamespace(photo=np.array([0, 1, 1], np.int32))
    return PhotosStage(None, np.zeros((3, 1), np.int32), np.arange(3), faces, policy)


def test_their_background_is_raised_step_by_step_and_then_they_go() -> None:
    held = stage()
    for wanted in RAISED:
        held.give_up(np.array([1]))
        assert held.background(1) == wanted
        assert held.background(0) == (Background.KEEP, 1.0)
        assert not held.gone.any()
    held.give_up(np.array([1]))
    assert held.gone.tolist() == [False, True, True]


def test_each_takes_the_step_that_is_left_to_it() -> None:
    held = stage()
    held.level[0] = len(RAISED)
    held.give_up(np.array([0, 2]))
    assert held.gone.tolist() == [True, False, False]
    assert held.background(1) == RAISED[0]


def test_where_everything_is_masked_nothing_is_left_to_raise() -> None:
    held = stage(Background.MASK)
    held.give_up(np.array([0]))
    assert held.gone.tolist() == [True, False, False]
