"""People, groups and files counted anew from what is on the disk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from everyface.release.breach import Breach
from everyface.release.certificate import Certificate


def recount(certificate: Certificate, found: Mapping[str, str]) -> Iterator[Breach]:
    """Count everything that the certificate counts.

    Parameters
    ----------
    certificate
        What is claimed.
    found
        File name → SHA-256 of the bytes that were really read.
    """
    yield from _lists(certificate)
    yield from _sums(certificate)
    if certificate.form == "faces":
        yield from _people(certificate)
        if certificate.guarantee.level == "k-anonymous":
            yield from _identical(certificate, found)


def _lists(certificate: Certificate) -> Iterator[Breach]:
    names = [entry.name for entry in certificate.files]
    if len(set(names)) != len(names):
        yield Breach("count", "the certificate lists a file twice")
    if names != sorted(names):
        yield Breach("order", "the certificate lists the files in an order of its own")
    numbers = [group.group for group in certificate.groups]
    if numbers != list(range(1, len(numbers) + 1)):
        yield Breach("count", "the groups are not numbered from 1")
    for entry in certificate.files:
        wanted = len(entry.groups) if certificate.form == "faces" else 0
        if len(entry.people) != wanted or (wanted and wanted != 1):
            yield Breach("count", f"{entry.name} does not list one person for one face")


def _sums(certificate: Certificate) -> Iterator[Breach]:
    files = Counter(group for entry in certificate.files for group in set(entry.groups))
    for entry in certificate.groups:
        number, counted = entry.group, files[entry.group]
        if counted != entry.files:
            yield Breach("count", f"group {number} claims {entry.files} files and has {counted}")
        if entry.people < certificate.k:
            yield Breach("below-k", f"group {number}: {entry.people} people, k = {certificate.k}")
    for number in sorted(files.keys() - {group.group for group in certificate.groups}):
        yield Breach("count", f"group {number} has files and is not listed")
    counts = certificate.counts
    sums = {
        "files": (counts.files, len(certificate.files)),
        "faces": (counts.faces, sum(len(entry.groups) for entry in certificate.files)),
        "groups": (counts.groups, len(certificate.groups)),
        "k_reached": (certificate.k_reached, min(g.people for g in certificate.groups)),
        "refused": (certificate.refused.total, sum(certificate.refused.reasons.values())),
    }
    if certificate.form == "faces":
        sums["people"] = (counts.people, sum(group.people for group in certificate.groups))
    elif counts.people > counts.faces:
        yield Breach("count", f"{counts.people} people are claimed in {counts.faces} faces")
    for name, (claimed, counted) in sums.items():
        if claimed != counted:
            yield Breach("count", f"the certificate claims {claimed} {name}, there are {counted}")


def _people(certificate: Certificate) -> Iterator[Breach]:
    """Faces form: count the pseudonyms of every group; nobody stands in two."""
    people: dict[int, set[str]] = defaultdict(set)
    home: dict[str, int] = {}
    for entry in certificate.files:
        for group, person in zip(entry.groups, entry.people, strict=False):
            people[group].add(person)
            if home.setdefault(person, group) != group:
                yield Breach("two-groups", f"person {person} stands in two groups")
    for listed in certificate.groups:
        counted = len(people[listed.group])
        if counted != listed.people:
            yield Breach(
                "below-k" if counted < certificate.k else "count",
                f"group {listed.group} claims {listed.people} people and has {counted}",
            )


def _identical(certificate: Certificate, found: Mapping[str, str]) -> Iterator[Breach]:
    """k-anonymous: one group, one picture, byte for byte, shared by at least k people."""
    pictures: dict[int, set[str]] = defaultdict(set)
    groups: dict[str, set[int]] = defaultdict(set)
    people: dict[str, set[str]] = defaultdict(set)
    for entry in certificate.files:
        digest = found.get(entry.name)
        if digest is None:
            continue
        groups[digest].update(entry.groups)
        people[digest].update(entry.people)
        for group in entry.groups:
            pictures[group].add(digest)
    for group, digests in sorted(pictures.items()):
        if len(digests) > 1:
            yield Breach("not-identical", f"group {group} holds {len(digests)} different pictures")
    for digest, numbers in groups.items():
        if len(numbers) > 1:
            yield Breach("shared-bytes", f"groups {sorted(numbers)} hold the same picture")
        if len(people[digest]) < certificate.k:
            yield Breach(
                "below-k",
                f"the picture of group {min(numbers)} ({digest[:12]}…) is shared by "
                f"{len(people[digest])} people, k = {certificate.k}",
            )
