from __future__ import annotations

from pathlib import Path

import pytest

from everyface.models import registry, store


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVERYFACE_CACHE", str(folder))
    return folder


def test_list_shows_every_model_and_whether_it_is_here(cli, cache: Path) -> None:
    damaged = store.path("sface")
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"half of it")
    document = cli("models", "list", "--json").document
    states = {model["name"]: model["state"] for model in document["models"]}
    assert set(states) == {entry.name for entry in registry.entries()}
    assert states.pop("sface") == "damaged"
    assert set(states.values()) == {"absent"}
    assert document["folder"] == str(cache)
    text = cli("models", "list").out
    assert all(name in text for name in states)


def test_licences_for_commercial_use_hide_the_others(cli, cache: Path) -> None:
    every = cli("models", "licences", "--json").document["models"]
    allowed = cli("models", "licences", "--commercial", "--json").document["models"]
    assert {model["commercial"] for model in allowed} == {True}
    assert len(allowed) < len(every)


def test_pull_names_what_it_pulled(cli, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(store, "pull", lambda names, tick: asked.extend(names))
    assert cli("models", "pull", "sface", "yunet", "--quiet").out.endswith("sface, yunet\n")
    assert asked == ["sface", "yunet"]


def test_pull_for_commercial_use_leaves_the_others_out(
    cli, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(store, "pull", lambda names, tick: asked.extend(names))
    assert cli("models", "pull", "--commercial").code == 0
    assert asked
    assert all(registry.entry(name).commercial for name in asked)


def test_a_model_that_may_not_be_used_is_refused_by_name(cli, cache: Path) -> None:
    [name, *_] = [entry.name for entry in registry.entries() if not entry.commercial]
    ran = cli("models", "pull", "--commercial", name)
    assert ran.code == 3
    assert "may not be used commercially" in ran.err


def test_an_unknown_model(cli, cache: Path) -> None:
    ran = cli("models", "pull", "sfaze")
    assert ran.code == 3
    assert "there is no model named 'sfaze'" in ran.err


def test_pull_from_a_folder_that_is_not_there(cli, cache: Path, tmp_path: Path) -> None:
    ran = cli("models", "pull", "--from", tmp_path / "wheels")
    assert ran.code == 3
    assert "is not a folder" in ran.err


def test_names_and_a_folder_do_not_go_together(cli, cache: Path, tmp_path: Path) -> None:
    ran = cli("models", "pull", "sface", "--from", tmp_path)
    assert ran.code == 2
    assert "Leave the names out." in ran.err
