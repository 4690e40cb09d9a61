"""Operations on directory buckets, each with its oracle: those of general-purpose buckets, and those specific to them.

Each trial has a new client, so that CreateSession is among its requests.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from penstock import S3Client, S3Exception

from . import operations, training
from .operations import LISTED, ONE_SIZE
from .trials import DIRECTORY, Environment, Operation, Trial, written

_Got = TypeVar("_Got")

RECORD = b"one record, once\n"
#: Operations of general-purpose buckets that are also run here.
SHARED = (
    "get whole", "read in steps", "read into memory", "head", "list uploads",
    "put", "replace", "put if none match", "put if match", "upload verbs", "abort upload", "copy",
    "delete", "delete objects", "create bucket", "delete bucket",
    "torch.save", "map dataset", "iterable dataset", "dcp.save", "dcp.load",
)  # fmt: skip


def _list(environment: Environment, size: str) -> Trial:
    """Each key once, in any order."""
    client, page = operations.listed(environment).client(), 1000 if size == "small" else 3

    def run() -> list[str]:
        return [info.key for part in client.list_objects(DIRECTORY, "kept/list/", max_keys=page) for info in part.object_info]

    return Trial(run, lambda got: sorted(got) == list(LISTED))


def _list_directory_buckets(environment: Environment, size: str) -> Trial:
    del size
    client = environment.client()
    return Trial(client.list_directory_buckets, lambda got: got == [DIRECTORY])


def _rename(environment: Environment, size: str, over: bytes | None = None) -> Trial:
    source, target, client, data = (
        environment.stored(size, environment.key()),
        environment.key(),
        environment.client(),
        environment.content(size),
    )
    if over is not None:
        environment.put(target, over)

    def state() -> str:
        there = environment.get(source), environment.get(target)
        if there == (None, data):
            return "after"
        return "before" if there == (data, over) else "the object has two keys, no key, or wrong content"

    return Trial(lambda: client.rename_object(DIRECTORY, source, target), lambda got: got is None, state)


def _rename_over_another(environment: Environment, size: str) -> Trial:
    return _rename(environment, size, over=b"content of the target before")


# ---- appending


def _append(client: S3Client, key: str) -> None:
    with client.append_object(DIRECTORY, key) as writer:
        writer.write(RECORD)


def _append_to_an_object(environment: Environment, size: str) -> Trial:
    key, client, old = environment.stored(size, environment.key()), environment.client(), environment.content(size)
    return Trial(lambda: _append(client, key), lambda got: got is None, written(environment, key, old, old + RECORD))


def _append_to_nothing(environment: Environment, size: str) -> Trial:
    del size
    key, client = environment.key(), environment.client()
    return Trial(lambda: _append(client, key), lambda got: got is None, written(environment, key, None, RECORD))


def _append_three(environment: Environment, size: str) -> Trial:
    """Three records by one writer without retries. Failed calls are repeated, as the writer's documentation allows."""
    del size
    key, old = environment.stored("small", environment.key()), environment.content("small")
    config = dataclasses.replace(environment.config, max_attempts=1)
    client = S3Client(environment.region, endpoint=environment.endpoint, s3client_config=config)
    records = [b"first|", b"second|", b"third|"]
    reported = [len(old)]

    def run() -> None:
        with _twice(lambda: client.append_object(DIRECTORY, key)) as writer:
            for record in records:
                writer.write(record)
                _twice(writer.flush)
                reported.append(writer.size)

    def state() -> str:
        found = environment.get(key) or b""
        appended = next((n for n in range(4) if found == old + b"".join(records[:n])), None)
        if appended is None:
            return f"{key}: {found[len(old) :]!r} after the old object"
        if len(found) < reported[-1]:
            return f"{key}: {len(found)} bytes, but the writer reported {reported[-1]}"
        return "after" if appended == len(records) else "before"

    return Trial(run, lambda got: got is None, state)


def _twice(call: Callable[[], _Got]) -> _Got:
    try:
        return call()
    except S3Exception:
        return call()


_EVERYWHERE = {operation.name: operation for operation in (*operations.OPERATIONS, *training.OPERATIONS)}
OPERATIONS = tuple(
    dataclasses.replace(operation, name=f"directory {operation.name}", bucket=DIRECTORY)
    for operation in (
        *(_EVERYWHERE[name] for name in SHARED),
        Operation("list", _list),
        Operation("list buckets", _list_directory_buckets, ONE_SIZE),
        Operation("rename", _rename),
        Operation("rename over another", _rename_over_another, ONE_SIZE),
        Operation("append", _append_to_an_object),
        Operation("append to nothing", _append_to_nothing, ONE_SIZE),
        Operation("append three records", _append_three, ONE_SIZE),
    )
)
