"""The client process of test_hostile_servers.py: runs each case of `hostile_http` and `hostile_s3` on its own server.

Prints one line of JSON for each case.
"""

from __future__ import annotations

import concurrent.futures
import json
import re
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import penstock
from hostile_case import CLOSED, REUSED, Case, Raises
from hostile_http import cases_one_by_one, http_cases
from hostile_s3 import s3_cases
from penstock.s3reader import S3ReaderConstructor
from raw_server import RawServer

AT_A_TIME = 12
ATTEMPT_TIMEOUT_S, OPERATION_TIMEOUT_S = 1.0, 4.0  # of calls that must fail
# Of calls that must succeed, also on a busy machine.
SUCCESS_ATTEMPT_TIMEOUT_S, SUCCESS_OPERATION_TIMEOUT_S = 5.0, 20.0
LONGEST_CALL_S = OPERATION_TIMEOUT_S + 6.0  # allows for a busy machine
MOST_GROWTH_BYTES = 48 << 20
PLAIN_BODY = b"the right body"
CREDENTIALS = {"access_key_id": "AKIAHOSTILE", "secret_access_key": "hostile-secret", "session_token": "hostile-token"}
SECRETS = ("hostile-secret", "hostile-token", "Credential=AKIA", "Signature=")


def _client(port: int, *, attempt_timeout: float, operation_timeout: float) -> penstock.S3Client:
    config = penstock.S3ClientConfig(
        force_path_style=True, part_size=5 << 20, max_attempts=2, attempt_timeout=attempt_timeout,
        operation_timeout=operation_timeout, **CREDENTIALS,
    )  # fmt: skip
    return penstock.S3Client("us-east-1", endpoint=f"http://127.0.0.1:{port}", s3client_config=config)


def _put(client: penstock.S3Client, size: int) -> None:
    with client.put_object("bucket", "key") as writer:
        writer.write(bytes(size))


def _range(client: penstock.S3Client) -> bytes:
    info = penstock.HeadObjectResult('"e"', 16, 0, None, None)
    reader = client.get_object(
        "bucket", "key", object_info=info, reader_constructor=S3ReaderConstructor.range_based(buffer_size=0)
    )
    reader.seek(4)
    return reader.read(4)


def _parts(client: penstock.S3Client) -> bytes:
    reader = client.get_object("bucket", "key", reader_constructor=S3ReaderConstructor.sequential())
    return b"".join(iter(lambda: reader.read(1 << 20), b""))


def _get_plain_once(port: int) -> bytes:
    """Without retries, which would hide a request that the server read as the body of the one before it. The connection pool
    is the process's.
    """
    config = penstock.S3ClientConfig(force_path_style=True, max_attempts=1, attempt_timeout=5.0, **CREDENTIALS)
    client = penstock.S3Client("us-east-1", endpoint=f"http://127.0.0.1:{port}", s3client_config=config)
    return client.get_object("bucket", "plain").read()


def _head_all(client: penstock.S3Client) -> int:
    """Reads every attribute of the result."""
    found = client._client.head_object("bucket", "key")
    texts = [
        found.etag,
        found.content_type,
        found.storage_class,
        found.version_id,
        found.restore,
        found.checksums,
        found.user_metadata,
    ]
    assert all(text is not None for text in texts)
    return found.size


CALLS: dict[str, Callable[[penstock.S3Client], Any]] = {
    "get": lambda client: client.get_object("bucket", "key").read(),
    "range": _range,
    "get_parts": _parts,
    "head_all": _head_all,
    "head": lambda client: client.head_object("bucket", "key").size,
    "put": lambda client: _put(client, 10),
    "put_large": lambda client: _put(client, 4 << 20),
    "put_parts": lambda client: _put(client, 6 << 20),
    "delete": lambda client: client.delete_object("bucket", "key"),
    "delete_many": lambda client: client._client.delete_objects("bucket", ["a", "b"]),
    "copy": lambda client: client.copy_object("bucket", "from", "bucket", "key"),
    "create_bucket": lambda client: client.create_bucket("bucket"),
    "delete_bucket": lambda client: client.delete_bucket("bucket"),
    "list": lambda client: [item.key for page in client.list_objects("bucket", "p/") for item in page.object_info],
    "versions": lambda client: [version.key for page in client.list_object_versions("bucket", "p/") for version in page.versions],
    "express": lambda client: client.get_object("logs--use1-az4--x-s3", "key").read(),
}


def _text(error: BaseException) -> str:
    """All texts of an error that a log may contain."""
    notes = getattr(error, "__notes__", [])
    return "\n".join(
        [str(error), repr(error), *notes, *map(str, getattr(error, "attempt_history", ())), *traceback.format_exception(error)]
    )


def _faults_of_call(case: Case, client: penstock.S3Client) -> tuple[str, list[str]]:
    """Runs the case's call. Returns its outcome in words, and what is wrong with the outcome."""
    begun = time.monotonic()
    faults = []
    try:
        value = CALLS[case.call](client)
        found = f"returned {value[:60]!r}" if isinstance(value, bytes) else f"returned {str(value)[:100]}"
        if isinstance(case.expected, Raises) or value != case.expected:
            faults.append(f"{found}, expected {str(case.expected)[:100]}")
    except penstock.S3Exception as error:
        found = f"{type(error).__name__}: {error}"
        if not isinstance(case.expected, Raises):
            faults.append(f"raised {found[:1000]}")
        elif not (
            any(base.__name__ in case.expected.exception.split("|") for base in type(error).__mro__)
            and re.search(case.expected.text, str(error))
        ):
            faults.append(f"raised {found[:1000]}, expected {case.expected}")
        if "\n" in str(error) or "\x1b" in str(error) or len(str(error)) > 4000:
            faults.append(f"the message is not one short line: {len(str(error))} characters")
        faults += [f"{secret} in the text of the error" for secret in SECRETS if secret in _text(error)]
    seconds = time.monotonic() - begun
    if seconds > LONGEST_CALL_S:
        faults.append(f"took {seconds:.1f} s")
    return f"{seconds:.2f} s {found}", faults


def _run(case: Case) -> dict[str, Any]:
    fails = isinstance(case.expected, Raises)
    with RawServer(case.script, "plain", PLAIN_BODY, early=case.early) as server:
        client = _client(
            server.port,
            attempt_timeout=ATTEMPT_TIMEOUT_S if fails else SUCCESS_ATTEMPT_TIMEOUT_S,
            operation_timeout=OPERATION_TIMEOUT_S if fails else SUCCESS_OPERATION_TIMEOUT_S,
        )
        try:
            found, faults = _faults_of_call(case, client)
        except BaseException as error:
            found, faults = "", [f"raised {type(error).__name__}: {error}"]
        server.wait_for_scripts(5.0)
        try:
            body = _get_plain_once(server.port) if case.early else client.get_object("bucket", "plain").read()
            if body != PLAIN_BODY:
                faults.append(f"the next request got {body[:100]!r}")
        except penstock.S3Exception as error:
            faults.append(f"the next request failed: {error}")
        numbers = [number for number, _ in server.requests]
        if case.after is CLOSED and numbers.count(numbers[-1]) > 1:
            faults.append(f"the connection was used again: {numbers}")
        if case.after is REUSED and len(set(numbers)) > 1:
            faults.append(f"the connection was not used again: {numbers}")
        if not all(request.headers.get("authorization") for _, request in server.requests):
            faults.append("a request without a signature")
    return {"name": case.name, "found": found[:3000], "faults": faults}


def _peak_bytes() -> int:
    """The peak of resident memory since the previous call of this function."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def _run_endless(case: Case) -> dict[str, Any]:
    _peak_bytes()
    before = _peak_bytes()
    outcome = _run(case)
    grown = _peak_bytes() - before
    if grown > MOST_GROWTH_BYTES:
        outcome["faults"].append(f"memory grew by {grown >> 20} MiB")
    outcome["found"] += f" ({grown >> 20} MiB)"
    return outcome


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for outcome in pool.map(_run, [case for case in [*http_cases(), *s3_cases()] if wanted in case.name]):
            print(json.dumps(outcome), flush=True)
    for case in cases_one_by_one():
        if wanted in case.name:
            print(json.dumps(_run_endless(case)), flush=True)


if __name__ == "__main__":
    main()
