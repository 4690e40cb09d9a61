"""Operations on objects and buckets, each with its oracle. training.py has those of training jobs."""

from __future__ import annotations

from typing import Any

from penstock.s3reader import S3ReaderConstructor

from .trials import BYTES, PART, Environment, Operation, Trial, written

LISTED = tuple(f"kept/list/{number:02}" for number in range(7))


# ---- reading


def _get(environment: Environment, size: str) -> Trial:
    key, client = environment.stored(size), environment.client()
    return Trial(
        lambda: client.get_object(environment.bucket, key).read(), lambda got: got == environment.content(size), verified=True
    )


def _read_in_steps(environment: Environment, size: str) -> Trial:
    key, client = environment.stored(size), environment.client()

    def run() -> bytes:
        reader = client.get_object(environment.bucket, key, reader_constructor=S3ReaderConstructor.sequential())
        step = max(1, BYTES[size] // 7)
        return b"".join(iter(lambda: reader.read(step), b""))

    return Trial(run, lambda got: got == environment.content(size), verified=True)


def _seek_and_read(environment: Environment, size: str) -> Trial:
    key, client, data = environment.stored(size), environment.client(), environment.content(size)
    first, second = BYTES[size] // 2, BYTES[size] // 9

    def run() -> tuple[bytes, bytes]:
        reader = client.get_object(environment.bucket, key)
        reader.seek(first)
        one = reader.read(3000)
        reader.seek(second)
        return one, reader.read(3000)

    return Trial(run, lambda got: got == (data[first : first + 3000], data[second : second + 3000]))


def _readinto(environment: Environment, size: str) -> Trial:
    key, client, data = environment.stored(size), environment.client(), environment.content(size)
    begin, length = BYTES[size] // 3, BYTES[size] // 2

    def run() -> bytes:
        reader = client.get_object(environment.bucket, key, reader_constructor=S3ReaderConstructor.range_based(buffer_size=0))
        reader.seek(begin)
        buffer = bytearray(length)
        filled = 0
        while filled < length and (count := reader.readinto(memoryview(buffer)[filled:])):
            filled += count
        return bytes(buffer[:filled])

    return Trial(run, lambda got: got == data[begin : begin + length])


def _read_into(environment: Environment, size: str) -> Trial:
    key, client = environment.stored(size), environment.client()

    def run() -> bytes:
        buffer = bytearray(BYTES[size])
        count, _, _ = client._client.read_into(environment.bucket, key, buffer, part_size=PART, parallel=3)
        return bytes(buffer[:count])

    return Trial(run, lambda got: got == environment.content(size), verified=True)


def _head(environment: Environment, size: str) -> Trial:
    key, client = environment.stored(size), environment.client()
    return Trial(lambda: client.head_object(environment.bucket, key).size, lambda got: got == BYTES[size])


# ---- listing


def listed(environment: Environment) -> Environment:
    """Creates the objects of LISTED."""

    def make() -> bool:
        for key in LISTED:
            environment.put(key, b"x")
        return True

    environment.once("listed", make)
    return environment


def _list(environment: Environment, size: str) -> Trial:
    client, page = listed(environment).client(), 1000 if size == "small" else 3

    def run() -> list[str]:
        return [
            info.key for part in client.list_objects(environment.bucket, "kept/list/", max_keys=page) for info in part.object_info
        ]

    return Trial(run, lambda got: got == list(LISTED))


def _list_versions(environment: Environment, size: str) -> Trial:
    client, page = listed(environment).client(), 1000 if size == "small" else 3

    def run() -> list[str]:
        pages = client.list_object_versions(environment.bucket, "kept/list/", max_keys=page)
        return [version.key for part in pages for version in part.versions]

    return Trial(run, lambda got: got == list(LISTED))


def _list_uploads(environment: Environment, size: str) -> Trial:
    del size
    client = environment.client()
    return Trial(lambda: client._client.list_multipart_uploads(environment.bucket, "nothing/"), lambda got: got == [])


def _list_buckets(environment: Environment, size: str) -> Trial:
    del size
    client = environment.client()
    return Trial(lambda: [each.name for each in client.list_buckets()], lambda got: environment.bucket in got)


# ---- writing


def _put(environment: Environment, size: str) -> Trial:
    key, client, data = environment.key(), environment.client(), environment.content(size)

    def run() -> None:
        with client.put_object(environment.bucket, key) as writer:
            writer.write(data)

    return Trial(run, lambda got: got is None, written(environment, key, None, data))


def _replace(environment: Environment, size: str) -> Trial:
    key = environment.stored("small", environment.key(), number=1)
    client, data = environment.client(), environment.content(size)

    def run() -> None:
        with client.put_object(environment.bucket, key) as writer:
            for begin in range(0, len(data), PART // 2):
                writer.write(data[begin : begin + PART // 2])

    return Trial(run, lambda got: got is None, written(environment, key, environment.content("small", 1), data))


def _put_if_none_match(environment: Environment, size: str) -> Trial:
    key, client, data = environment.key(), environment.client(), environment.content(size)

    def run() -> None:
        with client.put_object(environment.bucket, key, if_none_match=True) as writer:
            writer.write(data)

    return Trial(run, lambda got: got is None, written(environment, key, None, data))


def _put_if_match(environment: Environment, size: str) -> Trial:
    del size
    key = environment.stored("small", environment.key(), number=1)
    client, data, old = environment.client(), environment.content("small"), environment.content("small", 1)
    etag = environment.clean._client.head_object(environment.bucket, key).etag
    return Trial(
        lambda: client._client.put_object(environment.bucket, key, data, if_match=etag),
        lambda got: isinstance(got, str),  # the ETag
        written(environment, key, old, data),
    )


def _upload_verbs(environment: Environment, size: str) -> Trial:
    """Create, UploadPartCopy, UploadPart, Complete; aborts the upload after an error, as callers of the verbs must."""
    del size
    source, key, client = environment.stored("multipart"), environment.key(), environment.client()
    data = environment.content("multipart")
    joined = data[:PART] + b"the end"

    def run() -> None:
        upload = client.create_multipart_upload(environment.bucket, key)
        try:
            parts = [
                client.upload_part_copy(environment.bucket, key, upload, 1, environment.bucket, source, src_range=(0, PART)),
                client.upload_part(environment.bucket, key, upload, 2, b"the end"),
            ]
            client.complete_multipart_upload(environment.bucket, key, upload, parts)
        except BaseException:
            client.abort_multipart_upload(environment.bucket, key, upload)
            raise

    return Trial(run, lambda got: got is None, written(environment, key, None, joined))


def _abort(environment: Environment, size: str) -> Trial:
    del size
    key, core = environment.key(), environment.client()._client
    upload = environment.clean.create_multipart_upload(environment.bucket, key)

    def state() -> str:
        left = [one for one in environment.open_uploads() if one[0] == key]
        for _ in left:
            environment.clean._client.abort_multipart_upload(environment.bucket, key, upload)
        return "before" if left else "after"

    return Trial(lambda: core.abort_multipart_upload(environment.bucket, key, upload), lambda got: got is None, state)


def _copy(environment: Environment, size: str) -> Trial:
    source, key, client = environment.stored(size), environment.key(), environment.client()
    return Trial(
        lambda: client.copy_object(environment.bucket, source, environment.bucket, key),
        lambda got: got is None,
        written(environment, key, None, environment.content(size)),
    )


# ---- deleting, buckets


def _delete(environment: Environment, size: str) -> Trial:
    del size
    key = environment.stored("small", environment.key())
    client = environment.client()
    return Trial(
        lambda: client.delete_object(environment.bucket, key),
        lambda got: got is None,
        written(environment, key, environment.content("small"), None),
    )


def _delete_objects(environment: Environment, size: str) -> Trial:
    del size
    prefix = environment.key()
    keys = [environment.stored("small", f"{prefix}-{number}") for number in range(4)]
    client = environment.client()
    failed: list[Any] = []

    def run() -> list[Any]:
        failed[:] = client._client.delete_objects(environment.bucket, keys)
        return failed

    def state() -> str:
        left = environment.keys(prefix)
        if sorted(left) == sorted(entry[0] for entry in failed) and failed:
            return "after"  # it reported the remaining keys
        return "after" if not left else "before"

    return Trial(run, lambda got: all(code for _, code, _ in got), state)


def _deleted(environment: Environment, bucket: str) -> bool:
    """Deletes the bucket if it exists. Returns whether it existed."""
    exists = bucket in environment.buckets()
    if exists:
        environment.clean.delete_bucket(bucket)
    return exists


def _create_bucket(environment: Environment, size: str) -> Trial:
    del size
    client, name = environment.client(), environment.bucket_name()

    def state() -> str:
        return "after" if _deleted(environment, name) else "before"

    return Trial(lambda: client.create_bucket(name), lambda got: got is None, state)


def _delete_bucket(environment: Environment, size: str) -> Trial:
    del size
    client, name = environment.client(), environment.bucket_name()
    environment.clean.create_bucket(name)

    def state() -> str:
        return "before" if _deleted(environment, name) else "after"

    return Trial(lambda: client.delete_bucket(name), lambda got: got is None, state)


def _head_bucket(environment: Environment, size: str) -> Trial:
    del size
    client = environment.client()
    return Trial(lambda: client.head_bucket(environment.bucket), lambda got: isinstance(got.region, str))


ONE_SIZE = ("small",)
OPERATIONS = (
    Operation("get whole", _get),
    Operation("read in steps", _read_in_steps),
    Operation("seek and read", _seek_and_read),
    Operation("readinto of a range", _readinto),
    Operation("read into memory", _read_into),
    Operation("head", _head, ONE_SIZE),
    Operation("list", _list),
    Operation("list versions", _list_versions),
    Operation("list uploads", _list_uploads, ONE_SIZE),
    Operation("list buckets", _list_buckets, ONE_SIZE),
    Operation("put", _put),
    Operation("replace", _replace),
    Operation("put if none match", _put_if_none_match),
    Operation("put if match", _put_if_match, ONE_SIZE),
    Operation("upload verbs", _upload_verbs, ("multipart",)),
    Operation("abort upload", _abort, ("multipart",)),
    Operation("copy", _copy),
    Operation("delete", _delete, ONE_SIZE),
    Operation("delete objects", _delete_objects, ONE_SIZE),
    Operation("create bucket", _create_bucket, ONE_SIZE),
    Operation("delete bucket", _delete_bucket, ONE_SIZE),
    Operation("head bucket", _head_bucket, ONE_SIZE),
)
