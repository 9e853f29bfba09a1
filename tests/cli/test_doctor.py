from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from everyface.cli import doctor
from everyface.models import store


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVERYFACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: asked(0))
    return tmp_path / "cache"


def asked(code: int, error: str = "") -> SimpleNamespace:
    return SimpleNamespace(returncode=code, stderr=error)


def verdicts(document) -> dict[str, str]:
    return {finding["about"]: finding["verdict"] for finding in document["findings"]}


def test_a_fit_machine(cli) -> None:
    ran = cli("doctor")
    assert ran.code == 0
    assert "This machine is fit." in ran.out
    document = cli("doctor", "--json").document
    assert document["fit"] is True
    assert "bad" not in verdicts(document).values()


def test_a_damaged_model_is_bad_and_says_what_to_do(cli) -> None:
    where = store.path("sface")
    where.parent.mkdir(parents=True)
    where.write_bytes(b"half")
    ran = cli("doctor")
    assert ran.code == 1
    assert "everyface models pull sface" in ran.out
    assert "mend the 1 thing marked bad" in ran.out


def test_a_cache_that_cannot_be_written(cli, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert verdicts(ran.document)["cache"] == "bad"


def test_a_full_disk(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=10**8))
    assert verdicts(cli("doctor", "--json").document)["disk"] == "bad"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (asked(1, "ERROR: connection refused"), "not reached"),
        (asked(1, "No module named pip"), "no pip"),
    ],
)
def test_no_package_index(cli, monkeypatch: pytest.MonkeyPatch, answer, says: str) -> None:
    monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: answer)
    ran = cli("doctor")
    assert ran.code == 1
    assert says in ran.out


def test_an_index_is_not_needed_when_every_model_is_here(cli, monkeypatch) -> None:
    monkeypatch.setattr(doctor.subprocess, "run", lambda *_, **__: asked(1))
    monkeypatch.setattr(store, "status", lambda _: store.Status(store.State.PRESENT, 1))
    assert verdicts(cli("doctor", "--json").document)["package index"] == "good"


def test_a_key_that_others_can_read(cli, tmp_path: Path) -> None:
    cli("key")
    (tmp_path / "keys" / "signing_key.pem").chmod(0o644)
    assert verdicts(cli("doctor", "--json").document)["signing key"] == "bad"


def test_looking_makes_no_key(cli, tmp_path: Path) -> None:
    cli("doctor")
    assert not (tmp_path / "keys").exists()
