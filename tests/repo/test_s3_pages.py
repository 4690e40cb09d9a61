"""The generated pages of docs/reference/ are up to date with the emulator's tables, and with its responses."""

from __future__ import annotations

import http.client
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from penstock_emulator import Emulator

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("s3_pages", ROOT / "tools/docs/s3_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["s3-operations.md", "s3-parameters.md", "s3-errors.md"])
def test_a_generated_page_is_up_to_date(generator: ModuleType, name: str) -> None:
    written = (ROOT / "docs/reference" / name).read_text()
    assert written == generator.PAGES[name](), "run `python tools/docs/s3_pages.py`"


def test_the_generator_reads_every_row(generator: ModuleType) -> None:
    operations = (ROOT / "emulator/s3/dispatch/operations.cc").read_text()
    names = set(re.findall(r'^.*\{\s*"([A-Z][A-Za-z0-9]+)"', operations, re.M))
    assert {each.name for each in generator.operations()} == names
    assert not names & {name for group in generator.OTHER_OPERATIONS for name in group}
    errors = generator.block((ROOT / "emulator/message/errors.cc").read_text(), "kErrors[]", "\n};")
    assert generator.errors_page().count("\n| `") == len(re.findall(r'^    \{"', errors, re.M))


@pytest.fixture(scope="module")
def connection() -> Iterator[http.client.HTTPConnection]:
    with Emulator(auth="off") as emulator:
        emulator.create_directory_bucket("base--usw2-az1--x-s3")
        connection = http.client.HTTPConnection(emulator.endpoint.removeprefix("http://"), timeout=30)
        code_of(connection, "PUT", "/bucket", {})
        yield connection
        connection.close()


def code_of(connection: http.client.HTTPConnection, method: str, path: str, headers: dict[str, str]) -> str:
    """Returns the error code of a response, with the header that a 501 names; for a success, the status."""
    connection.request(method, path, headers={"Content-Length": "0"} | headers)
    response = connection.getresponse()
    body = response.read().decode()
    codes = [*re.findall("<Code>(.*?)</Code>", body), *re.findall("<Header>(.*?)</Header>", body)]
    return " ".join(codes) or str(response.status)


def a_value(parameter: Any) -> str:
    if parameter.name == "If-None-Match":
        return "*"  # writes accept no other value
    by_type = {"timestamp": "Wed, 21 Oct 2026 07:28:00 GMT", "boolean": "true"}
    values: list[str] = getattr(parameter.shape, "enum", None) or [by_type.get(parameter.shape.type_name, "1")]
    return values[0]


def test_the_emulator_refuses_the_refused_headers_and_no_others(
    generator: ModuleType, connection: http.client.HTTPConnection
) -> None:
    """Values are of the type of the header, not of an object: other errors than 501 are possible."""
    levels = {each.name: each for each in generator.operations()}
    families, wrong, tried = generator.known_headers(), [], {"refused": 0, "done": 0, "kept": 0}
    for name, parameters in generator.parameters_of_model().items():
        if name not in levels or not levels[name].done:
            continue
        operation = levels[name]
        for each in parameters:
            if each.place != "header" or each.name.lower() in ("x-amz-copy-source", "content-length"):
                continue
            is_directory = families.get(each.name.lower()) == "kDirectory" or name in ("RenameObject", "CreateSession")
            bucket = "base--usw2-az1--x-s3" if is_directory else "bucket"
            path = {"Service": "/", "Bucket": f"/{bucket}", "Object": f"/{bucket}/key"}[operation.level]
            headers = {each.name.replace("*", "name"): a_value(each)}
            if name in ("CopyObject", "UploadPartCopy"):
                headers["x-amz-copy-source"] = "/bucket/missing"
            query = f"?{operation.selector}=1" if operation.selector else ""
            query += "&partNumber=1" if name.startswith("UploadPart") else "&id=1" if "id" in {p.name for p in parameters} else ""
            code = code_of(connection, operation.method, path + query, headers)
            is_refused = operation.method != "HEAD" and code.lower() == f"notimplemented {each.name.lower()}"
            tried[each.state] += 1
            if is_refused != (each.state == "refused"):
                wrong.append(f"{name} {each.name}: {each.state} on the page, but {code}")
    assert wrong == []
    assert tried["refused"] > 5
    assert tried["done"] > 200
    assert tried["kept"] > 50
