from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from everyface.guarantee import Guarantee, Level
from everyface.release import Draft, Item, Settings, Signer, read_key_map, write


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Four people in two groups of two, as noise."""
    photos = tmp_path / "photos"
    photos.mkdir()
    items = []
    for person in range(4):
        source = photos / f"{person}.jpg"
        source.write_bytes(b"an original")
        items.append(Item(source, (person,), (person // 2,)))
    draft = Draft(
        form="faces",
        k=2,
        recipe={"name": "test"},
        guarantee=Guarantee(Level.K_ANONYMOUS),
        items=items,
    )

    def render(item: int) -> np.ndarray:
        rng = np.random.default_rng(items[item].groups[0])
        return rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)

    settings = Settings(
        seed=1, stamp=0, signer=Signer.load(tmp_path / "keys"), passphrase="correct horse"
    )
    attack = {"recogniser": "sface", "against": "the photo", "people": 4, "found": 1}
    found = {"bound": 0.5, "attacks": [attack]}
    return write(draft, tmp_path / "release", render, settings=settings, audit=lambda _: found)


def test_a_good_release(cli, release: Path) -> None:
    ran = cli("verify", release)
    assert ran.code == 0
    assert f"{release} holds what it promises: 4 images" in ran.out
    assert "4 in 2 groups of at least 2 (k = 2), counted from the files" in ran.out
    assert "k-anonymous: every face is shared" in ran.out
    assert "sface found 1 of 4 again (25.0%, 95 % interval 0.6% to 80.6%; allowed 50.0%)" in ran.out
    assert "no key was given" in ran.out


def test_a_good_release_as_json(cli, release: Path) -> None:
    ran = cli("verify", release, "--json")
    assert ran.code == 0
    assert ran.document["holds"] is True
    assert ran.document["k_reached"] == 2


def test_the_fingerprint_that_key_shows_is_the_one_to_give(cli, release: Path) -> None:
    fingerprint = cli("key", "--json").document["fingerprint"]
    ran = cli("verify", release, "--key", fingerprint)
    assert ran.code == 0
    assert "no key was given" not in ran.out
    assert cli("verify", release, "--key", "00" * 32).code == 5


def test_a_breach_is_told_and_ends_with_its_own_code(cli, release: Path) -> None:
    (release / "images" / "extra.png").write_bytes(b"x")
    ran = cli("verify", release)
    assert ran.code == 5
    assert "holds what it promises" not in ran.out
    assert "extra.png" in ran.err
    document = cli("verify", release, "--json").document
    assert any("extra.png" in breach["what"] for breach in document["error"]["breaches"])


def test_no_release_at_all(cli, tmp_path: Path) -> None:
    ran = cli("verify", tmp_path / "nothing")
    assert ran.code == 2
    assert "is not a folder" in ran.err


def test_an_encrypted_key_map_opens_with_its_passphrase_alone(
    cli, release: Path, tmp_path: Path
) -> None:
    private = tmp_path / "release.private"
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("correct horse\n")
    wrong.write_text("wrong horse\n")
    opened = cli("keymap", private, "--passphrase-file", right, "--json")
    assert opened.code == 0
    assert opened.document == read_key_map(private, "correct horse")
    refused = cli("keymap", private, "--passphrase-file", wrong)
    assert refused.code == 2
    assert "passphrase is wrong" in refused.err
    assert refused.out == ""
    unasked = cli("keymap", private)
    assert unasked.code == 2
    assert "--passphrase-file" in unasked.err


def test_a_key_map_says_who_is_who_and_hides_the_seed(cli, release: Path, tmp_path: Path) -> None:
    (tmp_path / "right").write_text("correct horse\n")
    private = tmp_path / "release.private"
    held = read_key_map(private, "correct horse")
    shown = cli("keymap", private, "--passphrase-file", tmp_path / "right").out
    lines = shown.splitlines()
    for entry in held["files"]:
        assert [
            *filter(lambda line: entry["released"] in line and entry["original"] in line, lines)
        ]
    for entry in held["refused"]:
        assert entry["reason"] in shown
    assert "never publish" in shown
    assert "seed" not in shown


def test_key_shows_a_line_to_copy(cli, release: Path, tmp_path: Path) -> None:
    from everyface.release import Signer

    Signer.load(tmp_path / "keys")
    words = cli("key").out.split("everyface verify ")[1].split()
    assert words[:2] == ["RELEASE", "--key"]
    assert len(words) == 3
    assert cli("verify", release, *words[1:]).code == 0


def test_key_is_made_once_and_stays(cli, tmp_path: Path) -> None:
    first, second = cli("key").out, cli("key").out
    assert first == second
    assert str(tmp_path / "keys") in first
    assert (tmp_path / "keys" / "signing_key.pem").stat().st_mode & 0o077 == 0
