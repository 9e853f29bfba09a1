"""Every example in a docstring runs, as somebody would type it in a folder with photos."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import shutil
from pathlib import Path

import pytest

import everyface
from everyface.faces import FaceSet, identity
from everyface.pipeline import anonymize

MODULES = sorted(
    ["everyface", *(m.name for m in pkgutil.walk_packages(everyface.__path__, "everyface."))]
)
FINDER = doctest.DocTestFinder(exclude_empty=True)
HOW = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def with_examples() -> list[doctest.DocTest]:
    sources = {name: importlib.util.find_spec(name) for name in MODULES}
    told = [
        name
        for name, spec in sources.items()
        if spec and spec.origin and ">>>" in Path(spec.origin).read_text("utf-8")
    ]
    found = [test for name in told for test in FINDER.find(importlib.import_module(name), name)]
    return [test for test in found if test.examples]


EXAMPLES = with_examples()


@pytest.fixture(scope="session")
def released(faces: FaceSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "RECOGNISERS", {"sface": identity.RECOGNISERS["sface"]})
        return anonymize(faces, 5, "k-same-eigen", random_state=1).save(folder)


@pytest.fixture
def desk(synthetic: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with photos of twelve people, each in a folder of their own."""
    shutil.copytree(synthetic[0].parents[1], tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(identity, "RECOGNISERS", {"sface": identity.RECOGNISERS["sface"]})
    return tmp_path


@pytest.mark.parametrize("test", EXAMPLES, ids=[test.name for test in EXAMPLES])
def test_the_example_is_true(
    test: doctest.DocTest, desk: Path, faces: FaceSet, request: pytest.FixtureRequest
) -> None:
    if test.name.endswith(".verify"):
        shutil.copytree(request.getfixturevalue("released"), desk / "release")
    test.globs = {**test.globs, "faces": faces}
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=HOW).run(test, out=said.append).failed
    assert not failed, "".join(said)


@pytest.mark.parametrize("name", [n for n in everyface.__all__ if n[0].islower()])
def test_what_users_call_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(everyface, name).__doc__ or "")


def test_the_readmes_example_is_the_packages() -> None:
    """The README's lines are run with the package's docstring."""
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    [block] = [part.split("```")[0] for part in readme.split("```python\n")[1:]]
    run = [e.source for test in EXAMPLES if test.name == "everyface" for e in test.examples]
    typed = [line for line in block.splitlines() if line]
    assert len(typed) == len(run)
    assert [
        line for line, source in zip(typed, run, strict=True) if not source.startswith(line)
    ] == []


def test_what_a_user_of_the_library_keeps_has_an_example() -> None:
    assert ">>>" in (everyface.Release.save.__doc__ or "")
