"""Power failures: strict mode loses no acknowledged write. Relaxed mode serves whole objects only, and fsck names the others.

Connections write while every change of the data directory is recorded, with the length of the log at each acknowledgement. The
test creates directories as failures at random moments leave them, checks them with fsck, opens and reads them. The seed is
printed; PENSTOCK_SEED repeats it. PENSTOCK_LONG=1 has 200 failures.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from power_failure import fail_at, read_log, recording_of
from store_process import BUCKETS, Requests, body_of, fsck, listed_versions, make_buckets, serving

LONG = bool(os.environ.get("PENSTOCK_LONG"))
FAILURES = 100 if LONG else 4  # of each durability
WRITES = 400 if LONG else 60  # of each worker
WORKERS = 4
KEYS = 6
# Up to 32 KiB is stored in the database, the rest in files. In relaxed mode a file may lack unsynced bytes: its object is an
# error then.
SIZES = [100, 2_000, 30_000, 40_000, 200_000]


@dataclass
class Write:
    state: str | None  # digest of the body and the tag; None: a deletion
    begun: int  # lengths of the log
    acknowledged: int | None = None
    version: str = ""  # of an acknowledged write in a versioned bucket


@dataclass
class Rename:
    """A rename, which changes two keys at once. `state`: that of the object."""

    source: Key
    target: Key
    state: str
    write: Write  # of the target


@dataclass
class Key:
    path: str
    body: bytes | None = None  # of the last write
    writes: list[Write] = field(default_factory=lambda: [Write(None, 0, 0)])

    def states(self, end: int, durability: str) -> set[str | None]:
        """The states that a read may find after a failure at this length of the log."""
        begun = [write for write in self.writes if write.begun <= end]
        last = 0
        if durability == "strict":
            last = max(i for i, write in enumerate(begun) if write.acknowledged is not None and write.acknowledged <= end)
        return {write.state for write in begun[last:]}


class Worker(threading.Thread):
    def __init__(self, netloc: str, keys: list[Key], seed: str, length: Callable[[], int]) -> None:
        super().__init__()
        self.s3 = Requests(netloc)
        self.keys = keys
        self.random = random.Random(seed)
        self.seed = seed
        self.length = length
        self.failure: BaseException | None = None
        self.renames: list[Rename] = []

    def run(self) -> None:
        try:
            for number in range(WRITES):
                self.step(f"{self.seed} {number}")
        except BaseException as failure:
            self.failure = failure

    def step(self, label: str) -> None:
        key = self.random.choice(self.keys)
        others = [other for other in self.keys if other is not key and other.body is not None]
        in_directory = key.path.startswith(f"/{BUCKETS[2]}/")
        body = body_of(label, self.random.choice(SIZES))
        kind = self.random.random()
        if kind < 0.15:
            self.write(key, None, lambda: self.s3.expect(204, "DELETE", key.path))
        elif kind < 0.3 and not in_directory:
            self.write(key, body, lambda: self.s3.multipart(key.path, [body]))
        elif kind < 0.4 and others:
            source = self.random.choice(others)
            headers = {"x_amz_copy_source": source.path, "x_amz_tagging_directive": "REPLACE"}
            self.write(key, source.body, lambda: self.s3.expect(200, "PUT", key.path, **headers))
        elif kind < 0.5 and key.body is not None and not in_directory:
            self.tag(key, label.replace(" ", "-"))
        elif kind < 0.6 and key.body is not None and in_directory:
            offset = {"x_amz_write_offset_bytes": str(len(key.body))}
            self.write(key, key.body + body, lambda: self.s3.expect(200, "PUT", key.path, body, **offset))
        elif kind < 0.7 and in_directory and (sources := [other for other in others if self.can_be_renamed(other, key)]):
            self.rename(self.random.choice(sources), key)
        else:
            self.write(key, body, lambda: self.s3.expect(200, "PUT", key.path, body))

    def write(self, key: Key, body: bytes | None, send: Callable[[], object], tag: str = "") -> Write:
        write = Write(None if body is None else state_of(body, tag), self.length())
        key.writes.append(write)
        self.s3.version = ""
        send()
        write.version, write.acknowledged = self.s3.version, self.length()
        key.body = body
        return write

    def tag(self, key: Key, value: str) -> None:
        document = f"<Tagging><TagSet><Tag><Key>write</Key><Value>{value}</Value></Tag></TagSet></Tagging>".encode()
        write = self.write(key, key.body, lambda: self.s3.expect(200, "PUT", f"{key.path}?tagging=", document), value)
        write.version = ""  # changes the version of the write before

    def can_be_renamed(self, source: Key, target: Key) -> bool:
        """With equal objects the result of the rename could not be checked."""
        return source.path.startswith(f"/{BUCKETS[2]}/") and source.body != target.body

    def rename(self, source: Key, target: Key) -> None:
        body, name = source.body, source.path.removeprefix(f"/{BUCKETS[2]}/")
        assert body is not None
        gone = Write(None, self.length())
        source.writes.append(gone)
        send = lambda: self.s3.expect(200, "PUT", f"{target.path}?renameObject=", x_amz_rename_source=name)  # noqa: E731
        write = self.write(target, body, send)
        source.body, gone.acknowledged = None, write.acknowledged
        self.renames.append(Rename(source, target, state_of(body), write))


def state_of(body: bytes, tag: str = "") -> str:
    return hashlib.sha256(body).hexdigest() + tag


def read(s3: Requests, path: str) -> tuple[int, bytes, str | None]:
    """GETs an object and its tag. Returns the status, the body and the state."""
    status, body = s3.send("GET", path)
    if status != 200:
        return status, body, None
    if path.startswith(f"/{BUCKETS[2]}/"):  # directory buckets have no tags
        return status, body, state_of(body)
    tags = re.findall(r"<Value>([^<]*)</Value>", s3.expect(200, "GET", f"{path}?tagging=").decode())
    assert len(tags) <= 1, tags
    return status, body, state_of(body, *tags)


def check_versions(s3: Requests, keys: list[Key], end: int, failure: str) -> int:
    """Checks that each acknowledged version is listed in order and has its bytes. Returns their number."""
    listed = listed_versions(s3.expect(200, "GET", f"/{BUCKETS[1]}?versions="))
    count = 0
    for key in keys:
        done = [write for write in key.writes if write.version and write.acknowledged is not None and write.acknowledged <= end]
        made = [version.version for version in reversed(listed.get(key.path.split("/")[2], []))]
        assert [version for version in made if version in {write.version for write in done}] == [w.version for w in done], (
            f"{failure}: the versions of {key.path} are {made}, acknowledged were {done}"
        )
        in_progress = len([write for write in key.writes if write.begun <= end and write not in done])
        assert len(made) <= len(done) + in_progress, f"{failure}: {key.path} has versions of no write: {made}"
        for write in done:
            if write.state is not None:
                body = s3.expect(200, "GET", f"{key.path}?versionId={write.version}")
                assert write.state.startswith(state_of(body)), f"{failure}: wrong bytes of version {write.version} of {key.path}"
                count += 1
    return count


def check_renames(found: dict[str, str | None], renames: list[Rename], end: int, failure: str) -> None:
    """Checks the renames in progress: both keys have changed, or none."""
    for rename in renames:
        acknowledged = rename.write.acknowledged
        if rename.write.begun <= end and (acknowledged is None or acknowledged > end):
            moved = found[rename.source.path] is None
            assert (found[rename.target.path] == rename.state) == moved, f"{failure}: half of {rename}"


@dataclass
class Found:
    whole: int = 0
    torn: int = 0  # objects whose read is an error
    versions: int = 0


def damage(report: dict[str, Any], failure: str) -> str:
    """The findings of fsck as text. Only bytes of files may be damaged."""
    findings = [finding for store in report["stores"] for finding in store["findings"] if finding["kind"] == "damage"]
    assert all(finding["code"] in ("blob", "content") for finding in findings), f"{failure}: {findings}"
    return "\n".join(f"{finding['subject']}: {finding['message']}" for finding in findings)


def check(image: Path, keys: list[Key], renames: list[Rename], end: int, durability: str, failure: str) -> Found:
    """Checks that every object equals one of its writes. In relaxed mode it may be an error that fsck names."""
    status, report, error = fsck(image)
    assert status in ((0,) if durability == "strict" else (0, 1)), f"{failure}: {report} {error}"
    damaged = damage(report, failure)
    assert (status == 1) == bool(damaged), f"{failure}: {report}"
    found = Found()
    with serving(image, "--durability", durability) as server:
        s3 = Requests(server.netloc)
        present, states = set(), {}
        for key in keys:
            status, body, state = read(s3, key.path)
            states[key.path] = state
            if status == 500 and durability == "relaxed":
                # fsck names an existing file with its object, and a truncated or missing file by its path.
                named = (f"s3:/{key.path}", "is missing", "instead of")
                assert any(text in damaged for text in named), f"{failure}: {key.path}: {damaged}"
                found.torn += 1
                present.add(key.path)
                continue
            assert status in (200, 404), (failure, key.path, status, body[:300])
            assert state in key.states(end, durability), f"{failure}: {key.path} is {status}, {len(body)} bytes"
            if status == 200:
                assert f"s3:/{key.path}:" not in damaged, f"{failure}: {key.path} is sent: {damaged}"
                found.whole += 1
                present.add(key.path)
        listed = set()
        for bucket in BUCKETS:
            status, body = s3.send("GET", f"/{bucket}?list-type=2")
            assert status == 200 or durability == "relaxed", failure
            listed |= {f"/{bucket}/{name}" for name in re.findall(r"<Key>([^<]+)", body.decode())}
        assert listed == present, failure
        if durability == "strict":
            found.versions = check_versions(s3, [key for key in keys if key.path.startswith(f"/{BUCKETS[1]}/")], end, failure)
            check_renames(states, renames, end, failure)
    return found


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("durability", ["strict", "relaxed"])
def test_a_power_failure_loses_only_what_the_durability_allows(durability: str, tmp_path: Path, seed: int) -> None:
    data, log, recorded = recording_of(tmp_path)
    own = [[Key(f"/{bucket}/{i}-{j}") for bucket in BUCKETS for j in range(KEYS // 3)] for i in range(WORKERS)]
    with serving(data, "--durability", durability, environment=recorded) as server:
        make_buckets(server)
        first = log.stat().st_size
        workers = [Worker(server.netloc, keys, f"{seed} {i}", lambda: log.stat().st_size) for i, keys in enumerate(own)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.failure is None, worker.failure
    changes = read_log(log)
    chance = random.Random(seed)
    whole = torn = versions = 0
    keys = [key for keys in own for key in keys]
    renames = [rename for worker in workers for rename in worker.renames]
    for number in range(FAILURES):
        end = chance.choice([change.end for change in changes if change.end >= first])
        fail_at(changes, end, data, tmp_path / "image", random.Random(f"{seed} {number}"))
        found = check(tmp_path / "image", keys, renames, end, durability, f"{durability} failure {number} at {end}, seed {seed}")
        whole += found.whole
        torn += found.torn
        versions += found.versions
    print(f"{durability}: {whole} objects whole, {torn} torn, {versions} acknowledged versions, {len(renames)} renames")
    assert durability == "relaxed" or min(whole, versions) > 0
    assert durability == "strict" or torn > 0 or not LONG, "no failure tore a file"


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("durability", ["strict", "relaxed"])
def test_a_store_starts_after_a_power_failure_during_its_creation(durability: str, tmp_path: Path, seed: int) -> None:
    data, log, recorded = recording_of(tmp_path)
    with serving(data, "--durability", durability, environment=recorded):
        ready = log.stat().st_size
    changes = read_log(log)
    chance = random.Random(seed)
    ends = [change.end for change in changes if change.end <= ready]
    for number, end in enumerate(ends if LONG else chance.sample(ends, FAILURES)):
        fail_at(changes, end, data, tmp_path / "image", random.Random(f"{seed} {number}"))
        with serving(tmp_path / "image", "--durability", durability) as server:
            s3 = Requests(server.netloc)
            s3.expect(200, "PUT", "/bucket")
            s3.expect(200, "PUT", "/bucket/key", b"body")
        status, report, error = fsck(tmp_path / "image")
        assert status == 0, f"{durability} failure {number} at {end}, seed {seed}: {report} {error}"
