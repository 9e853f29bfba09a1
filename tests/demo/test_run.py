"""The demo, run whole with a few people, and the page that it leaves."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from everyface.demo import run as demo
from everyface.errors import OutputError
from everyface.faces import identity
from everyface.release import read_key_map, verify

COUNT = 10


class Page(HTMLParser):
    """What a browser would show and fetch."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.images: list[str] = []
        self.fetched: list[str] = []
        self.text = ""
        self._open: str | None = None
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("h1", "h2"):
            self._open = tag
            self.headings.append("")
        if tag == "img":
            self.images.append(given["src"])
        elif tag in ("script", "link", "iframe", "object", "source", "a"):
            self.fetched.append(given.get("src") or given.get("href") or tag)

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open:
            self.headings[-1] += data.strip()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a demo before one attacker: tests/recipes has them all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "RECOGNISERS", {"sface": identity.RECOGNISERS["sface"]})
        return demo.run(tmp_path_factory.mktemp("demo") / "demo-release", count=COUNT)


def test_both_releases_hold(shown: Path) -> None:
    faces, photos = (verify(shown.parent / form) for form in demo.FORMS)
    assert (faces.form, photos.form) == demo.FORMS
    assert faces.k == photos.k == demo.K
    assert faces.guarantee == "k-anonymous"
    assert faces.people == COUNT
    assert photos.guarantee == "measured"
    for found in (faces, photos):
        assert isinstance(found.gate, dict)
        for attack in found.gate["attacks"]:
            assert attack["found"] / attack["people"] <= 1 / demo.K


def test_nothing_is_left_lying_about(shown: Path) -> None:
    names = {path.name for path in shown.parent.iterdir() if not path.name.startswith(".")}
    assert names == {
        *("index.html", "people", "faces", "faces.private", "photos", "photos.private"),
    }
    assert len(list((shown.parent / "people").rglob("*.jpg"))) == COUNT * demo.PHOTOS


def test_the_page_stands_alone(shown: Path) -> None:
    page = Page(shown)
    assert all(source.startswith("data:image/jpeg;base64,") for source in page.images)
    assert page.fetched == []
    assert not re.search(r"url\((?!data:)|@import|https?://", shown.read_text("utf-8"))
    assert str(shown.parent) not in shown.read_text("utf-8")


def test_the_page_shows_everybody(shown: Path) -> None:
    page = Page(shown)
    held = read_key_map(shown.parent / "photos.private")
    groups = {path.read_bytes() for path in (shown.parent / "faces" / "images").iterdir()}
    originals = COUNT * demo.PHOTOS
    assert len(page.images) == originals + len(held["files"]) + len(groups)
    for person in range(1, COUNT + 1):
        assert f"person {person:03d}" in page.text
    assert page.headings[0] == "Everyface: the demo"
    assert len([h for h in page.headings if h.startswith("Group")]) == len(groups)


def test_the_figures_are_those_of_the_certificates(shown: Path) -> None:
    page = Page(shown)
    for form in demo.FORMS:
        found = verify(shown.parent / form)
        assert isinstance(found.gate, dict)
        assert f"Released, {form}" in page.text
        for attack in found.gate["attacks"]:
            assert f"{attack['found']} of {attack['people']}" in page.text
        for reason in found.lowered_by:
            assert reason in page.text


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    out = tmp_path / "holiday"
    out.mkdir()
    (out / "beach.jpg").write_bytes(b"precious")
    with pytest.raises(OutputError, match="not of the demo"):
        demo.run(out, count=COUNT)
    assert (out / "beach.jpg").read_bytes() == b"precious"


def test_an_earlier_demo_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "demo"
    out.mkdir()
    (out / demo._MARK).write_bytes(b"")
    (out / "old").write_bytes(b"")

    def stop(*_: object, **__: object) -> list[Path]:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo.people, "make", stop)
    with pytest.raises(KeyboardInterrupt):
        demo.run(out, count=COUNT)
    assert [path.name for path in out.iterdir()] == [demo._MARK]
