from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from everyface.cli.output import output, print_json
from everyface.guarantee import Guarantee, Level


def printed(capsys, document) -> object:
    print_json(document)
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_everything_that_a_result_holds_has_a_json_form(capsys) -> None:
    document = {
        "path": Path("a/b"),
        "number": np.float32(0.5),
        "array": np.arange(3),
        "level": Level.K_ANONYMOUS,
        "guarantee": Guarantee(Level.MEASURED, ("merged",)),
        "nothing": float("nan"),
        "deep": [{"x": (1, float("inf"))}],
        "word": "ü",
    }
    assert printed(capsys, document) == {
        "path": "a/b",
        "number": 0.5,
        "array": [0, 1, 2],
        "level": 2,
        "guarantee": {"level": 0, "lowered_by": ["merged"]},
        "nothing": None,
        "deep": [{"x": [1, None]}],
        "word": "ü",
    }


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        print_json({"x": object()})


def test_json_stays_alone_on_standard_output(capsys) -> None:
    with output(as_json=True) as out:
        sys.stdout.write("a library chatters\n")
        out.say("text for people")
        out.table(["A"], [["b"]])
        out.document({"done": True})
    seen = capsys.readouterr()
    assert json.loads(seen.out) == {"done": True}
    assert "a library chatters" in seen.err
    assert "people" not in seen.out + seen.err


def test_a_failure_prints_no_document_of_its_own(capsys) -> None:
    with pytest.raises(ValueError, match="broken"), output(as_json=True) as out:
        out.document({"done": True})
        raise ValueError("broken")
    assert capsys.readouterr().out == ""


def test_text_is_printed_as_it_is(capsys) -> None:
    with output(as_json=False) as out:
        out.say("[bold]not markup[/bold] " + "long " * 60)
        out.table(["NAME"], [["[red]x"]])
    seen = capsys.readouterr().out
    assert seen.startswith("[bold]not markup[/bold] long")
    assert len(seen.splitlines()) == 3
    assert "[red]x" in seen
