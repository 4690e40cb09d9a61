"""One client process of test_histories.py: mixed operations on shared keys; records each call with its times.

Writes one operation of `linearizability` per line, as JSON. Prints the numbers of calls, failures, retries and successes by name.

The value of an object is its ETag. In a directory bucket, where ETags are not digests, it names the object's lines, and the lines
that begin with an ETag give the value of that ETag.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import IO, Any

import penstock
from linearizability import ABSENT
from penstock import _core

KEYS = 4  # of one generation
STEPS = 150  # of each worker with one generation
PART = 5 << 20
MAYBE = "may have been carried out"  # part of the client's error for an attempt without a clear response


def ended(error: penstock.S3Exception) -> int | None:
    """The end of a failed call's effects. None: the client left an attempt, which may take effect later."""
    left = isinstance(error, penstock.S3TimeoutError) or any(attempt.code == "timeout" for attempt in error.attempt_history)
    return None if left else time.monotonic_ns()


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def value_of(body: bytes) -> str:
    """The value of an object in a directory bucket: the names and sizes of its lines."""
    return "".join(f"{md5(line)}.{len(line)}/" for line in body.splitlines(keepends=True))


def etag_of_parts(parts: list[bytes]) -> str:
    digests = b"".join(hashlib.md5(part, usedforsecurity=False).digest() for part in parts)
    return f"{md5(digests)}-{len(parts)}"


class Worker:
    def __init__(self, client: penstock.S3Client, netloc: str, bucket: str, kind: str, seed: int, out: IO[str]) -> None:
        self.client, self.netloc, self.bucket, self.out = client, netloc, bucket, out
        self.directory, self.versioned = kind == "directory", kind == "versioned"
        self.random = random.Random(seed)
        self.seed = seed
        self.generation = self.calls = self.failed = 0
        self.begin = 0
        self.retries = 0
        self.known: dict[str, str] = {}  # the last observed ETag of each key
        self.values: dict[str, str] = {}  # in a directory bucket: the values of ETags
        self.sizes: dict[str, int] = {}  # the last observed size of each key
        self.done: Counter[str] = Counter()
        self.steps: list[Callable[[], object]] = (
            [self.get] * 5 + [self.put] * 3 + [self.create] * 3 + [self.replace] * 3 + [self.delete] * 3
            + [self.head, self.head, self.list, self.list, self.delete_many, self.copy, self.copy, self.multipart]
        )  # fmt: skip
        if self.directory:
            self.steps += [self.rename, self.rename, self.append, self.append_at, self.append_at]
        else:
            self.steps += [self.tag, self.tag_and_read, self.read_tags]
            self.steps += [self.list_versions] * (3 if self.versioned else 1)

    def key(self) -> str:
        return f"{self.generation}/{self.random.randrange(KEYS)}"

    def body(self) -> bytes:
        return (f"{self.seed} {self.calls} " * self.random.choice([1, 40, 2000]) + "\n").encode()

    # ---- recording

    def start(self) -> None:
        self.retries = self.client.metrics()["retries"]
        self.begin = time.monotonic_ns()

    def record(self, key: str, text: str, *writes: str, end: float | None = None, **more: Any) -> None:
        """Records an operation. `more`: other members of `linearizability.Operation`."""
        row = {"key": key, "begin": self.begin, "end": end, "text": f"{self.seed}.{self.calls} {text} {key}", "writes": writes}
        self.out.write(json.dumps(row | more) + "\n")

    def record_done(self, key: str, text: str, *writes: str, **more: Any) -> None:
        self.record(key, text, *writes, end=time.monotonic_ns(), **more)

    def record_value(self, etag: str, value: str) -> None:
        if self.directory:
            self.values[etag] = value
            self.out.write(json.dumps({"etag": etag, "value": value}) + "\n")

    def of_etag(self, etag: str) -> str:
        """The value of an ETag. In a directory bucket, a reader of all histories resolves it."""
        return f"ETag {etag}" if self.directory and etag else etag

    def record_write(self, key: str, text: str, value: str, only_if: str | None = None, **more: Any) -> None:
        """Records a successful write. If it was sent several times, each request may have taken effect before the response."""
        end = time.monotonic_ns()
        self.record(key, text, value, only_if=only_if, end=end, **more)
        for _ in range(self.client.metrics()["retries"] - self.retries):
            self.record(key, text + " again", value, only_if=only_if, end=end, optional=True, **more)
        self.done[text.partition(" ")[0]] += 1

    def record_failure(
        self, error: penstock.S3Exception, key: str, text: str, value: str, only_if: str | None = None, **more: Any
    ) -> None:
        """Records a failed write: without effect if the client's error excludes one, else with an optional effect."""
        self.failed += 1
        clear = (
            penstock.S3NotFoundError,
            penstock.S3PreconditionFailedError,
            penstock.S3ConflictError,
            penstock.S3ThrottledError,
        )
        is_clear = isinstance(error, clear)  # then the last attempt had no effect
        if not is_clear or MAYBE in str(error):
            for _ in range(max(1, error.attempts - is_clear)):
                text_of = f"{text} that failed: {error.code}"
                self.record(key, text_of, value, only_if=only_if, end=ended(error), optional=True, **more)

    # ---- operations

    def observed(self, key: str, text: str, etag: str) -> None:
        self.record_done(key, f"{text}: {etag or 'nothing'}", only_if=self.of_etag(etag))
        self.known[key] = etag

    def get(self) -> None:
        key = self.key()
        try:
            body, found, _ = self.client._client.read(self.bucket, key)
        except penstock.S3NotFoundError:
            self.observed(key, "get", ABSENT)
            return
        self.sizes[key] = len(body)
        if self.directory:
            self.record_value(found.etag, value_of(body))
        right = self.directory or found.etag in (md5(body), etag_of_parts(split(body)))
        self.observed(key, "get", found.etag if right else f"{len(body)} bytes that are not those of {found.etag}")

    def head(self) -> None:
        key = self.key()
        try:
            etag = self.client.head_object(self.bucket, key).etag.strip('"')
        except penstock.S3NotFoundError:
            etag = ABSENT
        self.observed(key, "head", etag)

    def list(self) -> None:
        found = {
            item.key: item for page in self.client.list_objects(self.bucket, f"{self.generation}/") for item in page.object_info
        }
        for number in range(KEYS):
            key = f"{self.generation}/{number}"
            self.observed(key, "list", found[key].etag.strip('"') if key in found else ABSENT)

    def list_versions(self) -> None:
        """Observes the versions of each key, and reads or deletes one version."""
        pages = list(self.client.list_object_versions(self.bucket, f"{self.generation}/"))
        assert len(pages) == 1, "one listing must show all versions"
        listed = pages[0].versions
        for number in range(KEYS):
            key = f"{self.generation}/{number}"
            of_key = [(version.version_id, version.etag.strip('"')) for version in listed if version.key == key]
            etag = of_key[0][1] if of_key else ABSENT
            if self.versioned:
                self.record_done(key, f"list versions: {etag or 'nothing'}", does="list versions", of=of_key)
                self.known[key] = etag
            else:
                self.observed(key, "list versions", etag)
        if not self.versioned or not listed:
            return
        self.start()
        newest = [version for version in listed if version.is_latest]
        chosen = self.random.choice(newest if newest and self.random.random() < 0.5 else listed)
        if chosen.is_delete_marker or self.random.random() < 0.6:
            self.delete_version(chosen)
        else:
            self.get_version(chosen)

    def get_version(self, chosen: penstock.ObjectVersion) -> None:
        etag: str | None = chosen.etag.strip('"')
        try:
            body, found, _ = self.client._client.read(self.bucket, chosen.key, version_id=chosen.version_id)
        except penstock.S3NotFoundError:
            etag = None
        else:
            if found.etag != etag or etag not in (md5(body), etag_of_parts(split(body))):
                etag = f"{len(body)} bytes that are not those of {chosen.etag}"
        text = f"get version {chosen.version_id}: {etag or 'nothing'}"
        self.record_done(chosen.key, text, does="read version", of=[chosen.version_id, etag])

    def delete_version(self, chosen: penstock.ObjectVersion) -> None:
        text = f"delete version {chosen.version_id}"
        remove: dict[str, Any] = {"does": "remove version", "of": [chosen.version_id]}
        try:
            self.client._client.delete_object(self.bucket, chosen.key, chosen.version_id)
        except penstock.S3Exception as error:
            self.failed += 1
            self.record(chosen.key, f"{text} that failed: {error.code}", end=ended(error), optional=True, **remove)
            return
        self.record_done(chosen.key, text, **remove)  # once: a repeated deletion of a version has no effect
        self.done["delete version"] += 1

    def delete_many(self) -> None:
        keys = self.two_keys()
        try:
            errors = {key: code for key, code, _ in self.client._client.delete_objects(self.bucket, keys)}
        except penstock.S3Exception as error:
            for key in keys:
                self.record_failure(error, key, "delete many", ABSENT)
            return
        for key in keys:
            if key in errors:
                self.record_done(key, f"delete many that failed: {errors[key]}", ABSENT, optional=True)
            else:
                self.record_write(key, "delete many", ABSENT)
                self.known[key] = ABSENT

    def write(self, text: str, key: str, body: bytes, only_if: str | None, call: Callable[[], Any]) -> None:
        """Makes a conditional or unconditional write. `body`: of the written object; empty: it is deleted."""
        value = (value_of if self.directory else md5)(body) if body else ABSENT
        try:
            etag = call()
        except penstock.S3PreconditionFailedError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, text, value, only_if)
            elif not self.directory or only_if == ABSENT:  # there, objects of one value may have several ETags
                self.record_done(key, text + ": 412", only_unless=only_if)
        except penstock.S3NotFoundError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, text, value, only_if)
            else:
                self.record_done(key, text + ": 404", only_if=ABSENT)
        except penstock.S3Exception as error:
            self.record_failure(error, key, text, value, only_if)
        else:
            self.record_write(key, text, value, only_if)
            self.sizes[key] = len(body)
            self.known[key] = etag or ABSENT
            if etag:
                self.record_value(etag, value)

    def put(self) -> None:
        key, body = self.key(), self.body()
        self.write("put", key, body, None, lambda: self.client._client.put_object(self.bucket, key, body))

    def create(self) -> None:
        key, body = self.key(), self.body()
        call = lambda: self.client._client.put_object(self.bucket, key, body, if_none_match=True)  # noqa: E731
        self.write("create", key, body, ABSENT, call)

    def replace(self) -> None:
        key, body = self.key(), self.body()
        etag = self.known.get(key)
        if not etag:
            self.create()
            return
        call = lambda: self.client._client.put_object(self.bucket, key, body, if_match=etag)  # noqa: E731
        self.write(f"replace {etag}", key, body, self.of_etag(etag), call)

    def delete(self) -> None:
        key = self.key()
        self.write("delete", key, b"", None, lambda: self.client.delete_object(self.bucket, key))

    def copy(self) -> None:
        """Copies another key. Skips objects that were uploaded in parts, because their copies have other ETags."""
        source, key = self.two_keys()
        etag = self.known.get(source)
        if not etag or "-" in etag or (self.directory and etag not in self.values):
            self.head()
            return
        # With src_etag, a copy that fails without a response can only have written this object.
        call = lambda: self.client._client.copy_object(self.bucket, source, self.bucket, key, src_etag=etag)  # noqa: E731
        begin = self.begin
        value = self.values[etag] if self.directory else etag
        tags: dict[str, Any] = {} if self.directory else {"does": "copy", "of": [value]}
        try:
            copied = call()
        except penstock.S3PreconditionFailedError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, "copy", value, **tags)
            elif not self.directory:
                self.record_done(source, "copy from: 412", only_unless=etag)
        except penstock.S3NotFoundError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, "copy", value, **tags)
            else:
                self.record_done(source, "copy from: 404", only_if=ABSENT)
        except penstock.S3Exception as error:
            self.record_failure(error, key, "copy", value, **tags)
        else:
            self.record_write(key, "copy", value, **tags)
            self.known[key] = copied
            self.record_value(copied, value)
            self.begin = begin
            self.record_done(source, f"copy from: {etag}", only_if=value)

    def two_keys(self) -> Sequence[str]:
        return self.random.sample([f"{self.generation}/{number}" for number in range(KEYS)], 2)

    # ---- tags, which the client does not have, and operations of directory buckets

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """Sends one request without the client. Returns the status and the body; status 0: the emulator ended the connection."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        wire = http.client.HTTPConnection(self.netloc, timeout=600)
        try:
            wire.request(method, f"/{self.bucket}/{path}", body, named)
            response = wire.getresponse()
            return response.status, response.read()
        except (ConnectionError, http.client.HTTPException):
            return 0, b""
        finally:
            wire.close()

    def sent(self, status: int, key: str, text: str, **effect: Any) -> None:
        """Records the effect of a request that was sent once. No fault delays it beyond the end of the connection."""
        if status == 200:
            self.record_done(key, text, **effect)
            self.done[text.partition(" ")[0]] += 1
            return
        self.failed += 1
        if status != 503:
            self.record_done(key, f"{text} that failed: {status}", optional=True, **effect)

    def tag(self) -> str:
        key, tags = self.key(), f"{self.seed}.{self.calls}"
        body = f"<Tagging><TagSet><Tag><Key>tag</Key><Value>{tags}</Value></Tag></TagSet></Tagging>".encode()
        digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
        status, _ = self.send("PUT", f"{key}?tagging=", body, Content_MD5=digest)
        if status in (404, 405):
            self.record_done(key, f"tag: {status}", only_if=ABSENT)
        else:
            self.sent(status, key, "tag", does="tag", of=[tags])
        return key

    def tag_and_read(self) -> None:
        key = self.tag()
        self.start()
        self.read_tags(key)

    def read_tags(self, key: str | None = None) -> None:
        key = key or self.key()
        status, body = self.send("GET", f"{key}?tagging=")
        if status in (404, 405):
            self.record_done(key, f"read tags: {status}", only_if=ABSENT)
        elif status == 200:
            tags = body.partition(b"<Value>")[2].partition(b"</Value>")[0].decode()
            self.record_done(key, f"read tags: {tags or 'none'}", does="read tags", of=[tags])
            self.done["tags"] += bool(tags)

    def rename(self) -> None:
        """Renames an object. The client's token makes its requests take effect once, however often they are sent."""
        source, target = self.two_keys()
        creates = self.random.random() < 0.3
        effect: dict[str, Any] = {"does": "rename", "of": [target, creates]}
        try:
            self.client.rename_object(self.bucket, source, target, if_none_match="*" if creates else None)
        except (penstock.S3NotFoundError, penstock.S3PreconditionFailedError) as error:
            # If an earlier attempt had renamed the object, this error would be a success.
            if ended(error) is None:
                self.record(source, "rename that failed", optional=True, **effect)
            elif isinstance(error, penstock.S3NotFoundError):
                self.record_done(source, "rename: 404", only_if=ABSENT)
            else:
                self.record_done(target, "rename to: 412", only_unless=ABSENT)
        except penstock.S3Exception as error:
            self.failed += 1
            if not isinstance(error, penstock.S3ThrottledError) or MAYBE in str(error):
                self.record(source, f"rename that failed: {error.code}", end=ended(error), optional=True, **effect)
        else:
            self.record_done(source, f"rename to {target}", **effect)
            self.done["rename"] += 1

    def append(self) -> None:
        """Appends with the client's writer. Only an append at 0 may take effect again: if the object was removed in between."""
        key, piece = self.key(), self.body()
        writer = _core.AppendWriter(self.client._client, self.bucket, key)
        before = writer.size
        effect: dict[str, Any] = {"does": "append", "of": [value_of(piece), before]}
        try:
            writer.append(piece)
        except penstock.S3Exception as error:
            self.failed += 1
            if error.attempts > 1 or error.code not in ("InvalidWriteOffset", "NoSuchKey", "PreconditionFailed", "SlowDown"):
                for _ in range(error.attempts if before == 0 else 1):
                    self.record(key, f"append at {before} that failed: {error.code}", optional=True, **effect)
            return
        self.record_done(key, f"append at {before}", **effect)
        for _ in range(self.client.metrics()["retries"] - self.retries if before == 0 else 0):
            self.record_done(key, "append at 0 again", optional=True, **effect)
        self.done["append"] += 1
        self.sizes[key] = writer.size

    def append_at(self) -> None:
        """Appends with one request, at the size that was observed last or at another offset."""
        key, piece = self.key(), self.body()
        offset = self.sizes.get(key, 0) + self.random.choice([0, 0, 0, 1])
        status, response = self.send("PUT", key, piece, x_amz_write_offset_bytes=str(offset))
        if status == 404:
            self.record_done(key, f"append at {offset}: 404", only_if=ABSENT)
        elif status == 400 and b"InvalidWriteOffset" in response:
            self.record_done(key, f"append at {offset}: refused", does="append refused", of=[offset])
            self.done["append refused"] += 1
        else:
            self.sent(status, key, f"append at {offset}", does="append", of=[value_of(piece), offset])
            if status == 200:
                self.sizes[key] = offset + len(piece)

    def multipart(self) -> None:
        """One upload in 20 uses the writer, with two parts. The others send each request of a one-part upload."""
        key = self.key()
        if self.random.random() < 0.05:
            body = (f"part {self.seed} {self.calls} ".encode() * (1 + PART // 8))[: PART + 1000] + b"\n"
            self.write_parts(key, body, if_none_match=self.random.random() < 0.5)
            return
        body = b"part " + self.body()
        try:
            upload = self.client.create_multipart_upload(self.bucket, key)
            part = self.client.upload_part(self.bucket, key, upload, 1, body)
        except penstock.S3Exception:
            self.failed += 1
            return
        self.start()
        value = value_of(body) if self.directory else etag_of_parts([body])
        try:
            etag = self.client.complete_multipart_upload(self.bucket, key, upload, [part]).etag.strip('"')
        except penstock.S3Exception as error:  # this call does not look for the object after an unclear response
            self.failed += 1
            if error.attempts > 1 or not isinstance(error, penstock.S3ThrottledError):
                self.record(key, "complete that failed", value, end=ended(error), optional=True)
            return
        self.record_done(key, "complete", value)  # at most once: the upload is gone
        self.record_value(etag, value)
        self.done["complete"] += 1

    def write_parts(self, key: str, body: bytes, *, if_none_match: bool) -> None:
        """Uses the writer for large objects. Its upload takes effect at most once, however often its requests are sent."""
        value = value_of(body) if self.directory else etag_of_parts(split(body))
        only_if = ABSENT if if_none_match else None
        try:
            with self.client.put_object(self.bucket, key, if_none_match=if_none_match) as writer:
                writer.write(body)
        except penstock.S3Exception as error:
            self.failed += 1
            if isinstance(error, penstock.S3PreconditionFailedError) and MAYBE not in str(error):
                self.record_done(key, "writer: 412", only_unless=ABSENT)
            else:
                self.record(key, f"writer that failed: {error.code}", value, only_if=only_if, optional=True)
        else:
            self.record_done(key, "writer", value, only_if=only_if)

    def run(self, generations: int) -> None:
        for self.generation in range(generations):
            self.known.clear()
            self.sizes.clear()
            for _ in range(STEPS):
                self.calls += 1
                self.start()
                try:
                    self.random.choice(self.steps)()
                except penstock.S3Exception:  # a failed read has no observation
                    self.failed += 1


def split(body: bytes) -> list[bytes]:
    """The parts in which an object of this test was uploaded."""
    return [body] if len(body) < PART else [body[:PART], body[PART:]]


def main() -> None:
    endpoint, access_key, secret_key, bucket, kind, seed, generations, out = sys.argv[1:]
    config = penstock.S3ClientConfig(
        force_path_style=True, access_key_id=access_key, secret_access_key=secret_key, part_size=PART, max_attempts=3,
        attempt_timeout=5.0, operation_timeout=20.0,
    )  # fmt: skip
    with open(out, "w") as file:  # noqa: PTH123
        client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)
        worker = Worker(client, endpoint.removeprefix("http://"), bucket, kind, int(seed), file)
        worker.run(int(generations))
    counts = {"calls": worker.calls, "failed": worker.failed, "retries": client.metrics()["retries"]}
    print(json.dumps(counts | worker.done))


if __name__ == "__main__":
    main()
