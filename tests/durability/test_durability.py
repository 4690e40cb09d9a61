"""`kill -9` in both durability modes: no acknowledged write is lost, no write is partial, fsck finds nothing.

Several connections put, overwrite, copy, tag, delete (one and many) and complete multipart uploads in a plain, a versioned and
a directory bucket; in the directory bucket they also append and rename. The process is killed at a random moment. After the next
start every key must have the state of its last acknowledged write or of a write in progress. Two more connections change what
crash_registers.py lists: versions, uploads, settings, buckets, users, namespaces. The seed is printed; PENSTOCK_SEED repeats it.
PENSTOCK_LONG=1 kills 1,000 times.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

import crash_registers
import pytest
from store_process import BUCKETS, Requests, Server, body_of, fsck, make_buckets

LONG = bool(os.environ.get("PENSTOCK_LONG"))
ROUNDS = 500 if LONG else 5  # of each durability
WORKERS = 6
REGISTER_WORKERS = 2
KEYS_PER_BUCKET = 4
SIZES = [0, 100, 1_000, 30_000, 40_000, 300_000]  # up to 32 KiB is stored in the database, the rest in files
APPENDED = [1, 1_000, 40_000]
LARGEST_APPENDED_TO = 1 << 20
PART = 5 << 20
DIRECTORY = BUCKETS[2]
MISSING = None


@dataclass(frozen=True)
class Object:
    body: bytes
    tag: str = ""  # the value of its only tag; empty: no tag

    def __repr__(self) -> str:
        return f"{len(self.body)} bytes, tag '{self.tag}'"


@dataclass
class Key:
    """The possible states of a key: the acknowledged one, and that of a write without a response."""

    path: str
    states: list[Object | None] = field(default_factory=lambda: [MISSING])
    written: set[Object | None] = field(default_factory=lambda: {MISSING})  # every state since it was last read

    @property
    def bucket(self) -> str:
        return self.path.split("/")[1]

    @property
    def known(self) -> Object | None:
        """The object, if only one state is possible."""
        return self.states[0] if len(self.states) == 1 else MISSING

    def begin(self, state: Object | None) -> None:
        self.states.append(state)
        self.written.add(state)

    def found(self, state: Object | None) -> None:
        self.states = [state]
        self.written = {state}

    def acknowledged(self) -> None:
        self.states = self.states[-1:]


class Progress:
    """The number of acknowledged writes of all workers."""

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
    """A response with an unexpected status."""


class Worker(threading.Thread):
    """Writes to its own keys until its connection breaks or a write fails."""

    def __init__(self, netloc: str, keys: list[Key], seed: str, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self.connection = Requests(netloc)
        self.keys = keys
        self.random = random.Random(seed)
        self.label = seed
        self.writes = 0
        self.renaming: tuple[Key, Key] | None = None  # source and target of a rename without a response
        self.renamed: Object | None = None
        self.refused: str | None = None

    def run(self) -> None:
        try:
            while True:
                self.step()
        except RefusedError as refused:
            self.refused = str(refused)
        except (OSError, http.client.HTTPException):
            pass  # killed

    def expect(self, response: tuple[int, bytes], *statuses: int) -> bytes:
        if response[0] not in statuses:
            raise RefusedError(f"{response[0]} {response[1][:300]!r}")
        return response[1]

    def step(self) -> None:
        key = self.random.choice(self.keys)
        self.writes += 1
        label = f"{self.label} {self.writes}"
        kind = self.random.random()
        if kind < 0.15:
            key.begin(MISSING)
            self.expect(self.connection.send("DELETE", key.path), 204)
            key.acknowledged()
        elif kind < 0.2:
            self.delete_many()
        elif kind < 0.3:
            self.multipart(key, label)
        elif kind < 0.4:
            self.copy(key)
        elif kind < 0.5:
            self.tag(key, label)
        elif kind < 0.6:
            self.append(key, label)
        elif kind < 0.7:
            self.rename(key)
        else:
            body = body_of(label, self.random.choice(SIZES))
            key.begin(Object(body))
            self.expect(self.connection.send("PUT", key.path, body), 200)
            key.acknowledged()
        self.progress.add()

    def tag(self, key: Key, label: str) -> None:
        """Directory buckets have no tags."""
        if key.bucket == DIRECTORY or key.known is MISSING:
            return
        value = label.replace(" ", "-")
        document = f"<Tagging><TagSet><Tag><Key>write</Key><Value>{value}</Value></Tag></TagSet></Tagging>"
        key.begin(Object(key.known.body, value))
        self.expect(self.connection.send("PUT", f"{key.path}?tagging=", document.encode()), 200)
        key.acknowledged()

    def append(self, key: Key, label: str) -> None:
        if key.bucket != DIRECTORY or key.known is MISSING or len(key.known.body) > LARGEST_APPENDED_TO:
            return
        body = body_of(label, self.random.choice(APPENDED))
        offset = len(key.known.body)
        key.begin(Object(key.known.body + body))
        self.expect(self.connection.send("PUT", key.path, body, x_amz_write_offset_bytes=str(offset)), 200)
        key.acknowledged()

    def rename(self, target: Key) -> None:
        """Renames an object: two keys change in one commit."""
        others = [key for key in self.keys if key.bucket == DIRECTORY and key is not target]
        sources = [other for other in others if other.known is not MISSING]
        if target.bucket != DIRECTORY or not sources:
            return
        source = self.random.choice(sources)
        name = source.path.removeprefix(f"/{DIRECTORY}/")
        if source.known in target.states:  # with equal objects the result of the rename could not be checked
            return
        self.renaming, self.renamed = (source, target), source.known
        target.begin(source.known)
        source.begin(MISSING)
        self.expect(self.connection.send("PUT", f"{target.path}?renameObject=", x_amz_rename_source=name), 200)
        self.renaming = None
        source.acknowledged()
        target.acknowledged()

    def delete_many(self) -> None:
        bucket = self.random.choice(BUCKETS)
        keys = [key for key in self.keys if key.bucket == bucket]
        listed = "".join(f"<Object><Key>{key.path.removeprefix(f'/{bucket}/')}</Key></Object>" for key in keys)
        for key in keys:
            key.begin(MISSING)
        document = f"<Delete>{listed}</Delete>".encode()
        response = self.expect(self.connection.send("POST", f"/{bucket}?delete=", document), 200)
        if b"<Error>" in response:
            raise RefusedError(f"200 {response[:300]!r}")
        for key in keys:
            key.acknowledged()

    def copy(self, key: Key) -> None:
        """Copies an object whose state is known."""
        sources = [other for other in self.keys if other.known is not MISSING and other is not key]
        if key.bucket == DIRECTORY:  # has no tags
            sources = [other for other in sources if not other.known.tag]
        if not sources:
            return
        source = self.random.choice(sources)
        key.begin(source.known)
        self.expect(self.connection.send("PUT", key.path, x_amz_copy_source=source.path), 200)
        key.acknowledged()

    def multipart(self, key: Key, label: str) -> None:
        # All parts but the last have at least 5 MiB; uploads of two parts are slow, so they are rare.
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
        key.begin(Object(b"".join(parts)))
        document = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        self.expect(self.connection.send("POST", f"{key.path}?{query}", document), 200)
        key.acknowledged()


def read(connection: Requests, key: Key) -> Object | None:
    status, body = connection.send("GET", key.path)
    assert status in (200, 404), (status, body[:300])
    if status == 404:
        return MISSING
    if key.bucket == DIRECTORY:
        return Object(body)
    tags = re.findall(rb"<Value>([^<]*)</Value>", connection.expect(200, "GET", f"{key.path}?tagging="))
    assert len(tags) <= 1, tags
    return Object(body, tags[0].decode() if tags else "")


def check(netloc: str, workers: list[Worker]) -> int:
    """Checks that every key has a possible state, which is the known one from now on. Returns the number of objects."""
    connection = Requests(netloc)
    found = 0
    for worker in workers:
        for key in worker.keys:
            state = read(connection, key)
            assert state in key.states, f"{key.path}: {state}, which no write made; it may be {key.states}"
            key.found(state)
            found += state is not MISSING
        if worker.renaming is not None:
            source, target = worker.renaming
            moved = source.known is MISSING
            assert (target.known == worker.renamed) == moved, f"half of a rename of {source.path} to {target.path}"
    return found


def check_listing(netloc: str, keys: list[Key]) -> None:
    listed = set()
    for bucket in BUCKETS:
        body = Requests(netloc).expect(200, "GET", f"/{bucket}?list-type=2")
        listed |= {f"/{bucket}/{key}" for key in re.findall(r"<Key>([^<]+)", body.decode())}
    assert listed == {key.path for key in keys if key.states != [MISSING]}


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("durability", ["strict", "relaxed"])
def test_no_acknowledged_write_is_lost_by_a_kill(durability: str, tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    data = tmp_path / "s3"
    keys = [
        [Key(f"/{bucket}/{worker}-{number}") for bucket in BUCKETS for number in range(KEYS_PER_BUCKET)]
        for worker in range(WORKERS)
    ]
    everything = [key for own in keys for key in own]
    emulator = Server(data, "--durability", durability)
    registers = [crash_registers.registers(number) for number in range(REGISTER_WORKERS)]
    everywhere = [register for own in registers for register in own]
    writes = found = changes = not_empty = 0
    try:
        make_buckets(emulator)
        crash_registers.create(emulator, everywhere)
        for number in range(ROUNDS):
            progress = Progress()
            workers = [Worker(emulator.netloc, own, f"{seed} {number} {i}", progress) for i, own in enumerate(keys)]
            others = [crash_registers.RegisterWorker(emulator, own, f"{seed} {number} r{i}") for i, own in enumerate(registers)]
            for worker in [*workers, *others]:
                worker.start()
            # When one worker gets its acknowledgement, the writes of the others are at random stages.
            reached = progress.reaches(moments.randint(1, 200))
            emulator.kill()
            for worker in workers:
                worker.join(60)
                assert not worker.is_alive()
                assert worker.refused is None, f"round {number}: {worker.refused}"
                writes += worker.writes
            for other in others:
                other.join(60)
                assert not other.is_alive()
                assert other.refused is None, f"round {number}: {other.refused}"
                changes += other.changes
            assert reached, f"round {number}: {progress.count} writes in five minutes"
            status, report, error = fsck(data)
            assert status == 0, f"{report} {error}"
            emulator = Server(data, "--durability", durability)
            found += check(emulator.netloc, workers)
            check_listing(emulator.netloc, everything)
            not_empty += crash_registers.check(emulator, everywhere, f"round {number}, seed {seed}")
    finally:
        emulator.kill()
    print(f"{durability}: {ROUNDS} kills, {writes} writes, {found} objects, {changes} changes of {len(everywhere)} registers")
    assert writes > ROUNDS, "the workers wrote too little"
    assert found > 0
    assert not_empty > 0
