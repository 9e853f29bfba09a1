from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from everyface.errors import InputError, OutputError
from everyface.release import read_key_map
from everyface.release.certificate import IMAGES
from tests.release import build


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def test_the_key_map_leads_back_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    out = build.release(plan, tmp_path / "out", private="beside")
    private = tmp_path / "out.private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert modes(private) == {0o600}
    found = read_key_map(private)
    assert found["seed"] == build.SEED
    assert {Path(file["original"]) for file in found["files"]} == set(plan.sources)
    certified = {f"{IMAGES}/{f['name']}": f["people"] for f in build.certificate(out)["files"]}
    assert {file["released"]: file["pseudonyms"] for file in found["files"]} == certified


def test_an_encrypted_key_map_opens_with_its_passphrase_alone(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    build.release(plan, tmp_path / "out", private=tmp_path / "mine", passphrase="four words")
    raw = (tmp_path / "mine" / "key_map.enc").read_bytes()
    assert b"anna" not in raw
    assert str(build.SEED).encode() not in raw
    assert len(read_key_map(tmp_path / "mine", "four words")["files"]) == 14
    with pytest.raises(InputError, match="passphrase is wrong"):
        read_key_map(tmp_path / "mine", "five words")
    with pytest.raises(InputError, match="give its passphrase"):
        read_key_map(tmp_path / "mine")
    data = json.loads(raw)
    data["release"] = "0" * 32
    (tmp_path / "mine" / "key_map.enc").write_text(json.dumps(data))
    with pytest.raises(InputError, match="does not open"):
        read_key_map(tmp_path / "mine", "four words")


@pytest.mark.parametrize("text", [b"", b"[1]", b'{"release": 3}', b"\xff\xfe"])
def test_a_damaged_key_map_is_one_clear_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "key_map.enc").write_bytes(text)
    with pytest.raises(InputError, match="cannot be read"):
        read_key_map(tmp_path, "x")


def test_refused_originals_go_to_quarantine(tmp_path: Path) -> None:
    gone = tmp_path / "berta" / "b.jpg"
    gone.parent.mkdir()
    gone.write_bytes(b"pixels")
    missing = tmp_path / "nowhere" / "b.jpg"
    refused = [(gone, "a face was missed"), (missing, "it cannot be read")]
    plan = build.draft(tmp_path / "in", refused=refused)
    build.release(plan, tmp_path / "out", private="beside")
    quarantine = tmp_path / "out.private" / "quarantine"
    assert modes(quarantine) == {0o600}
    assert (quarantine / "00001_b.jpg").read_bytes() == b"pixels"
    assert gone.exists()
    rows = list(csv.reader((quarantine / "reasons.csv").read_text().splitlines()))
    assert rows[1] == ["00001_b.jpg", str(gone), "a face was missed"]
    assert rows[2] == ["", str(missing), "it cannot be read"]


def test_the_key_map_of_another_release_is_never_overwritten(tmp_path: Path) -> None:
    plan = build.draft(tmp_path / "in")
    build.release(plan, tmp_path / "one", private=tmp_path / "keys")
    before = (tmp_path / "keys" / "key_map.json").read_bytes()
    with pytest.raises(OutputError, match="not of this release"):
        build.release(plan, tmp_path / "two", private=tmp_path / "keys", seed=5)
    assert (tmp_path / "keys" / "key_map.json").read_bytes() == before
    assert not (tmp_path / "two").exists()
    build.release(plan, tmp_path / "again", private=tmp_path / "keys")


def test_a_folder_of_other_things_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="already exists"):
        build.release(build.draft(tmp_path / "in"), tmp_path / "out", private=tmp_path / "keys")
    assert (tmp_path / "keys" / "thesis.txt").exists()
