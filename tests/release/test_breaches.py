from __future__ import annotations

from pathlib import Path

import pytest

from everyface.release import verify
from everyface.release.breach import ReleaseBreachError
from tests.release.build import ATTACKER, PUBLISHER, images, stamp
from tests.release.conftest import Fresh
from tests.release.mutators import PLANTED, Planted, edited


@pytest.mark.parametrize("planted", PLANTED, ids=[planted.name for planted in PLANTED])
def test_every_planted_breach_is_caught(planted: Planted, fresh: Fresh) -> None:
    release = fresh(planted.form)
    verify(release, PUBLISHER.public_key)
    planted.do(release)
    with pytest.raises(ReleaseBreachError) as caught:
        verify(release, PUBLISHER.public_key)
    codes = {breach.code for breach in caught.value.breaches}
    assert planted.code in codes, caught.value.breaches
    assert caught.value.exit_code == 5


def test_there_are_many_breaches() -> None:
    names = [planted.name for planted in PLANTED]
    assert len(names) == len(set(names)) >= 35


def test_all_breaches_are_told_at_once(fresh: Fresh) -> None:
    release = fresh("faces")
    images(release)[0].unlink()
    (release / "notes.txt").write_text("x")
    stamp(release)
    edited(lambda data: data.update(k_reached=4))(release)
    with pytest.raises(ReleaseBreachError) as caught:
        verify(release)
    assert {breach.code for breach in caught.value.breaches} == {
        "missing-file",
        "extra-file",
        "count",
    }
    assert "notes.txt" in str(caught.value)


def test_consistent_forgery_passes_only_where_no_key_is_pinned(fresh: Fresh) -> None:
    """Why a receiver needs the key: the attacker rewrites everything and signs it."""
    release = fresh("faces")
    forged = next(planted for planted in PLANTED if planted.name == "signed_by_an_attacker")
    forged.do(release)
    found = verify(release)
    assert not found.key_pinned
    assert found.fingerprint == ATTACKER.fingerprint
    assert any("anybody could have signed" in remark for remark in found.remarks)


def test_a_good_release_is_not_blamed(masters: dict[str, Path]) -> None:
    for form, path in masters.items():
        found = verify(path, PUBLISHER.fingerprint)
        assert (found.form, found.k, found.k_reached) == (form, 3, 3)
        assert (found.files, found.people, found.groups) == (14, 7, 2)
        assert found.key_pinned
