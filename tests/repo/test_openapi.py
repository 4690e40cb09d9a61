"""docs/reference/admin-api.openapi.yaml agrees with a running emulator: its paths, methods, statuses and documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import boto3
import jsonschema
import pytest
import yaml
from admin_requests import parse_curl, running, send
from botocore.config import Config

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs/reference/admin-api.openapi.yaml"
API: dict[str, Any] = yaml.safe_load(FILE.read_text())
METHODS = ("get", "put", "post", "patch", "delete")
CURL = re.compile(r"^curl .*$", re.M)


def resolved(value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        found: Any = API
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = found
    return value


def check(document: Any, content: dict[str, Any]) -> None:
    [media] = content.values()
    schema = {**media["schema"], "components": API["components"]}
    jsonschema.Draft202012Validator(schema).validate(document)


class Checked:
    """Sends requests and compares both sides with the file. Keeps the operations that were answered."""

    def __init__(self, admin: str) -> None:
        self.admin = admin
        self.answered: set[str] = set()

    def operation(self, method: str, path: str) -> dict[str, Any]:
        paths = {pattern: item for pattern, item in API["paths"].items() if method.lower() in item}
        if path in paths:
            return paths[path][method.lower()]
        fits = [item for pattern, item in paths.items() if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path)]
        assert len(fits) == 1, f"{method} {path} fits {len(fits)} paths of {FILE.name}"
        return fits[0][method.lower()]

    def send(self, method: str, target: str, body: Any = None) -> Any:
        """Returns the response's document. `target` is a path with a query."""
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        url = urlsplit(target)
        operation = self.operation(method, url.path)
        parameters = {each["name"] for each in map(resolved, operation.get("parameters", []))}
        # Condition keys are the members of an object in exploded form: each has a parameter of its own.
        assert {"keys" if ":" in name else name for name, _ in parse_qsl(url.query)} <= parameters
        status, document = send(method, self.admin + target, text)
        response = operation["responses"].get(str(status), operation["responses"]["default"])
        check(document, resolved(response)["content"])
        if status < 300:
            assert str(status) in operation["responses"], f"{method} {target} is {status}"
            self.answered.add(operation["operationId"])
            if text is not None:
                check(json.loads(text), operation["requestBody"]["content"])
        return document


@pytest.fixture
def checked() -> Any:
    with running("--memory") as ready:
        api = Checked(ready["admin"])
        api.endpoint = ready["endpoint"]  # type: ignore[attr-defined]
        yield api


def test_the_examples_of_the_page_agree_with_the_file(checked: Checked, tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    page = (ROOT / "docs/reference/admin-api.md").read_text()
    shown = [line for line in CURL.findall(page) if "/live" not in line]  # endless
    lines = [line.replace("/tmp/penstock-seed", str(tmp_path / "seed")) for line in shown]
    assert len(lines) > 30
    for line in lines:
        method, url, body = parse_curl(line)
        target = urlsplit(url)
        checked.send(method, target.path + (f"?{target.query}" if target.query else ""), body)


def get_container_credentials(checked: Checked) -> None:
    trust = {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ecs-tasks.amazonaws.com"}}}
    account = {"account_id": "1" * 12, "roles": [{"name": "task", "container": True, "trust_policy": trust}]}
    checked.send("POST", "/_penstock/users", {"accounts": [account]})
    for name in ("task", "other"):
        checked.send("GET", f"/_penstock/container-credentials/{account['account_id']}/{name}")


def read_and_remove_events(checked: Checked, s3: Any) -> None:
    s3.create_bucket(Bucket="watched")
    queue = {"QueueArn": "arn:aws:sqs:us-east-1:111122223333:q", "Events": ["s3:ObjectCreated:*"]}
    s3.put_bucket_notification_configuration(Bucket="watched", NotificationConfiguration={"QueueConfigurations": [queue]})
    s3.put_object(Bucket="watched", Key="k", Body=b"x")
    assert len(checked.send("GET", "/_penstock/events?after=0&wait_ms=1&namespace=default")["events"]) == 2
    checked.send("DELETE", "/_penstock/events?through=1")
    assert checked.send("GET", "/_penstock/events/default")["last"] == 2
    checked.send("DELETE", "/_penstock/events/default")


def change_clock_presign_and_watch(checked: Checked, name: str) -> None:
    root = "/_penstock/"
    checked.send("POST", f"{root}clock{name}", {"advance_seconds": 1.5, "rate": 2})
    checked.send("GET", f"{root}clock{name}")
    checked.send("DELETE", f"{root}clock{name}")
    checked.send("POST", f"{root}presign{name}", {"bucket": "seeded", "key": "a.txt", "method": "GET", "expires_s": 60})
    operation = checked.operation("GET", f"{root}live{name}")
    with urllib.request.urlopen(f"{checked.admin}{root}live{name}?interval_ms=100", timeout=30) as stream:
        assert [stream.headers.get_content_type()] == list(resolved(operation["responses"]["200"])["content"])
        for _ in range(2):
            event = json.loads(stream.readline().removeprefix(b"data: "))
            check(event, {"": {"schema": {"$ref": "#/components/schemas/LiveEvent"}}})
            assert event["namespace"]["name"] == (name.strip("/") or "default")
            assert stream.readline() == b"\n"
    checked.answered.add(operation["operationId"])


def get_and_run_lifecycle(checked: Checked, s3: Any) -> None:
    s3.create_bucket(Bucket="expiring")
    s3.put_object(Bucket="expiring", Key="old", Body=b"x")
    rule = {"ID": "day", "Filter": {}, "Status": "Enabled", "Expiration": {"Days": 1}}
    s3.put_bucket_lifecycle_configuration(Bucket="expiring", LifecycleConfiguration={"Rules": [rule]})
    assert checked.send("GET", "/_penstock/lifecycle?by=2200-01-01T00:00:00Z&bucket=expiring&namespace=default")["actions"] == 1
    assert checked.send("POST", "/_penstock/lifecycle/run?bucket=expiring")["actions"] == 0
    read_and_remove_events(checked, s3)


def test_every_operation_of_the_file_is_answered(checked: Checked, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    s3 = boto3.client(
        "s3", endpoint_url=checked.endpoint, region_name="us-east-1",  # type: ignore[attr-defined]
        aws_access_key_id="penstock", aws_secret_access_key="penstock-secret", config=Config(retries={"mode": "standard"}),
    )  # fmt: skip
    api, root = checked.send, "/_penstock/"
    for path in ("health", "stats", "metrics", "namespaces", "scenarios", "users", "retry-tests"):
        api("GET", root + path)
    key = api("POST", root + "namespaces", {"name": "other"})
    api("POST", root + "reset", {"namespace": "other"})
    api("POST", root + "reset", {"namespace": "nothing"})
    api("POST", root + "seed", {"bucket": "seeded", "directory": str(tmp_path)})
    for name in ("", "/other"):
        change_clock_presign_and_watch(checked, name)
        rule = {"id": "busy", "when": {"operation": "GetObject"}, "do": {"slow_down": {}}, "limit": {"times": 1}}
        api("PUT", f"{root}limits{name}", {"preset": "aws-standard"})
        api("PUT", f"{root}faults{name}", {"rules": [rule], "name": "one"})
        if not name:
            s3.get_object(Bucket="seeded", Key="a.txt", Range="bytes=0-1")
        api("PUT", f"{root}faults{name}", [rule])
        api("GET", f"{root}limits{name}")
        api("GET", f"{root}faults{name}")
        page = api("GET", f"{root}journal{name}")
        assert len(page["entries"]) == (0 if name else 2)
        api("GET", f"{root}journal-tail{name}?after=0&wait_ms=0&generation={page['generation']}")
        for question in API["components"]["schemas"]["JournalQuestion"]["properties"]["question"]["enum"]:
            about: dict[str, Any] = {"question": question, "filter": {"bucket": "seeded", "key": "a.txt"}}
            if question in ("in_order", "requests_after"):
                about["then"] = {"operations": ["GetObject"]}
            answer = api("POST", f"{root}journal-query{name}", about)
            assert "error" not in answer
        assert api("POST", f"{root}journal-capture{name}", {"seconds": 60})["until"]
        assert api("GET", f"{root}journal-capture{name}")["until"]
        s3.list_objects_v2(Bucket="seeded")
        assert name or "request_headers" in api("GET", f"{root}journal?newest=1")["entries"][0]
        if not name:
            explained = api("GET", f"{root}explain?request_id={page['entries'][0]['request_id']}")
            assert not explained["policies_consulted"]
        described = "action=s3:CreateBucket&resource=arn:aws:s3:::new&aws:SourceIp=192.0.2.1"
        explained = api("GET", f"{root}explain{name}?principal={key['access_key_id']}&{described}")
        assert explained["decisions"][0]["decided_by"] == "account-root"
        api("DELETE", f"{root}journal{name}")
        api("DELETE", f"{root}limits{name}")
        api("DELETE", f"{root}faults{name}?forget=true")
    test = api("POST", root + "retry-tests", {"GetObject": ["slow_down"]})["id"]
    api("GET", f"{root}retry-tests/{test}")
    api("DELETE", f"{root}retry-tests/{test}")
    api("DELETE", f"{root}retry-tests/{test}")
    api("POST", root + "users", {"accounts": [{"account_id": "1" * 12, "users": [{"name": "ann", "access_keys": []}]}]})
    get_container_credentials(checked)
    api("PATCH", f"{root}access-keys/{key['access_key_id']}", {"active": False})
    api("DELETE", f"{root}access-keys/{key['access_key_id']}")
    api("DELETE", root + "namespaces/other")
    get_and_run_lifecycle(checked, s3)
    assert api("POST", root + "simulate", {"ranks": 4, "writes_per_second": 2, "max_partitions": 3})["refused"] > 0
    api("POST", root + "simulate", {"ranks": 0})
    for name in ("faults", "limits", "users"):
        assert api("GET", f"{root}schemas/{name}") == json.loads((ROOT / f"docs/{name}.schema.json").read_text())
    api("GET", "/_localstack/health")
    api("POST", "/moto-api/reset")
    api("POST", root + "reset")
    assert {operation["operationId"] for operation in operations()} == checked.answered


def operations() -> list[dict[str, Any]]:
    return [item[method] for item in API["paths"].values() for method in METHODS if method in item]


def test_the_file_has_every_route_of_the_emulator() -> None:
    routes: set[tuple[str, str]] = set()
    for source in (ROOT / "emulator/server/admin").glob("admin_*.cc"):
        routes.update(re.findall(r'\{"([a-z-]+/?(?:[a-z]+)?)",\s*"([A-Z]+)",\s*[A-Z]\w+', source.read_text()))
    listed = {
        (re.sub(r"\{\w+\}", "", path).removeprefix("/_penstock/"), method.upper())
        for path, item in API["paths"].items()
        for method in METHODS
        if method in item and path.startswith("/_penstock/")
    }
    assert len(routes) > 30
    routes.add(("container-credentials//", "GET"))  # metadata.cc: it has a token of its own
    assert listed == routes


def test_the_file_is_valid_openapi() -> None:
    python = os.environ.get("PENSTOCK_DOCS_PYTHON")
    if python is None:
        pytest.skip("PENSTOCK_DOCS_PYTHON is not set: the validator is in the environment of the documentation site")
    done = subprocess.run([python, "-m", "openapi_spec_validator", FILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
