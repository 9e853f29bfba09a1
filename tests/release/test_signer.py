from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from everyface.errors import InputError
from everyface.release import Signer
from everyface.release.signer import CONTEXT, PRIVATE, PUBLIC, is_signed, key_folder, same_key
from tests.release.build import ATTACKER, PUBLISHER


def test_a_key_is_made_once_and_kept_for_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = Signer.load(folder)
    assert Signer.load(folder).public_key == first.public_key
    assert stat.S_IMODE((folder / PRIVATE).stat().st_mode) == 0o600
    assert (folder / PUBLIC).read_text().strip() == first.public_key
    assert {path.name for path in folder.iterdir()} == {PRIVATE, PUBLIC}


def test_the_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERYFACE_KEYS", str(tmp_path / "moved"))
    assert key_folder() == tmp_path / "moved"
    Signer.load()
    assert (tmp_path / "moved" / PRIVATE).exists()


def test_two_at_once_use_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: Signer.load(tmp_path / "k").public_key, range(16)))
    assert len(keys) == 1


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    Signer.load(tmp_path)
    (tmp_path / PRIVATE).chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        Signer.load(tmp_path)


def test_a_damaged_or_foreign_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / PRIVATE
    path.write_bytes(b"not a key")
    with pytest.raises(InputError, match="cannot be read"):
        Signer.load(tmp_path)
    other = X25519PrivateKey.generate()
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(InputError, match="not an Ed25519 key"):
        Signer.load(tmp_path)


def test_a_signature_means_this_data_this_key_and_this_purpose() -> None:
    signature = PUBLISHER.sign(b"data")
    assert is_signed(b"data", PUBLISHER.public_key, signature)
    assert not is_signed(b"datA", PUBLISHER.public_key, signature)
    assert not is_signed(b"data", ATTACKER.public_key, signature)
    assert not is_signed(CONTEXT + b"data", PUBLISHER.public_key, signature)
    assert not is_signed(b"data", "00" * 31, signature)


def test_a_key_may_be_given_in_every_sensible_way(tmp_path: Path) -> None:
    key = PUBLISHER.public_key
    file = tmp_path / "key.pub"
    file.write_text(f"{PUBLISHER.fingerprint}\n")
    for given in (key, key.upper(), PUBLISHER.fingerprint, str(file), file):
        assert same_key(key, given)
        assert not same_key(ATTACKER.public_key, given)


@pytest.mark.parametrize("given", ["abc", "", "no/such/file"])
def test_what_is_no_key_is_said_so(given: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        same_key(PUBLISHER.public_key, given)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InputError, match="neither a public key nor a fingerprint"):
        same_key(PUBLISHER.public_key, tmp_path / "text")
