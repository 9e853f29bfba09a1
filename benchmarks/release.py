"""What a release of a set gives away, before the gate and after, in both forms.

    .venv/bin/python -m benchmarks.release --photos FOLDER --subjects 'pattern:{person}_*.jpg'

Each person should have two photos or more, so that every released face is sought among its person's
other photos. Without ``--photos`` it works on synthetic people.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everyface.attacks.scores import Share
from everyface.demo import people
from everyface.pipeline import Options, Secrets, Summary, run
from everyface.release import verify

FORMS = ("faces", "photos")


def released(photos: Sequence[Path], subjects: str, options: Options, out: Path) -> Summary:
    """Anonymise, and verify what was written."""
    made = run(photos, out, subjects, options, secrets=Secrets(seed=1))
    verify(out)
    return made


def rows(form: str, made: Summary, recipe: str) -> list[str]:
    """Return one line a recogniser."""
    gate: dict[str, Any] = dict(made.gate or {})
    first = gate["rounds"][0]["rank1"]
    lines = []
    for attack in gate["attacks"]:
        share = Share(attack["found"], attack["people"])
        low, high = share.interval()
        name = attack["recogniser"]
        cells = [recipe, form, f"{made.released} of {made.photos}", name, f"{first[name]:.3f}"]
        cells += [f"{share.value:.3f} ({low:.3f} to {high:.3f})", f"{gate['bound']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--photos", type=Path, help="a folder of photos")
    parser.add_argument("--subjects", default="folder")
    parser.add_argument("--recipe", nargs="+", default=["everyface"])
    parser.add_argument("-k", type=int, default=5)
    args = parser.parse_args()
    heads = ("recipe", "form", "released", "recogniser", "first look", "written files", "limit")
    print("| " + " | ".join(heads) + " |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    notes = []
    with tempfile.TemporaryDirectory() as held:
        folder = args.photos or Path(held) / "people"
        if args.photos is None:
            people.make(folder, 60, 2)
        for recipe in args.recipe:
            for form in FORMS:
                out = Path(held) / f"{recipe}-{form}"
                options = Options(k=args.k, recipe=recipe, form=form)
                made = released([folder], args.subjects, options, out)
                print("\n".join(rows(form, made, recipe)), flush=True)
                text = json.loads((out / "certificate.json").read_text("utf-8"))
                notes += [f"{recipe}, {form}: {what}" for what in text["carried_over"][1:]]
    print("\n" + "\n".join(f"- {note}" for note in notes))


if __name__ == "__main__":
    main()
