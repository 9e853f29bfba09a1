"""The command line: one module a command, and nothing in it that the library does not do."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that was typed, and leave with its exit code."""
    from everyface.cli.app import run

    sys.exit(run(sys.argv[1:]))
