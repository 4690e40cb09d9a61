"""One client process of test_soak.py: mixed operations on its own keys for some seconds; checks each result.

Prints one line of JSON: the number of operations that succeeded and of calls that failed, and the wrong results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator
from typing import TypeAlias

import penstock

Place: TypeAlias = tuple[str, str]  # bucket and key
PART = 5 << 20
SIZES = [0, 1_000, 40_000, 300_000]


def content(label: str, size: int) -> bytes:
    """Bytes that depend on the write's label at every offset."""
    block = hashlib.sha256(label.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


class Worker:
    """Operations on this worker's keys in a plain and a versioned bucket. No other worker uses these keys."""

    def __init__(self, client: penstock.S3Client, buckets: tuple[str, str], seed: int) -> None:
        self.client, self.seed = client, seed
        self.plain, self.versioned = buckets
        self.random = random.Random(seed)
        self.states: dict[Place, set[bytes | None]] = {}  # the bodies that a read may return; None: no object
        self.versions: dict[Place, dict[str, bytes]] = {}  # acknowledged versions by id, the oldest first
        self.done = self.failed = 0
        self.wrong: list[str] = []

    def place(self) -> Place:
        return self.random.choice((self.plain, self.versioned)), f"{self.seed}/{self.random.randrange(20)}"

    def body(self, size: int) -> bytes:
        return content(f"{self.seed} {self.done} {self.failed}", size)

    def may_become(self, place: Place, body: bytes | None) -> None:
        """A change to `body` begins; whether it happened is unknown until `became`."""
        self.states.setdefault(place, {None}).add(body)

    def became(self, place: Place, body: bytes | None, version_id: str | None = None) -> None:
        self.states[place] = {body}
        if body is not None and version_id is not None:
            self.versions.setdefault(place, {})[version_id] = body

    def read(self, place: Place, version_id: str | None = None) -> bytes | None:
        try:
            return self.client.get_object(*place, version_id=version_id).read()
        except penstock.S3NotFoundError:
            return None

    def expect(self, what: str, body: bytes | None, expected: set[bytes | None]) -> None:
        if body not in expected:
            self.wrong.append(f"{what} returned {'nothing' if body is None else f'{len(body)} bytes'}")

    def put(self) -> None:
        place = self.place()
        body = self.body(self.random.choice(SIZES) if self.random.random() > 0.02 else PART + 1000)
        self.may_become(place, body)
        if place[0] == self.versioned:
            self.became(place, body, self.client.put(*place, body).version_id)
            return
        with self.client.put_object(*place) as writer:
            writer.write(body)
        self.became(place, body)

    def copy(self) -> None:
        source, target = self.place(), self.place()
        states = self.states.get(source, {None})
        if source == target or len(states) > 1:
            return
        (body,) = states
        self.may_become(target, body)
        try:
            version_id = self.client.copy(*source, *target).version_id
        except penstock.S3NotFoundError:
            if body is not None:
                self.wrong.append(f"COPY of {source} found nothing")
            return
        if body is None:
            self.wrong.append(f"COPY of the deleted {source} succeeded")
        self.became(target, body, version_id)

    def multipart(self) -> None:
        place = self.place()
        pieces = [self.body(PART), self.body(1_000)] if self.random.random() < 0.2 else [self.body(40_000)]
        is_aborted = self.random.random() < 0.3
        upload_id = self.client.create_multipart_upload(*place)
        try:
            parts = [self.client.upload_part(*place, upload_id, number, piece) for number, piece in enumerate(pieces, 1)]
            if not is_aborted:
                self.may_become(place, b"".join(pieces))
                version_id = self.client.complete_multipart_upload(*place, upload_id, parts).version_id
                self.became(place, b"".join(pieces), version_id)
        except penstock.S3Exception:
            with contextlib.suppress(penstock.S3Exception):
                self.client.abort_multipart_upload(*place, upload_id)
            raise
        if is_aborted:
            self.client.abort_multipart_upload(*place, upload_id)
            with contextlib.suppress(penstock.S3NotFoundError):
                self.client.list_parts(*place, upload_id)
                self.wrong.append(f"LIST of the parts of the aborted upload of {place} succeeded")

    def delete(self) -> None:
        place = self.place()
        self.may_become(place, None)
        self.client.delete_object(*place)
        self.became(place, None)

    def get(self) -> None:
        place = self.place()
        self.expect(f"GET {place}", self.read(place), self.states.get(place, {None}))

    def get_version(self) -> None:
        if found := self.known_version():
            place, version_id = found
            self.expect(f"GET {place} {version_id}", self.read(place, version_id), {self.versions[place][version_id]})

    def delete_version(self) -> None:
        """Deletes a version that is not the current one, so that the current one stays."""
        found = self.known_version()
        if found is None or len(self.states[found[0]]) > 1 or found[1] == list(self.versions[found[0]])[-1]:
            return
        place, version_id = found
        del self.versions[place][version_id]  # unknown if the request fails
        self.client.delete_object(*place, version_id=version_id)
        self.expect(f"GET {place} of the deleted {version_id}", self.read(place, version_id), {None})

    def known_version(self) -> tuple[Place, str] | None:
        place = self.random.choice(list(self.versions) or [self.place()])
        known = list(self.versions.get(place, ()))
        return (place, self.random.choice(known)) if known else None

    def list(self) -> None:
        for bucket in (self.plain, self.versioned):
            listed = {item.key for page in self.client.list_objects(bucket, f"{self.seed}/") for item in page.object_info}
            for place, states in self.states.items():
                if place[0] != bucket:
                    continue
                if None not in states and place[1] not in listed:
                    self.wrong.append(f"LIST without {place}")
                if states == {None} and place[1] in listed:
                    self.wrong.append(f"LIST with the deleted {place}")

    def list_versions(self) -> None:
        listed = {(version.key, version.version_id): version.size for version in self.all_versions()}
        for (_, key), known in self.versions.items():
            for version_id, body in known.items():
                if listed.get((key, version_id)) != len(body):
                    self.wrong.append(f"LIST of versions has {listed.get((key, version_id))} bytes for {key} {version_id}")

    def all_versions(self) -> Iterator[penstock.ObjectVersion]:
        for page in self.client.list_object_versions(self.versioned, f"{self.seed}/"):
            yield from page.versions

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        steps = [self.put] * 4 + [self.get] * 6 + [self.get_version] * 2
        steps += [self.copy, self.multipart, self.delete, self.delete_version, self.list, self.list_versions]
        while time.monotonic() < end:
            try:
                self.random.choice(steps)()
                self.done += 1
            except penstock.S3Exception:
                self.failed += 1

    def remove_all(self) -> None:
        """Deletes this worker's keys, so that the store does not grow with the number of workers that have run."""
        for bucket, key in self.states:
            if bucket == self.plain:
                with contextlib.suppress(penstock.S3Exception):
                    self.client.delete_object(bucket, key)
        with contextlib.suppress(penstock.S3Exception):
            for version in list(self.all_versions()):
                with contextlib.suppress(penstock.S3Exception):
                    self.client.delete_object(self.versioned, version.key, version_id=version.version_id)


def main() -> None:
    endpoint, access_key, secret_key, plain, versioned, seed, seconds = sys.argv[1:]
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id=access_key, secret_access_key=secret_key)
    worker = Worker(penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config), (plain, versioned), int(seed))
    worker.run(float(seconds))
    worker.remove_all()
    print(json.dumps({"done": worker.done, "failed": worker.failed, "wrong": worker.wrong[:5]}))


if __name__ == "__main__":
    main()
