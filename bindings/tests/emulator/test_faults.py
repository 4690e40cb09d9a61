"""Faults in Python: scenarios, accounts, retry tests, and every example of docs/reference/faults.md."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import jsonschema
import penstock
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock.testing import Emulator, FaultAccount, emulated_s3

DOCS = Path(__file__).resolve().parents[3] / "docs"
VALIDATOR = jsonschema.Draft202012Validator(json.loads((DOCS / "faults.schema.json").read_text()))
EXAMPLES = [
    json.loads(block) for block in re.findall(r"```json\n(.*?)```", (DOCS / "reference/faults.md").read_text(), re.DOTALL)
]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator(auth="off") as running:
        send(running, "PUT", "/bucket")
        send(running, "PUT", "/bucket/data/key", b"0123456789")
        yield running


def send(emulator: Emulator, method: str, target: str, body: bytes = b"", headers: str = "") -> bytes:
    """Sends one request. Returns the bytes of the response, also of a truncated one."""
    address = emulator.endpoint.removeprefix("http://").split(":")
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    response = b""
    with contextlib.suppress(ConnectionError), socket.create_connection((address[0], int(address[1])), timeout=20) as wire:
        wire.sendall(head.encode() + body)
        while piece := wire.recv(1 << 16):
            response += piece
    return response


def status(response: bytes) -> int:
    return int(response[9:12]) if response else 0


def send_requests_of_many_kinds(emulator: Emulator) -> None:
    for number in range(4):
        for method, target, body, headers in (
            ("GET", "/bucket/data/key", b"", "User-Agent: test rank/0\r\n"),
            ("GET", "/bucket/data/key", b"", "Range: bytes=1-4\r\nUser-Agent: test\r\n"),
            ("GET", "/bucket?list-type=2&prefix=data/", b"", ""),
            ("PUT", f"/bucket/data/{number}", b"abcd", "Expect: 100-continue\r\n"),
            ("POST", "/bucket/data/upload?uploads", b"", "x-penstock-rank: 0\r\n"),
        ):
            send(emulator, method, target, body, headers)
    for body in (b"0123", b"456789"):
        send(emulator, "PUT", "/bucket/data/again", body)
        send(emulator, "GET", "/bucket/data/again")
    entries = b"<Object><Key>data/0</Key></Object><Object><Key>data/1</Key></Object>"
    deletion = b"<Delete>" + entries + b"</Delete>"
    md5 = base64.b64encode(hashlib.md5(deletion).digest()).decode()
    send(emulator, "POST", "/bucket?delete", deletion, f"Content-MD5: {md5}\r\n")
    upload = re.search(
        rb"<UploadId>(.*?)<", send(emulator, "POST", "/bucket/data/upload?uploads", headers="x-penstock-fault: []\r\n")
    )
    if upload:
        complete = f"/bucket/data/upload?uploadId={upload[1].decode()}"
        etag = re.search(rb"ETag: (.*?)\r", send(emulator, "PUT", complete + "&partNumber=1", b"part"))
        if etag:
            part = f"<Part><PartNumber>1</PartNumber><ETag>{etag[1].decode()}</ETag></Part>"
            send(emulator, "POST", complete, f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: json.dumps(example)[:60])
def test_every_example_of_the_page_fires(emulator: Emulator, example: Any) -> None:
    VALIDATOR.validate(example)
    plenty = {"reads_per_second": 1_000_000, "writes_per_second": 1_000_000}
    emulator.set_limits(plenty | {"buckets": {"bucket": plenty | {"boundaries": ["data/"]}}})  # two partitions
    if '"tls_' in json.dumps(example):  # its connections are those of tests/foreign/clients/test_tls_faults.py
        with pytest.raises(ValueError, match="this emulator serves plain HTTP"):
            emulator.faults().set(example)
        return
    emulator.faults().set(example)
    send_requests_of_many_kinds(emulator)
    emulator.clock().advance(3600)  # into the time window of a rule
    send(emulator, "GET", "/bucket/data/key")
    account = emulator.faults().account()
    assert account.fired > 0
    emulator.faults().check()


def test_the_page_has_an_example_of_every_action() -> None:
    text = json.dumps(EXAMPLES)
    actions = [name for name, body in VALIDATOR.schema["$defs"].items() if "at" in body.get("properties", {})]
    assert len(actions) == 26
    assert [action for action in actions if f'"{action}": {{' not in text] == []


WRONG: list[Any] = [
    [{"do": {}}],
    [{"do": {"explode": {}}}],
    [{"do": []}],
    [{"do": {"reset": {}, "fin": {}}}],
    [{"do": {"reset": {}, "at": "body"}}],
    [{"do": {"reset": {}, "at": "status@5"}}],
    [{"do": {"corrupt": {}, "at": "headers"}}],
    [{"do": {"commit_partial": {"bytes": 3}}}],
    [{"do": {"commit_partial": {"unlike_s3": True}}}],
    [{"do": {"delay_visibility": {"ms": 3, "unlike_s3": False}}}],
    [{"do": {"delay_visibility": {"ms": 0, "unlike_s3": True}}}],
    [{"do": {"duplicate_apply": {"answer": "third"}}}],
    [{"do": {"duplicate_apply": {}, "at": "headers"}}],
    [{"do": {"latency": {"trace_ms": []}}}],
    [{"do": {"latency": {"trace_ms": [-1]}}}],
    [{"do": {"slow_down": {}}, "when": {"version": 3}}],
    [{"do": {"slow_down": {}}, "when": {"partition": "first"}}],
    [{"do": {"slow_down": {}}, "when": {"key": {"regex": "a", "glob": "a"}}}],
    [{"do": {"reset": {}, "at": "accept"}, "when": {"partition": 0}}],
    [{"do": {"drip": {"bytes": 1, "every_ms": 1}, "at": "body_out@3"}}],
    [{"do": {"stall": {}}}],
    [{"do": {"partial_failure": {"key": []}}}],
    [{"do": {"partial_failure": {"most": 0}}}],
    [{"do": {"partial_failure": {"probability": 0}}}],
    [{"do": {"stall": {"ms": 1}, "at": "accept"}}],
    [{"do": {"goaway": {"requests": 0}}}],
    [{"do": {"goaway": {"requests": 2**60}}}],
    [{"do": {"slow_down": {}}, "limit": {"times": 2**60}}],
    [{"do": {"slow_down": {}}, "limit": {"budget": {"most": 0, "of": 3}}}],
    [{"id": "a,b", "do": {"slow_down": {}}}],
    [{"do": {"clock_skew": {"ahead_s": 315360001}}}],
    [{"do": {"expect_100": {"mode": "late"}}}],
    [{"do": {"expect_100": {"mode": "late", "ms": 0}}}],
    [{"do": {"latency": {"min_ms": 3}}}],
    [{"do": {"latency": {"max_ms": 3}}}],
    [{"do": {"latency": {"ms": 3, "sigma": 1}}}],
    [{"do": {"latency": {"profile": "s3-express", "ms": 3}}}],
    [{"do": {"corrupt": {"mode": "swap-halves", "length": 1}}}],
    [{"do": {"redirect": {"location": "a\r\nb"}}}],
    [{"do": {"tls_abort": {"mode": "rude"}}}],
    [{"do": {"tls_certificate": {"mode": "expired"}, "at": "headers"}}],
    [{"do": {"stall": {"ms": 3600001}}}],
    [{"do": {"error": {"status": 99}}}],
    [{"do": {"error": {"headers": {"a": "b\r\nc: d"}}}}],
    [{"do": {"error": {"headers": {"a b": "c"}}}}],
    [{"do": {"error": {"headers": {"Content-Length": "3"}}}}],
    [{"do": {"slow_down": {"headers": {"connection": "keep-alive"}}}}],
    [{"do": {"header_lie": {"set": {"x:y": "c"}}}}],
    [{"do": {"header_lie": {"set": {"content-length": "abc"}}}}],
    [{"do": {"header_lie": {"set": {"Content-Length": "007"}}}}],
    [{"do": {"error": {"message": "a\x01"}}}],
    [{"do": {"late_error": {"code": "a\x0b"}}}],
    [{"do": {"partial_failure": {"message": "\uffff"}}}],
    [{"do": {"tls_abort": {}}, "when": {"operation": "GetObject"}}],
    [{"do": {"reset": {}, "at": "accept"}, "when": {"client": {"access_key": "a"}}}],
    [{"do": [{"goaway": {"requests": 3}}], "when": {"connection": {"reused": True}}}],
    [{"do": [{"tls_abort": {}}, {"slow_down": {}}]}],
    [{"do": {"header_lie": {"drop": [""]}}}],
    [{"do": {"slow_down": {}}, "when": {"nth": "0"}}],
    [{"do": {"slow_down": {}}, "when": {"part": 0}}],
    [{"do": {"slow_down": {}}, "when": {"attempt": "<=0, 0-0"}}],
    [{"do": {"bandwidth": {"bytes_per_second": 18446744073709551615}}}],
    [{"do": {"slow_down": {}}, "when": {"part": "five"}}],
    [{"do": {"slow_down": {}}, "when": {"probability": 2}}],
    [{"do": {"slow_down": {}}, "when": {"colour": "red"}}],
    [{"do": {"slow_down": {}}, "when": {"key": "*" * 1_025}}],
    [{"do": {"slow_down": {}}, "when": {"operation": ["*" * 1_025]}}],
    [{"do": {"slow_down": {}}, "limit": {"times": 0}}],
    [{"do": {"slow_down": {}}, "limit": {"per": "key"}}],
    {"rules": [], "colour": "red"},
    {"scenario": "meteor"},
    {"seed": 1},
    {},
]


@pytest.mark.parametrize("document", WRONG, ids=json.dumps)
def test_the_emulator_rejects_what_the_schema_rejects(emulator: Emulator, document: Any) -> None:
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(ValueError):
        emulator.faults().set(document)


def test_an_account_has_the_scenario_and_what_remains(emulator: Emulator) -> None:
    rules = [{"id": "a", "do": {"slow_down": {}}, "limit": {"times": 3}}, {"id": "b", "do": {"slow_down": {}}}]
    emulator.faults().set(rules)
    account = emulator.faults().account()
    assert account.scenario == rules
    assert (account.rule("a").remaining, account.rule("b").remaining) == (3, None)
    emulator.faults().set({"scenario": "list-stampede", "bucket": "b"})
    account = emulator.faults().account()
    assert account.scenario == {"scenario": "list-stampede", "bucket": "b"}
    assert account.replaced[0].scenario is None
    test = emulator.faults().retry_test({"GetObject": ["slow_down"]})
    assert test.account().scenario is None
    test.delete()
    emulator.faults().clear(forget=True)


def test_an_account_names_rules_that_did_not_fire(emulator: Emulator) -> None:
    emulator.faults().set([{"id": "a", "do": {"slow_down": {}}, "limit": {"times": 2}}])
    assert status(send(emulator, "GET", "/bucket/data/key")) == 503
    account = emulator.faults().account()
    assert isinstance(account, FaultAccount)
    assert (account.fired, account.complete, account.rule("a").matched) == (1, False, 1)
    assert len(account.rule("a").request_ids) == 1
    with pytest.raises(AssertionError, match="'a' fired for 1 of the 1 requests that matched"):
        emulator.faults().check()
    send(emulator, "GET", "/bucket/data/key")
    emulator.faults().check()
    emulator.faults().clear()
    with pytest.raises(penstock.testing.NotFoundError, match="no scenario of faults"):
        emulator.faults().account()
    with pytest.raises(KeyError):
        account.rule("b")


def test_a_client_succeeds_under_the_chaos_scenarios() -> None:
    with Emulator() as emulator:
        client = emulator.client()
        client.create_bucket("bucket")
        for name in ("chaos-light", "chaos-medium", "chaos-heavy"):
            emulator.faults().set({"scenario": name, "seed": 5})
            for number in range(12):
                body = f"{name} {number}".encode()
                with client.put_object("bucket", f"{name}/{number}") as writer:
                    writer.write(body)
                assert client.get_object("bucket", f"{name}/{number}").read() == body
            assert len([item for page in client.list_objects("bucket", name) for item in page.object_info]) == 12
            fired = emulator.faults().account().fired
            assert fired >= {"chaos-light": 0, "chaos-medium": 1, "chaos-heavy": 5}[name], fired
            emulator.faults().clear(forget=True)


NEVER = [{"id": "never", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}}]


def test_a_replaced_rule_that_did_not_fire_is_reported(emulator: Emulator) -> None:
    faults = emulator.faults()
    faults.set(NEVER)
    faults.set([{"id": "met", "do": {"slow_down": {}}}])
    assert status(send(emulator, "GET", "/bucket/data/key")) == 503
    assert [account.rules[0].id for account in faults.account().replaced] == ["never"]
    for check in (faults.check, faults.check_all):
        with pytest.raises(AssertionError, match=r"replaced or cleared \(seed 1, 0 requests seen\): 'never' fired for 0"):
            check()
    faults.clear()
    with pytest.raises(AssertionError, match="'never' fired for 0"):
        faults.check_all()
    faults.clear(forget=True)
    faults.check_all()
    faults.set(NEVER)
    faults.clear()
    with pytest.raises(AssertionError, match="'never' fired for 0"):
        faults.check_all()
    emulator.reset()
    faults.check_all()


def test_a_default_scenario_is_not_checked_after_its_replacement() -> None:
    with Emulator(auth="off", faults=NEVER) as emulator:
        with pytest.raises(AssertionError, match="'never' fired for 0"):
            emulator.faults().check_all()
        emulator.faults().set([{"do": {"slow_down": {}}}])
        assert status(send(emulator, "GET", "/")) == 503
        emulator.faults().check_all()


def statuses(emulator: Emulator, target: str, count: int, headers: str = "") -> list[int]:
    return [status(send(emulator, "GET", target, headers=headers)) for _ in range(count)]


def test_clients_without_invocation_ids_are_throttled_by_the_named_scenarios(emulator: Emulator) -> None:
    for scenario, target, least, most in (
        ("list-stampede", "/bucket?list-type=2&prefix=data/", 60, 82),  # 71 of 100
        ("hot-prefix", "/bucket/data/key", 45, 70),  # 58 of 100
        ("read-fan-in", "/bucket/data/key", 2, 22),  # 10 of 100
    ):
        emulator.faults().set(scenario)
        seen = statuses(emulator, target, 100)
        assert least <= seen.count(503) <= most, scenario
        runs = "".join("f" if status == 503 else "." for status in seen)
        assert "ffff" not in runs, scenario
        emulator.faults().clear(forget=True)


def test_a_delayed_response_is_not_a_failed_attempt(emulator: Emulator) -> None:
    emulator.faults().set(
        [
            {"do": {"latency": {"ms": 1}}},
            {"do": {"bandwidth": {"bytes_per_second": 90000000}}},
            {"do": {"header_lie": {"set": {"ETag": "0"}}}},
            {"do": {"error": {}}, "when": {"unless_failed": 4}},
        ]
    )
    id_header = "amz-sdk-invocation-id: 7\r\n"
    assert statuses(emulator, "/bucket/data/key", 6, id_header) == [500, 500, 500, 500, 200, 200]


def test_a_key_condition_matches_the_prefix_of_a_listing(emulator: Emulator) -> None:
    emulator.faults().set([{"when": {"operation": ["GetObject", "@list"], "key": {"prefix": "data/"}}, "do": {"slow_down": {}}}])
    assert statuses(emulator, "/bucket?list-type=2&prefix=data/", 1) == [503]
    assert statuses(emulator, "/bucket?list-type=2&prefix=dat", 1) == [200]
    assert statuses(emulator, "/bucket?list-type=2", 1) == [200]
    emulator.faults().set({"scenario": "list-stampede", "key": {"prefix": "data/"}})
    assert 20 <= statuses(emulator, "/bucket?list-type=2&prefix=data/a", 40).count(503) <= 36
    assert statuses(emulator, "/bucket?list-type=2", 3) == [200, 200, 200]


def test_each_namespace_has_its_own_faults() -> None:
    with Emulator() as emulator:
        ann = emulator.create_namespace("ann")
        ann.faults.set([{"do": {"error": {"code": "AccessDenied"}}}])
        emulator.client().create_bucket("bucket")
        with pytest.raises(penstock.S3AccessDeniedError):
            ann.client().create_bucket("bucket")
        ann.faults.check()
        with pytest.raises(penstock.testing.NotFoundError):
            emulator.faults("nobody").clear()


def test_a_scenario_is_given_by_a_file_or_a_name(emulator: Emulator, tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text('[{"do": {"slow_down": {}}}]')
    emulator.faults().set(path)
    assert status(send(emulator, "GET", "/bucket/data/key")) == 503
    emulator.faults().set("list-stampede")
    assert emulator.faults().account().name == "list-stampede"
    with Emulator(auth="off", faults=path) as other:
        assert status(send(other, "GET", "/")) == 503


def test_an_emulators_block_checks_its_faults_at_the_end() -> None:
    with pytest.raises(AssertionError, match="'a' fired for 0"), emulated_s3(auth="off") as emulator:
        emulator.faults().set([{"id": "a", "do": {"slow_down": {}}}])
    with emulated_s3(auth="off") as emulator:
        emulator.faults().set([{"id": "a", "do": {"slow_down": {}}}])
        assert status(send(emulator, "GET", "/")) == 503


def boto(emulator: Emulator) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=emulator.endpoint,
        region_name="us-east-1",
        aws_access_key_id=emulator.access_key_id,
        aws_secret_access_key=emulator.secret_access_key,
        config=Config(retries={"mode": "standard", "total_max_attempts": 4}, s3={"addressing_style": "path"}),
    )


def test_boto3_passes_a_retry_test() -> None:
    with Emulator() as emulator:
        client = boto(emulator)
        client.create_bucket(Bucket="bucket")
        client.put_object(Bucket="bucket", Key="key", Body=b"0123456789")
        with emulator.faults().retry_test({"GetObject": [{"error": {"code": "InternalError"}}, "reset"]}) as test:
            client.meta.events.register("before-send.s3", lambda request, **_: request.headers.update(test.headers))
            assert client.get_object(Bucket="bucket", Key="key")["Body"].read() == b"0123456789"
        assert emulator.faults().retry_tests() == []
        with pytest.raises(ClientError, match=r"retry test .* does not exist"):
            client.get_object(Bucket="bucket", Key="key")


def test_a_retry_test_that_did_not_fire_fails(emulator: Emulator) -> None:
    with (
        pytest.raises(AssertionError, match="'GetObject-1' fired for 0"),
        emulator.faults().retry_test({"GetObject": ["slow_down"]}),
    ):
        pass
    with pytest.raises(ValueError, match="unknown S3 operation"):
        emulator.faults().retry_test({"GetObjekt": ["slow_down"]})
    with pytest.raises(ValueError, match=r"GetObject\[1\]: unknown action 'nope'"):
        emulator.faults().retry_test({"GetObject": ["slow_down", "nope"]})


def test_faults_of_connections_belong_to_the_default_namespace() -> None:
    with Emulator() as emulator:
        ann = emulator.create_namespace("ann")
        with pytest.raises(ValueError, match=r"happen at accept.* s3_server\.faults\(\)\.set"):
            ann.faults.set([{"do": {"connection_limit": {"most": 0}}}])
        emulator.faults().set([{"do": {"connection_limit": {"most": 0}}}])
        assert send(emulator, "GET", "/") == b""
        emulator.faults().check()


def test_the_named_scenarios_can_be_read(emulator: Emulator) -> None:
    with urllib.request.urlopen(emulator.admin_endpoint + "/_penstock/scenarios") as response:
        scenarios = json.load(response)["scenarios"]
    assert [scenario["name"] for scenario in scenarios] == VALIDATOR.schema["$defs"]["named"]["properties"]["scenario"]["enum"]
    for scenario in scenarios:
        VALIDATOR.validate({"name": scenario["name"], "rules": scenario["rules"]})
