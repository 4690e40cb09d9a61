"""One client process of tests/test_histories.py: mixed operations on shared keys; records each call with its times.

Writes one operation of `linearizability` per line, as JSON. Prints the numbers of calls, failures and retries.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time
from collections.abc import Callable
from typing import IO, Any

import penstock
from linearizability import ABSENT

KEYS = 4  # of one generation
STEPS = 150  # of each worker with one generation
PART = 5 << 20
MAYBE = "may have been carried out"  # part of the client's error for an attempt without a clear response


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def etag_of_parts(parts: list[bytes]) -> str:
    digests = b"".join(hashlib.md5(part, usedforsecurity=False).digest() for part in parts)
    return f"{md5(digests)}-{len(parts)}"


class Worker:
    def __init__(self, client: penstock.S3Client, bucket: str, seed: int, out: IO[str]) -> None:
        self.client, self.bucket, self.out = client, bucket, out
        self.random = random.Random(seed)
        self.seed = seed
        self.generation = self.calls = self.failed = 0
        self.begin = 0
        self.retries = 0
        self.known: dict[str, str] = {}  # the last observed ETag of each key
        self.steps: list[Callable[[], None]] = (
            [self.get] * 5 + [self.put] * 3 + [self.create] * 3 + [self.replace] * 3 + [self.delete] * 3
            + [self.head, self.head, self.list, self.list, self.list_versions, self.delete_many, self.copy, self.multipart]
        )  # fmt: skip

    def key(self) -> str:
        return f"{self.generation}/{self.random.randrange(KEYS)}"

    def body(self) -> bytes:
        label = f"{self.seed} {self.calls} ".encode()
        return label * self.random.choice([1, 40, 2000])

    # ---- recording

    def start(self) -> None:
        self.retries = self.client.stats()["retries"]
        self.begin = time.monotonic_ns()

    def record(
        self, key: str, text: str, writes: tuple[str, ...] = (), only_if: str | None = None, only_unless: str | None = None,
        *, end: int | None = None, optional: bool = False,
    ) -> None:  # fmt: skip
        row = [key, self.begin, end, f"{self.seed}.{self.calls} {text} {key}", writes, only_if, only_unless, optional]
        self.out.write(json.dumps(row) + "\n")

    def record_write(self, key: str, text: str, etag: str, only_if: str | None = None) -> None:
        """Records a successful write. If it was sent several times, each request may have taken effect before the response."""
        end = time.monotonic_ns()
        self.record(key, text, (etag,), only_if, end=end)
        for _ in range(self.client.stats()["retries"] - self.retries):
            self.record(key, text + " again", (etag,), only_if, end=end, optional=True)
        self.known[key] = etag

    def record_failure(self, error: penstock.S3Exception, key: str, text: str, etag: str, only_if: str | None) -> None:
        """Records a failed write: without effect if the client's error excludes one, else with an effect at any later time."""
        self.failed += 1
        clear = (
            penstock.S3NotFoundError,
            penstock.S3PreconditionFailedError,
            penstock.S3ConflictError,
            penstock.S3ThrottledError,
        )
        if not isinstance(error, clear) or MAYBE in str(error):
            for _ in range(max(1, error.attempts)):
                self.record(key, text + f" that failed: {error.code}", (etag,), only_if, optional=True)

    # ---- operations

    def observed(self, key: str, text: str, etag: str) -> None:
        self.record(key, f"{text}: {etag or 'nothing'}", only_if=etag, end=time.monotonic_ns())
        self.known[key] = etag

    def get(self) -> None:
        key = self.key()
        try:
            body, found, _ = self.client._client.read(self.bucket, key)
        except penstock.S3NotFoundError:
            self.observed(key, "get", ABSENT)
            return
        right = found.etag in (md5(body), etag_of_parts(split(body)))
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
        """Observes the latest version of each key, and reads one version. Nothing deletes versions."""
        pages = self.client.list_object_versions(self.bucket, f"{self.generation}/")
        versions = [version for page in pages for version in page.versions]
        latest = {version.key: version for version in versions if version.is_latest and not version.is_delete_marker}
        for number in range(KEYS):
            key = f"{self.generation}/{number}"
            self.observed(key, "list versions", latest[key].etag.strip('"') if key in latest else ABSENT)
        kept = [version for version in versions if version.version_id != "null" and not version.is_delete_marker]
        if not kept:
            return
        chosen = self.random.choice(kept)
        etag = chosen.etag.strip('"')
        try:
            body, found, _ = self.client._client.read(self.bucket, chosen.key, version_id=chosen.version_id)
        except penstock.S3NotFoundError:
            self.observed(chosen.key, "get version", f"no version {chosen.version_id}, which was listed")
            return
        if found.etag != etag or etag not in (md5(body), etag_of_parts(split(body))):
            self.observed(chosen.key, "get version", f"{len(body)} bytes that are not those of version {chosen.version_id}")

    def delete_many(self) -> None:
        keys = self.random.sample([f"{self.generation}/{number}" for number in range(KEYS)], 2)
        try:
            errors = {key: code for key, code, _ in self.client._client.delete_objects(self.bucket, keys)}
        except penstock.S3Exception as error:
            for key in keys:
                self.record_failure(error, key, "delete many", ABSENT, None)
            return
        for key in keys:
            if key in errors:
                self.record(key, f"delete many that failed: {errors[key]}", (ABSENT,), optional=True)
            else:
                self.record_write(key, "delete many", ABSENT)

    def write(self, text: str, key: str, etag: str, only_if: str | None, call: Callable[[], Any]) -> None:
        try:
            call()
        except penstock.S3PreconditionFailedError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, text, etag, only_if)
            else:
                self.record(key, text + ": 412", only_unless=only_if, end=time.monotonic_ns())
        except penstock.S3NotFoundError as error:
            if MAYBE in str(error):
                self.record_failure(error, key, text, etag, only_if)
            else:
                self.record(key, text + ": 404", only_if=ABSENT, end=time.monotonic_ns())
        except penstock.S3Exception as error:
            self.record_failure(error, key, text, etag, only_if)
        else:
            self.record_write(key, text, etag, only_if)

    def put(self) -> None:
        key, body = self.key(), self.body()
        self.write("put", key, md5(body), None, lambda: self.client._client.put_object(self.bucket, key, body))

    def create(self) -> None:
        key, body = self.key(), self.body()
        call = lambda: self.client._client.put_object(self.bucket, key, body, if_none_match=True)  # noqa: E731
        self.write("create", key, md5(body), ABSENT, call)

    def replace(self) -> None:
        key, body = self.key(), self.body()
        etag = self.known.get(key)
        if not etag:
            self.create()
            return
        call = lambda: self.client._client.put_object(self.bucket, key, body, if_match=etag)  # noqa: E731
        self.write(f"replace {etag}", key, md5(body), etag, call)

    def delete(self) -> None:
        key = self.key()
        self.write("delete", key, ABSENT, None, lambda: self.client.delete_object(self.bucket, key))

    def copy(self) -> None:
        """Copies another key. Skips objects that were uploaded in parts, because their copies have other ETags."""
        source, key = self.random.sample([f"{self.generation}/{number}" for number in range(KEYS)], 2)
        etag = self.known.get(source)
        if not etag or "-" in etag:
            self.head()
            return
        # With src_etag, a copy that fails without a response can only have written this ETag.
        call = lambda: self.client._client.copy_object(self.bucket, source, self.bucket, key, src_etag=etag)  # noqa: E731
        begin = self.begin
        try:
            call()
        except penstock.S3PreconditionFailedError as error:
            if MAYBE not in str(error):
                self.record(source, "copy from: 412", only_unless=etag, end=time.monotonic_ns())
            else:
                self.record_failure(error, key, "copy", etag, None)
        except penstock.S3NotFoundError as error:
            if MAYBE not in str(error):
                self.record(source, "copy from: 404", only_if=ABSENT, end=time.monotonic_ns())
            else:
                self.record_failure(error, key, "copy", etag, None)
        except penstock.S3Exception as error:
            self.record_failure(error, key, "copy", etag, None)
        else:
            self.record_write(key, "copy", etag)
            self.begin = begin
            self.record(source, f"copy from: {etag}", only_if=etag, end=time.monotonic_ns())

    def multipart(self) -> None:
        """One upload in 20 uses the writer, with two parts. The others send each request of a one-part upload."""
        key = self.key()
        if self.random.random() < 0.05:
            body = (f"part {self.seed} {self.calls} ".encode() * (1 + PART // 8))[: PART + 1000]
            self.write_parts(key, body, if_none_match=self.random.random() < 0.5)
            return
        core = self.client._client
        body = b"part " + self.body()
        try:
            upload = core.create_multipart_upload(self.bucket, key)
            part = core.upload_part(self.bucket, key, upload, 1, body)
        except penstock.S3Exception:
            self.failed += 1
            return
        self.start()
        call = lambda: core.complete_multipart_upload(self.bucket, key, upload, [part], len(body))  # noqa: E731
        try:
            call()
        except penstock.S3Exception as error:  # this call does not look for the object after an unclear response
            self.failed += 1
            if error.attempts > 1 or not isinstance(error, penstock.S3ThrottledError):
                self.record(key, "complete that failed", (etag_of_parts([body]),), optional=True)
            return
        self.record(key, "complete", (etag_of_parts([body]),), end=time.monotonic_ns())  # at most once: the upload is gone

    def write_parts(self, key: str, body: bytes, *, if_none_match: bool) -> None:
        """Uses the writer for large objects. Its upload takes effect at most once, however often its requests are sent."""
        etag, only_if = etag_of_parts(split(body)), ABSENT if if_none_match else None
        try:
            with self.client.put_object(self.bucket, key, if_none_match=if_none_match) as writer:
                writer.write(body)
        except penstock.S3Exception as error:
            self.failed += 1
            if isinstance(error, penstock.S3PreconditionFailedError) and MAYBE not in str(error):
                self.record(key, "writer: 412", only_unless=ABSENT, end=time.monotonic_ns())
            else:
                self.record(key, f"writer that failed: {error.code}", (etag,), only_if, optional=True)
        else:
            self.record(key, "writer", (etag,), only_if, end=time.monotonic_ns())

    def run(self, generations: int) -> None:
        for self.generation in range(generations):
            self.known.clear()
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
    endpoint, access_key, secret_key, bucket, seed, generations, out = sys.argv[1:]
    config = penstock.S3ClientConfig(
        force_path_style=True, access_key_id=access_key, secret_access_key=secret_key, part_size=PART, max_attempts=3,
        attempt_timeout=5.0, operation_timeout=20.0,
    )  # fmt: skip
    with open(out, "w") as file:  # noqa: PTH123
        worker = Worker(penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config), bucket, int(seed), file)
        worker.run(int(generations))
    print(json.dumps({"calls": worker.calls, "failed": worker.failed, "retries": worker.client.stats()["retries"]}))


if __name__ == "__main__":
    main()
