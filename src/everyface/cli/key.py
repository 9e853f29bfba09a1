"""``everyface key``: the public half of the key that signs your releases."""

from __future__ import annotations

from dataclasses import dataclass

from everyface.cli.options import Json, takes
from everyface.cli.output import output


@dataclass(frozen=True, kw_only=True)
class Key:
    """What can be said on the command line."""

    as_json: Json = False


@takes(Key)
def key(options: Key) -> None:
    """Show the public key that your releases are signed with; it is made on first use.

    Publish the fingerprint where people already trust you (a web page, a paper), so that a
    receiver can hold a release against it:

        everyface verify RELEASE --key FINGERPRINT
    """
    from everyface.release.signer import Signer, key_folder

    with output(options.as_json) as out:
        signer = Signer.load()
        out.document(
            {
                "public_key": signer.public_key,
                "fingerprint": signer.fingerprint,
                "folder": key_folder(),
            }
        )
        out.say(
            f"public key   {signer.public_key}",
            f"fingerprint  {signer.fingerprint}",
            f"kept in      {key_folder()} (the private half: keep it secret and back it up)",
            "",
            "A receiver checks with it:  everyface verify RELEASE --key "
            + signer.fingerprint.replace(" ", ""),
        )
