"""The journal of requests in Python, with requests of boto3 and of Penstock's client."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import boto3
import jsonschema
import penstock
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock import S3Client
from penstock._user_agent import UserAgent
from penstock.testing import Emulator, Journal, Namespace

# A schema of the required members of HTTP Archive 1.2 (W3C draft of 2012).
PAIRS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "value"],
        "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
    },
}
ISO_8601 = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"
MESSAGE = ["httpVersion", "cookies", "headers", "headersSize", "bodySize"]
TIME = {"type": "number", "minimum": 0}
SIZE = {"type": "integer", "minimum": -1}
HAR = {
    "type": "object",
    "required": ["log"],
    "properties": {
        "log": {
            "type": "object",
            "required": ["version", "creator", "entries"],
            "properties": {
                "version": {"const": "1.2"},
                "creator": {"type": "object", "required": ["name", "version"]},
                "entries": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["startedDateTime", "time", "request", "response", "cache", "timings"],
                        "properties": {
                            "startedDateTime": {"type": "string", "pattern": ISO_8601},
                            "time": TIME,
                            "request": {
                                "type": "object",
                                "required": ["method", "url", "queryString", *MESSAGE],
                                "properties": {
                                    "url": {"type": "string", "pattern": "^https?://"},
                                    "queryString": PAIRS,
                                    "headers": PAIRS,
                                    "headersSize": SIZE,
                                    "bodySize": SIZE,
                                },
                            },
                            "response": {
                                "type": "object",
                                "required": ["status", "statusText", "content", "redirectURL", *MESSAGE],
                                "properties": {
                                    "status": {"type": "integer"},
                                    "statusText": {"type": "string"},
                                    "content": {
                                        "type": "object",
                                        "required": ["size", "mimeType"],
                                        "properties": {"size": {"type": "integer"}, "mimeType": {"type": "string"}},
                                    },
                                    "headers": PAIRS,
                                    "bodySize": SIZE,
                                },
                            },
                            "cache": {"type": "object"},
                            "timings": {
                                "type": "object",
                                "required": ["send", "wait", "receive"],
                                "properties": {"send": TIME, "wait": TIME, "receive": TIME},
                            },
                            "connection": {"type": "string"},
                        },
                    },
                },
            },
        }
    },
}


@pytest.fixture
def emulator() -> Any:
    with Emulator() as instance:
        yield instance


def boto(emulator: Emulator | Namespace, mode: str = "standard", attempts: int = 1) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name=emulator.region,
        aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            retries={"mode": mode, "total_max_attempts": attempts},
        ),
    )


def fill(emulator: Emulator, size: int = 100) -> Any:
    """Creates a bucket "data" with an object "a/1". Returns a boto3 client."""
    client = boto(emulator)
    client.create_bucket(Bucket="data")
    client.put_object(Bucket="data", Key="a/1", Body=b"x" * size)
    return client


def test_an_entry_describes_the_request(emulator: Emulator) -> None:
    before = datetime.now(timezone.utc)
    fill(emulator)
    created, put = emulator.journal()
    assert (created.number, created.operation, created.bucket, created.key) == (1, "CreateBucket", "data", "")
    assert (put.number, put.operation, put.method, put.target, put.key) == (2, "PutObject", "PUT", "/data/a/1", "a/1")
    assert (put.status, put.ending, put.access_key, put.error_code) == (200, "answered", "penstock", "")
    assert put.bytes_in >= 100  # with the framing of aws-chunked
    assert abs(put.received - before) < timedelta(minutes=1)
    assert put.began_s > created.began_s >= 0
    assert 0 < put.lasted_s < 60
    assert (put.connection, put.requests_before) == (created.connection, created.requests_before + 1)
    assert list(put.checksums) == ["x-amz-checksum-crc32"]
    assert put.invocation
    assert "Boto3/" in put.user_agent
    assert len(emulator.journal()) == 2
    assert (emulator.journal().last, emulator.journal().dropped) == (2, 0)


def test_filters_select_entries(emulator: Emulator) -> None:
    client = fill(emulator)
    for key in ("a/1", "a/2"):
        try:
            client.head_object(Bucket="data", Key=key)
        except ClientError:
            continue
    journal = emulator.journal()
    assert journal.count() == 4
    assert journal.count(operations="HeadObject") == journal.count(operations=["HeadObject", "GetObject"]) == 2
    assert [entry.key for entry in journal.entries(status=4)] == ["a/2"]
    assert journal.count(key_prefix="a/", method="HEAD", status=200, retried=False) == 1
    assert [entry.number for entry in journal.newest(2, bucket="data")] == [3, 4]
    assert journal.count(after=journal.last) == 0
    with pytest.raises(ValueError, match="operation"):
        journal.count(operation="GetObject")  # type: ignore[call-arg]
    with pytest.raises(penstock.testing.NotFoundError):
        emulator.journal("nobody").count()


def test_the_ranges_that_our_client_fetches_cover_an_object(emulator: Emulator) -> None:
    size = 24 << 20
    fill(emulator, size)
    assert len(emulator.client().get_object("data", "a/1").read()) == size
    report = emulator.journal().ranges("data", "a/1", wanted=[(0, size)])
    assert (report.covered, report.missing, report.over_read_bytes) == ([(0, size)], [], 0)
    # A download from both ends stops where the ends meet; bytes in flight at that moment were sent twice.
    broken = [entry for entry in emulator.journal() if entry.ending == "broken"]
    assert report.overlap_bytes <= sum(entry.bytes_out for entry in broken)
    emulator.journal().assert_ranges("data", "a/1", [(0, size)], most_overlap_bytes=report.overlap_bytes)


def test_a_range_report_has_missing_overlapping_and_excess_bytes(emulator: Emulator) -> None:
    client = fill(emulator)
    for asked in ("bytes=0-19", "bytes=10-29", "bytes=90-200"):
        client.get_object(Bucket="data", Key="a/1", Range=asked)["Body"].read()
    journal = emulator.journal()
    report = journal.ranges("data", "a/1", wanted=[(0, 25), (40, 50)])
    assert report.fetched == [(0, 20), (10, 30), (90, 100)]
    assert (report.fetched_bytes, report.overlap_bytes, report.over_read_bytes) == (50, 10, 15)
    assert report.missing == [(40, 50)]
    with pytest.raises(AssertionError) as failure:
        journal.assert_ranges("data", "a/1", [(0, 25), (40, 50)], most_over_read_bytes=15)
    assert "never fetched bytes 40-50; fetched 10 bytes twice, more than 0\n" in str(failure.value)
    assert "GET /data/a/1 -> 206 bytes 90-100" in str(failure.value)


def test_a_range_report_groups_reads_by_access_key(emulator: Emulator) -> None:
    client = fill(emulator)
    for asked in ("bytes=0-19", "bytes=10-29"):
        client.get_object(Bucket="data", Key="a/1", Range=asked)["Body"].read()
    report = emulator.journal().ranges("data", "a/1", by="access_key")
    (group,) = report.groups
    assert (group.value, group.requests, group.ranges) == ("penstock", 2, [(0, 30)])
    assert (group.fetched_bytes, group.overlap_bytes, report.groups_dropped) == (40, 10, 0)
    reads = emulator.journal().entries(operations="GetObject")
    assert group.first_s == reads[0].began_s
    assert group.last_s == pytest.approx(reads[1].began_s + reads[1].lasted_s)
    assert [group.value for group in emulator.journal().ranges("data", "a/1", by="peer").groups] == ["127.0.0.1"]
    assert emulator.journal().ranges("data", "a/1").groups == []
    with pytest.raises(ValueError, match="by: must be connection, peer, access_key, user_agent or rank, not 'key'"):
        emulator.journal().ranges("data", "a/1", by="key")  # type: ignore[arg-type]


def test_the_ranks_of_a_job_are_told_apart(emulator: Emulator) -> None:
    fill(emulator)
    for rank in (0, 1):
        client = S3Client(
            emulator.region, endpoint=emulator.endpoint, user_agent=UserAgent([f"rank/{rank}"]), s3client_config=emulator.config()
        )
        client.get("data", "a/1", range=(40 * rank, 40 * rank + 50))
    report = emulator.journal().ranges("data", "a/1", by="rank")
    assert {group.value: group.ranges for group in report.groups} == {"0": [(0, 50)], "1": [(40, 90)]}
    assert [entry.rank for entry in emulator.journal().entries(rank=1)] == [1]
    assert emulator.journal().entries(operations="PutObject")[0].rank is None


def test_objects_are_listed_by_their_requests(emulator: Emulator) -> None:
    client = fill(emulator)
    client.get_object(Bucket="data", Key="a/1")["Body"].read()
    with pytest.raises(ClientError):
        client.get_object(Bucket="data", Key="none")
    first, second = emulator.journal().objects(bucket="data")
    assert (first.bucket, first.key, first.reads, first.writes, first.bytes_out, first.errors) == ("data", "a/1", 1, 1, 100, 0)
    assert first.bytes_in >= 100
    assert (second.key, second.reads, second.writes, second.errors) == ("none", 1, 0, 1)
    assert emulator.journal().objects(key_prefix="b") == []


# botocore counts the first attempt too. The modes differ in their waits, not in the number of attempts.
@pytest.mark.parametrize("mode", ["legacy", "standard"])
def test_boto3_makes_as_many_attempts_as_configured(mode: str) -> None:
    with Emulator(fail_rate=1.0) as emulator:
        client = boto(emulator, mode, attempts=3)
        with pytest.raises(ClientError, match="SlowDown"):
            client.list_buckets()
        (retry,) = emulator.journal().retries()
        assert retry.statuses == [503, 503, 503]
        assert retry.began_s == sorted(retry.began_s)
        entries = emulator.journal().entries(invocation=retry.invocation)
        assert [entry.number for entry in entries] == retry.entries
        assert [entry.attempt for entry in entries] == [1, 2, 3]
        assert emulator.journal().count(retried=True) == 2
        assert {entry.error_code for entry in entries} == {"SlowDown"}


def test_the_attempts_of_a_call_have_one_invocation() -> None:
    with Emulator(fail_rate=0.5, fail_seed=7) as emulator:
        client = boto(emulator, "standard", attempts=10)
        for _ in range(10):
            client.list_buckets()
        journal = emulator.journal()
        assert journal.count(status=200) == 10
        retries = journal.retries()
        assert retries
        for retry in retries:
            assert retry.statuses == [503] * (len(retry.statuses) - 1) + [200]
        refused = emulator.stats()["injected_failures"]
        assert journal.count(status=503) == refused == sum(len(retry.entries) - 1 for retry in retries)


def test_assertions_on_order_find_late_requests(emulator: Emulator) -> None:
    client = fill(emulator)
    journal = emulator.journal()
    journal.assert_in_order({"operations": "CreateBucket"}, {"operations": "PutObject"})
    journal.assert_no_request_after({"operations": "PutObject"})
    client.get_object(Bucket="data", Key="a/1")["Body"].read()
    assert [entry.operation for entry in journal.requests_after({"operations": "PutObject"})] == ["GetObject"]
    late = r"1 requests after the last of operations='PutObject', the first of them #3 .*GET /data/a/1"
    with pytest.raises(AssertionError, match=late):
        journal.assert_no_request_after({"operations": "PutObject"})
    with pytest.raises(AssertionError, match="no request of operations='CopyObject'"):
        journal.assert_no_request_after({"operations": "CopyObject"})
    with pytest.raises(AssertionError, match="the first filter selects 1 requests, the second 0"):
        journal.assert_in_order({"operations": "PutObject"}, {"operations": "DeleteObject"})


def test_a_failed_count_shows_the_requests(emulator: Emulator) -> None:
    fill(emulator)
    journal = emulator.journal()
    journal.assert_count(1, operations="PutObject")
    journal.assert_max_concurrency(1)
    with pytest.raises(AssertionError) as failure:
        journal.assert_count(2, operations="PutObject")
    lines = str(failure.value).splitlines()
    assert lines[0] == "journal of 'default': 1 requests instead of 2"
    assert lines[1] == "the last requests of operations='PutObject':"
    assert lines[2].startswith("#2 at ")
    assert "PUT /data/a/1 -> 200 (PutObject, attempt 1, " in lines[2]
    with pytest.raises(AssertionError, match=r"\(no request\)"):
        journal.assert_count(1, operations="CopyObject")
    with pytest.raises(AssertionError, match="1 requests at one time, more than 0"):
        journal.assert_max_concurrency(0)


def test_requests_per_second_sum_up_to_all_requests(emulator: Emulator) -> None:
    fill(emulator)
    assert sum(emulator.journal().requests_per_second()) == 2
    assert emulator.journal().requests_per_second(key_prefix="none") == []


@pytest.mark.parametrize("version", ["s3v4", "s3"])
def test_exports_contain_no_signatures_or_tokens(version: str, tmp_path: Path) -> None:
    temporary = {"access_key_id": "TEMP", "secret_access_key": "s", "session_token": "the-token"}
    users = {"accounts": [{"account_id": "111122223333", "access_keys": [temporary]}]}
    with Emulator(users=users) as emulator:
        client = boto3.client(
            "s3",
            endpoint_url=emulator.endpoint,
            region_name="us-east-1",
            aws_access_key_id="TEMP",
            aws_secret_access_key="s",
            aws_session_token="the-token",
            config=Config(signature_version=version, s3={"addressing_style": "path"}),
        )
        url = client.generate_presigned_url("get_object", Params={"Bucket": "data", "Key": "k"})
        name = "X-Amz-Signature=" if version == "s3v4" else "Signature="
        signature = url.split(name)[1].split("&")[0]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, timeout=10)
        refused.value.close()
        assert refused.value.code == 404  # the signature is valid, the bucket is missing
        (entry,) = emulator.journal()
        assert f"{name}***" in entry.target
        assert ("oken=***" in entry.target) == (version == "s3v4" or "oken=" in url)
        emulator.journal().export(tmp_path / "lines")
        emulator.journal().export(tmp_path / "har", "har")
        for text in ((tmp_path / "lines").read_text(), (tmp_path / "har").read_text(), str(entry), emulator.journal().describe()):
            assert signature not in text
            assert "the-token" not in text


def test_captured_headers_are_in_entries_and_exports(emulator: Emulator, tmp_path: Path) -> None:
    journal = emulator.journal()
    assert journal.header_capture is None
    until = journal.capture_headers(60)
    assert until is not None
    assert timedelta(0) < until - datetime.now(timezone.utc) <= timedelta(seconds=60)
    assert journal.header_capture is not None
    client = fill(emulator)
    assert journal.capture_headers(0) is None
    client.list_buckets()
    _, put, listed = journal
    names = [name.lower() for name, _ in put.request_headers]
    assert "host" in names
    assert "authorization" in names
    headers = dict(put.request_headers)
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=penstock/")
    assert headers["Authorization"].endswith("Signature=***")
    assert ("x-amz-request-id", put.request_id) in put.response_headers
    assert (put.headers_left_out, listed.request_headers, listed.response_headers) == (0, (), ())
    assert put.signature is not None
    assert (put.signature.version, put.signature.verdict) == ("v4", "valid")
    journal.export(tmp_path / "har", "har")
    archive = json.loads((tmp_path / "har").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(HAR).validate(archive)
    shown = archive["log"]["entries"][1]["request"]["headers"]
    assert [(header["name"], header["value"]) for header in shown] == list(put.request_headers)
    with pytest.raises(ValueError, match="seconds: must be 0, which ends a capture, to 3600, not 3601"):
        journal.capture_headers(3601)


def test_a_wrong_secret_is_an_invalid_signature(emulator: Emulator) -> None:
    emulator.secret_access_key = "wrong"
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        boto(emulator).list_buckets()
    (entry,) = emulator.journal()
    assert entry.signature is not None
    assert (entry.signature.version, entry.signature.verdict) == ("v4", "invalid")


def test_a_json_lines_export_has_a_line_per_entry(emulator: Emulator, tmp_path: Path) -> None:
    fill(emulator)
    emulator.journal().export(tmp_path / "lines", "jsonl", operations="PutObject")
    (line,) = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert (line["number"], line["key"]) == (2, "a/1")


def test_a_har_export_matches_its_specification(emulator: Emulator, tmp_path: Path) -> None:
    client = fill(emulator)
    client.list_objects_v2(Bucket="data", Prefix="ä /")
    with pytest.raises(ClientError):
        client.get_object(Bucket="data", Key="none")
    emulator.journal().export(tmp_path / "har", "har")
    archive = json.loads((tmp_path / "har").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(HAR).validate(archive)
    created, put, listed, missing = archive["log"]["entries"]
    assert created["request"]["url"] == emulator.endpoint + "/data"
    assert put["request"]["bodySize"] >= 100
    assert {"name": "prefix", "value": "ä /"} in listed["request"]["queryString"]
    assert (missing["response"]["status"], missing["response"]["statusText"]) == (404, "NoSuchKey")
    for entry in archive["log"]["entries"]:  # the specification: the sum of the timings
        assert entry["time"] == pytest.approx(sum(entry["timings"].values()))
    with pytest.raises(ValueError, match="format must be 'jsonl' or 'har', not "):
        emulator.journal().export(tmp_path / "x", "xml")  # type: ignore[arg-type]


def test_a_tail_yields_new_entries(emulator: Emulator) -> None:
    client = fill(emulator)
    journal = emulator.journal()
    assert [entry.number for entry in journal.tail(behind=0, timeout_s=0)] == [1, 2]
    assert list(journal.tail(timeout_s=0)) == []
    tail = journal.tail(timeout_s=30, operations="HeadObject")
    seen: list[int] = []
    reader = threading.Thread(target=lambda: seen.append(next(tail).number))
    client.list_buckets()  # after the tail was created, and before it is read
    reader.start()
    client.head_object(Bucket="data", Key="a/1")
    reader.join(30)
    assert seen == [4]


def test_a_slow_tail_reports_dropped_entries() -> None:
    with Emulator(journal_size=128 << 10, auth="off") as emulator:
        client = emulator.client()
        tail = emulator.journal().tail(timeout_s=30, operations="ListBuckets")
        for _ in range(1000):
            with pytest.raises(penstock.S3NotFoundError):
                client.head_object("none", "key")
        dropped = emulator.journal().dropped
        assert dropped > 0
        url = f"{emulator.admin_endpoint}/_penstock/journal-tail?after=0&operations=ListBuckets&wait_ms=0"
        with urllib.request.urlopen(url, timeout=30) as response:
            assert json.load(response)["dropped_of_asked"] == dropped, "although the filter excludes them"
        boto(emulator).list_buckets()
        with pytest.warns(UserWarning, match=f"{dropped} entries after number 0 were dropped before they were read") as warned:
            assert next(tail).operation == "ListBuckets"
        assert len(warned) == 1
        boto(emulator).list_buckets()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert next(tail).operation == "ListBuckets", "no warning for entries that were read"


def test_a_tail_does_not_report_cleared_entries_as_dropped(emulator: Emulator) -> None:
    client = fill(emulator)
    tail = emulator.journal().tail(behind=0, timeout_s=30)
    emulator.journal().clear()
    client.list_buckets()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert next(tail).number == 3


def test_a_tail_continues_after_a_reset(emulator: Emulator) -> None:
    client = fill(emulator)
    tail = emulator.journal().tail(timeout_s=30)
    emulator.reset()
    client.list_buckets()
    assert next(tail).operation == "ListBuckets"


def test_a_tail_loses_no_entry_of_the_new_journal(emulator: Emulator) -> None:
    client = fill(emulator)
    tail = emulator.journal().tail(timeout_s=30)
    last = emulator.journal().last
    emulator.reset()
    for _ in range(last + 3):  # more entries than the old journal had
        client.list_buckets()
    assert [next(tail).number for _ in range(last + 3)] == list(range(1, last + 4))


def test_clearing_and_resetting(emulator: Emulator) -> None:
    client = fill(emulator)
    journal = emulator.journal()
    journal.clear()
    assert (len(journal), journal.last) == (0, 2)
    client.list_buckets()
    assert [entry.number for entry in journal] == [3]
    emulator.reset()
    assert (len(journal), journal.last) == (0, 0)


def test_each_namespace_has_its_own_journal(emulator: Emulator) -> None:
    suite = emulator.create_namespace("suite")
    boto(suite).list_buckets()
    assert (len(suite.journal), len(emulator.journal())) == (1, 0)
    assert isinstance(suite.journal, Journal)
    emulator.delete_namespace("suite")
    with pytest.raises(penstock.testing.NotFoundError):
        len(suite.journal)


def test_memory_is_bounded_and_dropped_entries_are_counted() -> None:
    with Emulator(journal_size=128 << 10, auth="off") as emulator:
        client = emulator.client()
        for _ in range(1000):
            with pytest.raises(penstock.S3NotFoundError):
                client.head_object("none", "key")
        journal = emulator.journal()
        assert journal.dropped + len(journal) == 1000
        assert 0 < len(journal) < 1000
        assert [entry.number for entry in journal][-1] == 1000
        with pytest.raises(AssertionError, match=f"{journal.dropped} older ones were dropped"):
            journal.assert_count(0)


def test_without_a_journal_its_methods_name_the_option() -> None:
    with Emulator(journal_size=0) as emulator:
        boto(emulator).list_buckets()
        with pytest.raises(ValueError, match="journal_size"):
            emulator.journal().count()
