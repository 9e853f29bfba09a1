"""The note that lies in every release, for those who receive it."""

from __future__ import annotations

from everyface.release.signer import fingerprint

_LEVELS = {
    "k-anonymous": "Every picture is shared, byte for byte, by at least {k} people.",
    "wrong-map": (
        "No picture was made from the person it stands for, and the most similar original\n"
        "belongs to somebody else. The pictures are not {k} equal copies."
    ),
    "measured": "Nothing is proven about these pictures.",
}
_RUN = 'What attacks on them found stands in certificate.json under "gate".'
_NOT_RUN = "No attack was tried on them: nobody knows whether people can be recognised."


def readme(level: str, k: int, gate_run: bool, public_key: str) -> bytes:
    """Write the note: what this is, what it promises, and how to check it."""
    lines = [
        "The faces in these pictures were replaced by Everyface.",
        "",
        _LEVELS[level].format(k=k),
        _RUN if gate_run else _NOT_RUN,
        "",
        "Check it:",
        "    pip install everyface",
        "    everyface verify FOLDER --key KEY",
        "",
        "KEY is the publisher's public key or its fingerprint. Get it from the publisher by",
        "another way than this folder. This release says that it was signed by",
        f"    {fingerprint(public_key)}",
        "",
        "certificate.json says what was done. It does not hold anybody's name.",
        "",
    ]
    return "\n".join(lines).encode("ascii")
