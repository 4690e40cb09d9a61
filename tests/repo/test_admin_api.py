"""docs/reference/admin-api.md and docs/users.schema.json agree with a running emulator: examples and rejected documents."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from admin_requests import EXECUTABLE, curl, running, send

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/reference/admin-api.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"```sh\n((?:(?!```).)*?curl (?:(?!```).)*?)```\n\nanswers `(\d{3})`[^\n]*:\n\n```(?:json|text)\n(.*?)```", re.S
)
USERS: dict[str, Any] = json.loads(re.findall(r"```json users\n(.*?)```", DOCUMENT, re.S)[0])
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/users.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def same(want: Any, have: Any) -> bool:
    """Whether both are equal. Each … in the document stands for any value that is not empty."""
    if want == "…":
        return have not in ("", None)
    if isinstance(want, dict):
        return isinstance(have, dict) and want.keys() == have.keys() and all(same(want[name], have[name]) for name in want)
    if isinstance(want, list):
        return isinstance(have, list) and len(want) == len(have) and all(map(same, want, have))
    return type(want) is type(have) and want == have


def same_text(want: str, have: str) -> bool:
    """Whether the documented lines are in the response, in this order. Each … stands for any text that is not empty."""
    pattern = r"\n(?:.*\n)*?".join(re.escape(line).replace("…", ".+") for line in want.splitlines())
    return re.search(rf"^{pattern}$", have, re.M) is not None


def run(commands: str) -> tuple[int, Any]:
    response: tuple[int, Any] = (0, None)
    for line in commands.splitlines():
        if line.startswith("curl "):
            response = curl(line)
        else:
            subprocess.run(["sh", "-c", line], check=True, timeout=30)
    return response


def test_every_example_returns_the_documented_response(tmp_path: Path) -> None:
    examples = EXAMPLE.findall(DOCUMENT)
    endless = DOCUMENT.count("\ncurl -s -N ")
    assert len(examples) == DOCUMENT.count("\nanswers `") == DOCUMENT.count("\ncurl ") - endless
    with running("--memory") as ready:
        for commands, status, response in examples:
            here = commands.replace("/tmp/penstock-seed", str(tmp_path / "seed"))
            for documented, actual in (("http://127.0.0.1:9000", ready["endpoint"]), ("http://127.0.0.1:9001", ready["admin"])):
                here = here.replace(documented, actual)
            have = run(here)
            assert have[0] == int(status), f"{commands}{have}"
            if isinstance(have[1], str):
                assert same_text(response, have[1]), f"{commands}{have}"
            else:
                assert same(json.loads(response), have[1]), f"{commands}{have}"


def test_the_document_has_an_example_of_every_route() -> None:
    routes: set[tuple[str, str]] = set()
    for source in (ROOT / "emulator/server/admin").glob("admin_*.cc"):
        routes.update(re.findall(r'\{"([a-z-]+)/?",\s*"([A-Z]+)",\s*[A-Z]\w+', source.read_text()))
    assert len(routes) >= 18
    for path, method in routes:
        shown = [
            line
            for line in DOCUMENT.splitlines()
            if line.startswith("curl ") and re.search(rf"/_penstock/{path}(?![\w-])", line)
            if method == (re.findall(r"-X (\w+)", line) or ["POST" if " -d " in line else "GET"])[0]
        ]
        assert shown, f"{method} {path}"


def test_the_token_is_required_as_documented() -> None:
    with running("--memory", "--admin-token", "hush") as ready:
        for url in (ready["admin"] + "/_penstock/health", ready["endpoint"] + "/_localstack/health"):
            assert send("GET", url)[0] == 200
        for url in (ready["admin"] + "/_penstock/reset", ready["endpoint"] + "/moto-api/reset"):
            assert send("POST", url)[0] == 401


def test_schema_and_emulator_accept_the_example_of_users(tmp_path: Path) -> None:
    VALIDATOR.check_schema(SCHEMA)
    VALIDATOR.validate(USERS)
    path = tmp_path / "users.json"
    path.write_text(json.dumps(USERS))
    with running("--memory", "--users", str(path)) as ready:
        status, listed = send("GET", ready["admin"] + "/_penstock/users")
        assert status == 200
        accounts = listed["accounts"]
        assert [account["account_id"] for account in accounts] == ["111122223333", "444455556666"]
        assert accounts[0]["canonical_id"] == USERS["accounts"][0]["canonical_id"]
        assert accounts[0]["users"][0]["path"] == "/people/"
        assert accounts[1]["access_keys"] == [{"access_key_id": "OTHER", "active": False, "namespace": "elsewhere"}]
        for secret in re.findall(r'"(?:secret_access_key|session_token|container_token)": "([^"]+)"', json.dumps(USERS)):
            assert secret not in json.dumps(listed)


def account(users: dict[str, Any]) -> dict[str, Any]:
    return users["accounts"][0]


def key(users: dict[str, Any]) -> dict[str, Any]:
    return account(users)["access_keys"][0]


def user(users: dict[str, Any]) -> dict[str, Any]:
    return account(users)["users"][0]


def role(users: dict[str, Any]) -> dict[str, Any]:
    return account(users)["roles"][0]


def provider(users: dict[str, Any]) -> dict[str, Any]:
    return account(users)["token_providers"][0]


MISTAKES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no accounts": lambda users: users.pop("accounts"),
    "accounts are not a list": lambda users: users.update(accounts={}),
    "an unknown field on top": lambda users: users.update(account=[]),
    "an account without its id": lambda users: account(users).pop("account_id"),
    "an account id that is too short": lambda users: account(users).update(account_id="12"),
    "an account id that is a number": lambda users: account(users).update(account_id=111122223333),
    "a canonical id in upper case": lambda users: account(users).update(canonical_id="A" * 64),
    "an unknown field of an account": lambda users: account(users).update(name="x"),
    "tags that are a list": lambda users: user(users).update(tags=[]),
    "a tag's value that is a number": lambda users: user(users).update(tags={"team": 1}),
    "a tag without a key": lambda users: role(users).update(tags={"": "x"}),
    "a tag's key of 129 characters": lambda users: user(users).update(tags={"k" * 129: "x"}),
    "a tag's value of 257 characters": lambda users: user(users).update(tags={"k": "x" * 257}),
    "51 tags": lambda users: role(users).update(tags={str(number): "" for number in range(51)}),
    "a user without a name": lambda users: user(users).pop("name"),
    "a name with a space": lambda users: user(users).update(name="an n"),
    "an empty name": lambda users: user(users).update(name=""),
    "a name of 65 characters": lambda users: user(users).update(name="a" * 65),
    "a path without its end": lambda users: user(users).update(path="/people"),
    "a path with a space": lambda users: user(users).update(path="/pe ople/"),
    "an unknown field of a user": lambda users: user(users).update(policies=[]),
    "a key without an id": lambda users: key(users).pop("access_key_id"),
    "an empty key id": lambda users: key(users).update(access_key_id=""),
    "a key id of 129 characters": lambda users: key(users).update(access_key_id="A" * 129),
    "a key id with a slash": lambda users: key(users).update(access_key_id="A/B"),
    "a key id with a comma": lambda users: key(users).update(access_key_id="A,B"),
    "a key id with a semicolon": lambda users: key(users).update(access_key_id="A;B"),
    "a key without a secret": lambda users: key(users).pop("secret_access_key"),
    "an empty secret": lambda users: key(users).update(secret_access_key=""),
    "an empty token": lambda users: key(users).update(session_token=""),
    "an expiry without a token": lambda users: key(users).update(expires="2030-01-02T03:04:05Z"),
    "a date without a zone": lambda users: key(users).update(session_token="t", expires="2030-01-02T03:04:05"),
    "active is a string": lambda users: key(users).update(active="yes"),
    "namespaces are not a list": lambda users: users.update(namespaces="elsewhere"),
    "a namespace that is a number": lambda users: users.update(namespaces=[1]),
    "a listed namespace that begins with a dot": lambda users: users.update(namespaces=[".hidden"]),
    "a namespace that begins with a dot": lambda users: key(users).update(namespace=".hidden"),
    "a namespace of 64 characters": lambda users: key(users).update(namespace="n" * 64),
    "an unknown field of a key": lambda users: key(users).update(secret="x"),
    "a role without a trust policy": lambda users: role(users).pop("trust_policy"),
    "a trust policy without statements": lambda users: role(users).update(trust_policy={"Version": "2012-10-17"}),
    "a session of a minute": lambda users: role(users).update(max_session_duration=60),
    "a session of a day": lambda users: role(users).update(max_session_duration=86400),
    "a container token without a container": lambda users: role(users).pop("container"),
    "an empty container token": lambda users: role(users).update(container_token=""),
    "an unknown field of a role": lambda users: role(users).update(tags=[]),
    "a group without a name": lambda users: account(users)["groups"][0].pop("name"),
    "a group that is named twice": lambda users: user(users).update(groups=["researchers", "researchers"]),
    "an inline policy without a document": lambda users: user(users).update(inline_policies=[{"name": "own"}]),
    "an attached policy that is a number": lambda users: user(users).update(attached_policies=[1]),
    "a managed policy without a name": lambda users: account(users)["managed_policies"][0].pop("name"),
    "an issuer without TLS": lambda users: provider(users).update(issuer="http://oidc.example.com"),
    "an issuer that ends with a slash": lambda users: provider(users).update(issuer="https://oidc.example.com/"),
    "a provider without audiences": lambda users: provider(users).update(audiences=[]),
    "a provider without keys": lambda users: provider(users).pop("accept_any_token"),
    "a provider with empty keys": lambda users: [
        provider(users).pop("accept_any_token"),
        provider(users).update(keys={"keys": []}),
    ],
}

BORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "every character of a name": lambda users: user(users).update(name="aZ09+=,.@_-"),
    "a name of 64 characters": lambda users: user(users).update(name="a" * 64),
    "the shortest path": lambda users: user(users).update(path="/"),
    "a path of two slashes": lambda users: user(users).update(path="//"),
    "every character of a key id": lambda users: key(users).update(
        access_key_id="".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in "/,;")
    ),
    "a key id of 128 characters": lambda users: key(users).update(access_key_id="A" * 128),
    "a namespace of 63 characters": lambda users: [
        users.update(namespaces=["n" * 63]),
        key(users).update(access_key_id="LONG", namespace="n" * 63),
    ],
    "an expiry with a fraction and a zone": lambda users: key(users).update(
        session_token="t", expires="2030-01-02T03:04:05.25+01:30"
    ),
    "an account without users and keys": lambda users: users["accounts"].append({"account_id": "000000000000"}),
    "no account": lambda users: users["accounts"].clear(),
    "50 tags": lambda users: user(users).update(tags={str(number): "" for number in range(50)}),
    "the longest tag": lambda users: role(users).update(tags={"\u00e9" * 128: "\u00e9" * 256}),
    "the longest session": lambda users: role(users).update(max_session_duration=43200),
    "a policy of AWS": lambda users: user(users).update(permissions_boundary="arn:aws:iam::aws:policy/AdministratorAccess"),
    "a group's name of 128 characters": lambda users: account(users)["groups"].append({"name": "g" * 128}),
}


def test_schema_and_emulator_accept_and_reject_the_same_users() -> None:
    with running("--memory") as ready:
        for name, change in (MISTAKES | BORDERS).items():
            users = copy.deepcopy(USERS)
            change(users)
            status, response = send("POST", ready["admin"] + "/_penstock/users", json.dumps(users))
            want = name in BORDERS
            assert VALIDATOR.is_valid(users) == want, name
            assert (status, name) == (200 if want else 400, name), response


def test_a_duplicate_member_is_named_by_file_and_api(tmp_path: Path) -> None:
    # The last one used to win silently.
    text = '{"accounts": [{"account_id": "111122223333", "account_id": "444455556666"}]}'
    want = "accounts[0]: the member 'account_id' is given twice"
    with running("--memory") as ready:
        status, response = send("POST", ready["admin"] + "/_penstock/users", text)
        assert (status, want in response["error"]) == (400, True), response
        status, response = send("POST", ready["admin"] + "/_penstock/namespaces", '{"name": "a", "name": "b"}')
        assert (status, "'name' is given twice" in response["error"]) == (400, True), response
    path = tmp_path / "users.json"
    path.write_text(text)
    executable = str(Path(os.environ["PENSTOCK_BUILD_DIR"]) / EXECUTABLE)
    refused = subprocess.run([executable, "--users", str(path)], check=False, capture_output=True, text=True, timeout=30)
    assert refused.returncode == 1
    assert want in refused.stderr


@pytest.mark.parametrize("name", ["an account id that is too short", "an expiry without a token", "an unknown field of a key"])
def test_the_emulator_does_not_start_with_an_invalid_users_file(tmp_path: Path, name: str) -> None:
    users = copy.deepcopy(USERS)
    MISTAKES[name](users)
    path = tmp_path / "users.json"
    path.write_text(json.dumps(users))
    command = [str(Path(os.environ["PENSTOCK_BUILD_DIR"]) / EXECUTABLE), "--memory", "--users", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode != 0
    assert f"users file '{path}': accounts[0]" in done.stderr
    assert "change-me" not in done.stderr
