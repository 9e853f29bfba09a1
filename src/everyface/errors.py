"""What goes wrong, said in one sentence that tells what, where and what to do."""

from __future__ import annotations


class EveryfaceError(Exception):
    """Base of every error that a user can cause and mend.

    Parameters
    ----------
    what
        What is wrong and where, one sentence without a full stop.
    todo
        What the user can do about it, one sentence without a full stop.
    """

    exit_code = 2

    def __init__(self, what: str, todo: str = "") -> None:
        self.what = what
        self.todo = todo
        super().__init__(f"{what}. {todo}." if todo else f"{what}.")


class InputError(EveryfaceError):
    """The photos, folders or options given cannot be used."""


class PhotoError(InputError):
    """One photo cannot be used; it stops that photo alone."""


class TooFewPeopleError(InputError):
    """Fewer distinct people than k: no grouping can protect anybody."""


class ModelError(EveryfaceError):
    """Weights are missing, damaged, or may not be used this way."""

    exit_code = 3


class OutputError(EveryfaceError):
    """The release cannot be written where it was asked for."""

    exit_code = 4


class BreachError(EveryfaceError):
    """A release does not hold what its certificate says."""

    exit_code = 5


class EveryfaceWarning(UserWarning):
    """Something a careful user wants to know, that does not stop the work."""
