"""The emulator passes the wire cases, except for known deviations."""

from __future__ import annotations

import json
from pathlib import Path

import boto3
import pytest
from penstock_conformance.wire import cases
from penstock_conformance.wire.runner import Report, Runner
from penstock_conformance.wire.signing import Identity

# Reason for a deviation: the cases that show it.
DEVIATIONS: dict[str, list[str]] = json.loads(Path(__file__).with_name("known_deviations.json").read_text())
KNOWN = {name for names in DEVIATIONS.values() for name in names}


def judge(emulator, chosen: list[cases.Case]) -> Report:
    second = Identity(emulator.second_access_key, emulator.second_secret_key)
    runner = Runner(emulator.endpoint, Identity(emulator.access_key, emulator.secret_key), emulator.region, second)
    try:
        return runner.run(chosen)
    finally:
        runner.close()


def unexpected(report: Report) -> list[str]:
    """Unknown failures, and known deviations that pass."""
    wrong = []
    for verdict in report.verdicts:
        name = verdict.case.name
        if verdict.problems and name not in KNOWN:
            wrong.append("\n    ".join([name, *verdict.problems]))
        elif name in KNOWN and not verdict.problems and not verdict.not_run:
            wrong.append(f"{name} passes: remove it from known_deviations.json")
    return wrong


def left_behind(emulator) -> list[str]:
    """Buckets of the cases that still exist, except those in other regions, which this endpoint cannot delete."""
    keys = {"aws_access_key_id": emulator.access_key, "aws_secret_access_key": emulator.secret_key}
    client = boto3.client("s3", endpoint_url=emulator.endpoint, region_name=emulator.region, **keys)
    return [bucket["Name"] for bucket in client.list_buckets(Prefix="conf-", BucketRegion=emulator.region)["Buckets"]]


@pytest.mark.timeout(300)
def test_the_emulator_passes_the_cases(standalone):
    chosen = [case for case in cases.load() if f"not_region:{standalone.region}" not in case.needs]
    report = judge(standalone, chosen)
    assert unexpected(report) == []
    assert report.laws_broken == {}
    assert [verdict.case.name for verdict in report.verdicts if verdict.not_run] == []
    assert left_behind(standalone) == []


def test_the_emulator_passes_the_cases_of_other_regions(start_emulator):
    with start_emulator("--region", "eu-central-1", region="eu-central-1") as emulator:
        chosen = [case for case in cases.load() if any(need.startswith("not_region:") for need in case.needs)]
        assert len(chosen) >= 5
        assert unexpected(judge(emulator, chosen)) == []


def test_throttling_has_the_response_of_s3(start_emulator):
    """Recorded from AWS, including the reason phrase. Not a case, because it needs an injected failure."""
    expect = {"status": 503, "reason": "Slow Down", "error": {"Code": "SlowDown", "Message": "Please reduce your request rate."}}
    case = cases.Case("throttling/slow-down", "recorded", "AWS", {"method": "GET", "path": "/"}, expect, bucket="none")
    with start_emulator("--fail-rate", "1") as emulator:
        report = judge(emulator, [case])
    assert [verdict.problems for verdict in report.failed] == []
    assert report.laws_broken == {}


def test_each_known_deviation_has_cases_and_a_reason():
    assert {case.name for case in cases.load()} >= KNOWN
    assert sum(len(names) for names in DEVIATIONS.values()) == len(KNOWN)
    assert all(len(reason) > 30 for reason in DEVIATIONS)
