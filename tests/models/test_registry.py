import re

import pytest
from pydantic import ValidationError

from everyface.errors import ModelError
from everyface.models import policy, registry

SHA = "0" * 64


def test_every_entry_says_what_is_needed():
    entries = registry.entries()
    assert len(entries) >= 17
    for entry in entries:
        assert entry.licence and entry.note and entry.role
        for file in entry.files:
            assert file.bytes > 1000
            for place in file.places:
                assert place.carrier in registry.registry().carriers
                assert not re.search(r"(^/|\.\.|\\)", place.member)


def test_no_two_files_share_a_name_or_a_hash():
    files = [(entry.name, file) for entry in registry.entries() for file in entry.files]
    assert len({(name, file.name) for name, file in files}) == len(files)
    assert len({file.sha256 for _, file in files}) == len(files)


def test_research_weights_are_not_commercial():
    for entry in registry.entries():
        if re.search(r"research|non-commercial|none stated", entry.licence):
            assert not entry.commercial, entry.name


def test_source_archives_must_be_pinned():
    with pytest.raises(ValidationError, match="without a sha256"):
        registry.Carrier(requirement="a==1", archive="sdist", bytes=1)


def test_versions_must_be_pinned():
    with pytest.raises(ValidationError):
        registry.Carrier(requirement="a>=1", bytes=1)


def test_unknown_carriers_are_refused():
    model = {"role": "r", "note": "n", "licence": "l", "commercial": True}
    file = {"carrier": "nobody", "member": "m", "sha256": SHA, "bytes": 1}
    with pytest.raises(ValidationError, match="unknown carrier nobody"):
        registry.Registry.model_validate(
            {"carriers": {}, "models": {"a": {**model, "files": [file]}}}
        )


def test_unknown_models_are_refused_by_name():
    with pytest.raises(ModelError, match=r"no model named 'nosuch'.*sface"):
        registry.entry("nosuch")


def test_a_models_digest_is_its_files_hash():
    sface = registry.entry("sface")
    assert sface.digest == sface.files[0].sha256
    assert re.fullmatch("[0-9a-f]{64}", registry.entry("stylegan_mapping").digest)


def test_siblings_travel_together():
    assert {e.name for e in registry.siblings("face_mesh")} == {
        "face_mesh",
        "mesh_detector",
        "blendshapes",
        "mesh_geometry",
    }


def test_the_policy_refuses_what_may_not_be_sold(monkeypatch):
    monkeypatch.delenv(policy.VARIABLE, raising=False)
    policy.require_allowed(registry.entry("bisenet"))
    monkeypatch.setenv(policy.VARIABLE, "1")
    policy.require_allowed(registry.entry("sface"))
    with pytest.raises(ModelError, match="bisenet may not be used commercially"):
        policy.require_allowed(registry.entry("bisenet"))


@pytest.mark.parametrize(("value", "refused"), [("", False), ("0", False), ("true", True)])
def test_the_policy_reads_its_variable(monkeypatch, value, refused):
    monkeypatch.setenv(policy.VARIABLE, value)
    assert policy.commercial_only() is refused


def test_restricting_reaches_child_processes(monkeypatch):
    monkeypatch.setenv(policy.VARIABLE, "0")
    policy.restrict()
    assert policy.commercial_only()


def test_licences_are_listed():
    assert ("sface", "Apache-2.0", True) in registry.licences()
