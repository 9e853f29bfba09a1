"""The house rules that a machine can hold, and documents that say nothing that is not so."""

from __future__ import annotations

import ast
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from everyface import recipe
from everyface.cli.app import app
from everyface.grouping import GROUPINGS
from everyface.models import registry
from everyface.spaces import SPACES
from everyface.surrogates import RULES

ROOT = Path(__file__).parent.parent
SKIPPED = {".git", ".venv", "build", "dist", "__pycache__"}
TEXT = {".py", ".md", ".toml", ".j2", ".txt", ".html"}
UNFINISHED = re.compile(
    "|".join(["TO" + "DO", "FIX" + "ME", r"\bX" + r"XX\b", "NotImplemented" + "Error"])
    + r"|pytest\.mark\.(skip|xfail)|pytest\.(skip|xfail)\("
)
"""Spelt apart, so that this file obeys its own rule."""
MODULE_LINES, FUNCTION_LINES, ARGUMENTS = 400, 60, 8


def files(*suffixes: str) -> Iterator[Path]:
    for folder, inside, names in os.walk(ROOT):
        inside[:] = [name for name in inside if name not in SKIPPED and not name.startswith(".")]
        yield from (Path(folder) / name for name in names if Path(name).suffix in suffixes)


PAGES = sorted(files(".md"))
MODULES = sorted(path for path in files(".py") if path.is_relative_to(ROOT / "src"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_nothing_is_left_unfinished() -> None:
    found = [
        f"{shown(path)}:{number}: {line.strip()}"
        for path in files(*TEXT)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert found == []


def test_modules_are_short() -> None:
    lengths = {shown(path): path.read_text("utf-8").count("\n") for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > MODULE_LINES} == {}


def test_functions_are_short_and_take_few_arguments() -> None:
    found = []
    for path in MODULES:
        for node in functions(path):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            taken = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
            count = len([name for name in taken if name not in ("self", "cls")])
            if lines > FUNCTION_LINES or count > ARGUMENTS:
                found.append(f"{shown(path)}:{node.name}: {lines} lines, {count} arguments")
    assert found == []


def test_every_room_has_its_layer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [contract] = project["tool"]["importlinter"]["contracts"]
    placed = set(re.findall(r"\w+", " ".join(contract["layers"])))
    rooms = {path.parent.name for path in (ROOT / "src" / "everyface").glob("*/__init__.py")}
    assert rooms <= placed


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8"))
    local = [target for target in targets if not target.startswith(("http:", "https:", "mailto:"))]
    assert [target for target in local if not (page.parent / target).exists()] == []


def commands(page: Path) -> Iterator[list[str]]:
    """Every command line of ours that a page shows, in code blocks and within sentences."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`(everyface [^`]+)`", text)
    for line in lines:
        words = shlex.split(line, comments=True)
        if words and words[0].endswith("everyface"):
            yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_that_a_page_shows_exist(page: Path) -> None:
    for words in commands(page):
        command, options = get_command(app), set()
        for word in words:
            options |= {name for param in command.params for name in param.opts}
            options |= {name for param in command.params for name in param.secondary_opts}
            if word.startswith("-"):
                assert word.split("=")[0] in options, f"everyface {' '.join(words)}: {word}"
            elif hasattr(command, "commands"):
                assert word in command.commands, f"everyface {' '.join(words)}: {word}"
                command = command.commands[word]


def test_options_that_the_documents_name_exist() -> None:
    tree = get_command(app)
    known = {"--no-deps"}
    stack = [tree]
    while stack:
        command = stack.pop()
        known |= {name for param in command.params for name in param.opts + param.secondary_opts}
        stack += getattr(command, "commands", {}).values()
    for page in (ROOT / "README.md", ROOT / "docs" / "faq.md", ROOT / "docs" / "recipes.md"):
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text("utf-8")))
        assert named <= known, shown(page)


def test_tests_that_the_documents_name_exist() -> None:
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    held = set(re.findall(r"def (test_\w+)", "\n".join(path.read_text("utf-8") for path in tests)))
    for page in PAGES:
        text = page.read_text("utf-8")
        assert set(re.findall(r"`(test_\w+)`", text)) <= held, shown(page)
        for name in re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", text):
            assert any(shown(path).endswith(name) for path in tests), f"{shown(page)}: {name}"


def test_make_targets_that_the_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        text = page.read_text("utf-8")
        named = re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", text, re.MULTILINE)
        assert {a or b for a, b in named} <= targets
        assert named


def test_python_in_the_documents_is_python() -> None:
    for page in PAGES:
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            ast.parse(block)


def test_variables_that_the_documents_name_are_read() -> None:
    source = "\n".join(path.read_text("utf-8") for path in MODULES)
    for page in PAGES:
        for name in re.findall(r"EVERYFACE_[A-Z]+", page.read_text("utf-8")):
            assert f'"{name}"' in source, f"{shown(page)} names {name}"


def test_every_recipe_and_part_is_documented() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in recipe.names():
        assert f"`{name}`" in page
        assert f"`{name}`" in readme
    for name in (*SPACES, *GROUPINGS, *RULES):
        assert f"`{name}`" in page


def test_the_table_of_recipes_is_what_the_recipes_say() -> None:
    page = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    for name in recipe.names():
        found = recipe.load(name)
        rows = re.findall(rf"^\| `{name}`.*$", page, re.MULTILINE)
        cells = [cell.strip() for cell in rows[0].strip("|").split("|")]
        assert cells[1].startswith(found.group_space.name)
        assert cells[2:5] == [
            found.grouping.name,
            found.synthesis_space.name,
            found.surrogate.name,
        ]


def test_the_recipe_that_the_documents_show_can_be_used(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "recipes.md").read_text("utf-8")
    [example] = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mine.toml").write_text(example)
    assert recipe.load(tmp_path / "mine.toml").grouping.name == "mdav"


def test_every_model_says_its_licence() -> None:
    assert all(entry.licence for entry in registry.entries())


def test_the_ci_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
