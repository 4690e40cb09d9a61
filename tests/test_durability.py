"""`kill -9` in either durability: nothing acknowledged is lost, nothing is torn, fsck finds nothing.

Several connections put, overwrite, copy, delete (one and many) and complete multipart uploads in a plain, a versioned and a
directory bucket; the process is killed at a random moment; the next one must show, for every key, what was acknowledged last or
what was under way. The seed is printed; PENSTOCK_SEED repeats it. PENSTOCK_LONG=1 kills 1,000 times.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from store_process import BUCKETS, Requests, Server, body_of, fsck, make_buckets

LONG = bool(os.environ.get("PENSTOCK_LONG"))
ROUNDS = 500 if LONG else 5  # of each durability
WORKERS = 6
KEYS_PER_BUCKET = 4
SIZES = [0, 100, 1_000, 30_000, 40_000, 300_000]  # up to 32 KiB lives in the database, the rest in files
PART = 5 << 20
MISSING = None


@dataclass
class Key:
    """What may be there: the acknowledged state, and the one of a write that got no answer."""

    path: str
    states: list[str | None] = field(default_factory=lambda: [MISSING])  # SHA-256 of the body
    written: set[str | None] = field(default_factory=lambda: {MISSING})  # every state it may ever have had

    def begin(self, body: bytes | None) -> None:
        self.begin_state(MISSING if body is None else hashlib.sha256(body).hexdigest())

    def begin_state(self, state: str | None) -> None:
        self.states.append(state)
        self.written.add(state)

    def acknowledged(self) -> None:
        self.states = self.states[-1:]


class Progress:
    """How many writes were acknowledged, by all workers together."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def add(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify()

    def reaches(self, count: int) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.count >= count, timeout=300)


class RefusedError(Exception):
    """An answer that is not the expected one."""


class Worker(threading.Thread):
    """Writes to keys of its own until its connection breaks or a write is refused."""

    def __init__(self, netloc: str, keys: list[Key], seed: str, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self.connection = Requests(netloc)
        self.keys = keys
        self.random = random.Random(seed)
        self.label = seed
        self.writes = 0
        self.refused: str | None = None

    def run(self) -> None:
        try:
            while True:
                self.step()
        except RefusedError as refused:
            self.refused = str(refused)
        except (OSError, http.client.HTTPException):
            pass  # killed

    def expect(self, answer: tuple[int, bytes], *statuses: int) -> bytes:
        if answer[0] not in statuses:
            raise RefusedError(f"{answer[0]} {answer[1][:300]!r}")
        return answer[1]

    def step(self) -> None:
        key = self.random.choice(self.keys)
        self.writes += 1
        label = f"{self.label} {self.writes}"
        kind = self.random.random()
        if kind < 0.15:
            key.begin(None)
            self.expect(self.connection.send("DELETE", key.path), 204)
        elif kind < 0.2:
            self.delete_many()
            return
        elif kind < 0.35:
            self.multipart(key, label)
        elif kind < 0.45:
            self.copy(key)
        else:
            body = body_of(label, self.random.choice(SIZES))
            key.begin(body)
            self.expect(self.connection.send("PUT", key.path, body), 200)
        key.acknowledged()
        self.progress.add()

    def delete_many(self) -> None:
        bucket = self.random.choice(BUCKETS)
        keys = [key for key in self.keys if key.path.startswith(f"/{bucket}/")]
        listed = "".join(f"<Object><Key>{key.path.removeprefix(f'/{bucket}/')}</Key></Object>" for key in keys)
        for key in keys:
            key.begin(None)
        document = f"<Delete>{listed}</Delete>".encode()
        answer = self.expect(self.connection.send("POST", f"/{bucket}?delete=", document), 200)
        if b"<Error>" in answer:
            raise RefusedError(f"200 {answer[:300]!r}")
        for key in keys:
            key.acknowledged()
        self.progress.add()

    def copy(self, key: Key) -> None:
        """From a key of its own whose only state is known."""
        sources = [other for other in self.keys if len(other.states) == 1 and other.states[0] is not MISSING and other is not key]
        if not sources:
            return
        source = self.random.choice(sources)
        key.begin_state(source.states[0])
        self.expect(self.connection.send("PUT", key.path, x_amz_copy_source=source.path), 200)

    def multipart(self, key: Key, label: str) -> None:
        # A part may be small only when it is the last; two real parts are slow, so they are rare.
        parts = [body_of(f"{label} 1", PART)] if self.random.random() < 0.05 else []
        parts.append(body_of(f"{label} last", self.random.choice(SIZES[1:])))
        created = self.expect(self.connection.send("POST", f"{key.path}?uploads="), 200)
        upload = re.search(rb"<UploadId>([^<]+)", created)
        assert upload, created
        query = f"uploadId={upload.group(1).decode()}"
        listed = ""
        for number, part in enumerate(parts, 1):
            self.expect(self.connection.send("PUT", f"{key.path}?partNumber={number}&{query}", part), 200)
            listed += f"<Part><PartNumber>{number}</PartNumber><ETag>{self.connection.etag}</ETag></Part>"
        key.begin(b"".join(parts))
        document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        self.expect(self.connection.send("POST", f"{key.path}?{query}", document), 200)


def check(netloc: str, keys: list[Key]) -> int:
    """Every key is in a state it may be in, which is the only one from now on. How many have a body."""
    connection = Requests(netloc)
    found = 0
    for key in keys:
        status, body = connection.send("GET", key.path)
        assert status in (200, 404), (status, body[:300])
        state = MISSING if status == 404 else hashlib.sha256(body).hexdigest()
        assert state in key.states, f"{key.path}: {status}, {len(body)} bytes of no write that may be there ({len(key.states)})"
        key.states = [state]
        found += status == 200
    return found


def check_listing(netloc: str, keys: list[Key]) -> None:
    listed = set()
    for bucket in BUCKETS:
        body = Requests(netloc).expect(200, "GET", f"/{bucket}?list-type=2")
        listed |= {f"/{bucket}/{key}" for key in re.findall(r"<Key>([^<]+)", body.decode())}
    assert listed == {key.path for key in keys if key.states != [MISSING]}


@pytest.fixture
def seed() -> Iterator[int]:
    value = int(os.environ.get("PENSTOCK_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"PENSTOCK_SEED={value}")
    yield value


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("durability", ["strict", "relaxed"])
def test_a_kill_at_any_moment_loses_nothing(durability: str, tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    data = tmp_path / "s3"
    keys = [
        [Key(f"/{bucket}/{worker}-{number}") for bucket in BUCKETS for number in range(KEYS_PER_BUCKET)]
        for worker in range(WORKERS)
    ]
    everything = [key for own in keys for key in own]
    emulator = Server(data, "--durability", durability)
    writes = found = 0
    try:
        make_buckets(emulator)
        for number in range(ROUNDS):
            progress = Progress()
            workers = [Worker(emulator.netloc, own, f"{seed} {number} {i}", progress) for i, own in enumerate(keys)]
            for worker in workers:
                worker.start()
            # The moment of one worker's acknowledgement is any moment of the others' writes.
            reached = progress.reaches(moments.randint(1, 200))
            emulator.kill()
            for worker in workers:
                worker.join(60)
                assert not worker.is_alive()
                assert worker.refused is None, f"round {number}: {worker.refused}"
                writes += worker.writes
            assert reached, f"round {number}: {progress.count} writes in five minutes"
            status, report, error = fsck(data)
            assert status == 0, f"{report} {error}"
            emulator = Server(data, "--durability", durability)
            found += check(emulator.netloc, everything)
            check_listing(emulator.netloc, everything)
    finally:
        emulator.kill()
    assert writes > ROUNDS, "the workers wrote nothing to speak of"
    assert found > 0
