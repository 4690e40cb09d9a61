"""The wire cases follow their schema, and all references in them resolve."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from penstock_conformance.wire import cases
from penstock_conformance.wire.runner import PROVIDED
from penstock_conformance.wire.template import names_in

DIGESTS = {"body_md5", "body_md5_hex", "body_sha1", "body_sha256", "body_sha256_base64", "body_crc32", "body_length"}
FILES = sorted(cases.FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_follows_the_schema(path):
    validator = jsonschema.Draft202012Validator(json.loads(cases.SCHEMA.read_text()))
    assert [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(json.loads(path.read_text()))] == []


def test_the_schema_rejects_mistakes():
    validator = jsonschema.Draft202012Validator(json.loads(cases.SCHEMA.read_text()))
    good = {"name": "n", "provenance": "recorded", "request": {"method": "GET", "path": "/"}, "expect": {"status": 200}}
    misspelt = {"method": "GET", "path": "/", "heders": {}}
    mistakes = [{"expekt": {}}, {"provenance": "guessed"}, {"request": misspelt}, {"expect": {"header": {}}}]
    mistakes += [{"provenance": "derived"}]  # without the reason
    assert validator.is_valid({"title": "t", "source": "s", "cases": [good]})
    for mistake in mistakes:
        assert not validator.is_valid({"title": "t", "source": "s", "cases": [{**good, **mistake}]}), mistake


def test_each_reference_is_saved_or_provided():
    for case in cases.load():
        saved: set[str] = set()
        for step in case.setup:
            assert names_in(step) <= saved | PROVIDED | DIGESTS, case.name
            saved |= set(step.get("save", {}))
        assert names_in([case.request, case.expect]) <= saved | PROVIDED | DIGESTS, case.name


@pytest.mark.parametrize("case", cases.load(), ids=lambda case: case.name)
def test_each_case_names_a_public_source(case):
    """A pattern of the publishers; `derived` cases have a reason instead, which the schema requires."""
    publishers = {
        # issues and pull requests, or projects that publish responses of S3
        "recorded": r"\w ?#\d|LocalStack|brekkylab/backlot|ceph/s3-tests|quoted in public issues",
        "documented": r"Amazon S3|AWS|Service Authorization Reference|botocore|boto3|s3fs-fuse",
        "rfc": r"RFC \d+",
        "two_foreign_servers": r",|and",
        "derived": r".{20}",
    }
    assert re.search(publishers[case.provenance], case.source), case.source


def test_there_are_over_900_cases_and_few_are_derived():
    found = [case.provenance for case in cases.load()]
    assert len(found) > 900
    assert set(found) <= set(cases.PROVENANCES)
    assert found.count("derived") < len(found) / 10
