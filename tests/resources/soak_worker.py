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

import penstock

PART = 5 << 20
SIZES = [0, 1_000, 40_000, 300_000]


def content(label: str, size: int) -> bytes:
    """Bytes that depend on the write's label at every offset."""
    block = hashlib.sha256(label.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


class Worker:
    def __init__(self, client: penstock.S3Client, bucket: str, seed: int) -> None:
        self.client, self.bucket, self.seed = client, bucket, seed
        self.random = random.Random(seed)
        self.states: dict[str, set[bytes | None]] = {}  # by key, the bodies that a read may return; None: no object
        self.done = self.failed = 0
        self.wrong: list[str] = []

    def key(self) -> str:
        return f"{self.seed}/{self.random.randrange(20)}"

    def put(self) -> None:
        size = self.random.choice(SIZES) if self.random.random() > 0.02 else PART + 1000
        key, body = self.key(), content(f"{self.seed} {self.done} {self.failed}", size)
        self.states.setdefault(key, {None}).add(body)
        with self.client.put_object(self.bucket, key) as writer:
            writer.write(body)
        self.states[key] = {body}

    def delete(self) -> None:
        key = self.key()
        self.states.setdefault(key, {None}).add(None)
        self.client.delete_object(self.bucket, key)
        self.states[key] = {None}

    def get(self) -> None:
        key = self.key()
        body: bytes | None
        try:
            body = self.client.get_object(self.bucket, key).read()
        except penstock.S3NotFoundError:
            body = None
        if body not in self.states.get(key, {None}):
            self.wrong.append(f"GET {key} returned {'nothing' if body is None else f'{len(body)} bytes'}")

    def list(self) -> None:
        listed = {item.key for page in self.client.list_objects(self.bucket, f"{self.seed}/") for item in page.object_info}
        for key, states in self.states.items():
            if None not in states and key not in listed:
                self.wrong.append(f"LIST without {key}")
            if states == {None} and key in listed:
                self.wrong.append(f"LIST with the deleted {key}")

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        steps = [self.put] * 4 + [self.get] * 6 + [self.delete, self.list]
        while time.monotonic() < end:
            try:
                self.random.choice(steps)()
                self.done += 1
            except penstock.S3Exception:
                self.failed += 1

    def remove_all(self) -> None:
        """Deletes this worker's keys, so that the store does not grow with the number of workers that have run."""
        for key in self.states:
            with contextlib.suppress(penstock.S3Exception):
                self.client.delete_object(self.bucket, key)


def main() -> None:
    endpoint, access_key, secret_key, bucket, seed, seconds = sys.argv[1:]
    config = penstock.S3ClientConfig(force_path_style=True, access_key_id=access_key, secret_access_key=secret_key)
    worker = Worker(penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config), bucket, int(seed))
    worker.run(float(seconds))
    worker.remove_all()
    print(json.dumps({"done": worker.done, "failed": worker.failed, "wrong": worker.wrong[:5]}))


if __name__ == "__main__":
    main()
