"""Damage to a data directory: a flipped bit, a truncation or a removal of each file, after a kill and after a normal exit.

The emulator either does not start, and then `fsck` finds the damage, or it serves every object correctly or as an error. It
never returns wrong bytes with status 200, and never an empty store. A normal run has a random sample, PENSTOCK_LONG=1 all cases.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from store_process import BUCKETS, Requests, Server, StartRefusedError, body_of, fsck, make_buckets, serving

LONG = bool(os.environ.get("PENSTOCK_LONG"))
SAMPLE = 24  # cases of each state in a normal run
PART = 5 << 20


@dataclass
class State:
    """A data directory, and the objects that a server must return from it."""

    data: Path
    objects: dict[str, str] = field(default_factory=dict)  # path -> SHA-256


def fill(server: Server, state: State) -> None:
    s3 = Requests(server.netloc)

    def put(path: str, body: bytes) -> None:
        s3.expect(200, "PUT", path, body)
        state.objects[path] = hashlib.sha256(body).hexdigest()

    make_buckets(server)
    for number in range(30):
        put(f"/plain/small-{number}", body_of(f"small {number}", 900))
    for number in range(4):
        put(f"/plain/file-{number}", body_of(f"file {number}", 70_000))
        put("/versioned/key", body_of(f"version {number}", 2_000))
        put(f"/{BUCKETS[2]}/key-{number}", body_of(f"directory {number}", 1_500))
    parts = [body_of("part 1", PART), body_of("part 2", 10_000)]
    s3.multipart("/plain/joined", parts)
    state.objects["/plain/joined"] = hashlib.sha256(b"".join(parts)).hexdigest()
    s3.multipart("/plain/unfinished", [body_of("part", 50_000)], complete=False)
    s3.expect(204, "DELETE", "/plain/small-0")
    del state.objects["/plain/small-0"]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    """A directory as a kill leaves it, with all changes in the logs, and one after a normal exit."""
    made = {}
    for name in ("killed", "closed"):
        state = State(tmp_path_factory.mktemp(name) / "data")
        server = Server(state.data)
        fill(server, state)
        if name == "killed":
            server.kill()
        else:
            server.stop()
        made[name] = state
    return made


@dataclass(frozen=True)
class Damage:
    """One change to one file. `offset` None: the file is removed. `cut`: it is truncated at `offset`, else a bit is flipped."""

    file: str  # below the data directory
    offset: int | None = None
    cut: bool = False

    def __str__(self) -> str:
        return f"{self.file} " + ("removed" if self.offset is None else f"{'cut' if self.cut else 'flipped'} at {self.offset}")

    def apply(self, data: Path) -> None:
        path = data / self.file
        if self.offset is None:
            path.unlink()
        elif self.cut:
            os.truncate(path, self.offset)
        else:
            content = bytearray(path.read_bytes())
            content[self.offset] ^= 1 << self.offset % 8
            path.write_bytes(content)


def offsets(size: int) -> set[int]:
    """Offsets to damage: every fifth of the first 64 bytes, about 40 of the rest, and the last one."""
    return {*range(0, min(size, 64), 5), *range(64, size, max(size // 40, 1)), size - 1} if size else set()


def damages(data: Path) -> list[Damage]:
    cases = []
    for path in sorted(data.rglob("*")):
        name = str(path.relative_to(data))
        if not path.is_file() or name.endswith(("-shm", "penstock.reserve")) or "/tmp/" in name:
            continue
        size = path.stat().st_size
        cuts = sorted({0, size // 2, size - 1}) if size else []
        cases += [Damage(name, cut, cut=True) for cut in cuts]
        cases.append(Damage(name))
        cases += [Damage(name, offset) for offset in sorted(offsets(size))]
    return cases


def check_answers(server: Server, state: State, damage: Damage) -> None:
    s3 = Requests(server.netloc)
    for path, digest in state.objects.items():
        status, body = s3.send("GET", path)
        if status == 200:
            assert hashlib.sha256(body).hexdigest() == digest, f"{damage}: wrong bytes of {path}"
        else:
            assert status >= 500, f"{damage}: {path} is {status} {body[:200]!r}"
    listed = set()
    for bucket in BUCKETS:
        status, body = s3.send("GET", f"/{bucket}?list-type=2")
        assert status == 200 or status >= 500, f"{damage}: the listing is {status}"
        if status != 200:
            return
        listed |= {f"/{bucket}/{key}" for key in re.findall(r"<Key>([^<]+)", body.decode())}
    assert listed == set(state.objects), damage


def check(state: State, damage: Damage, folder: Path) -> bool:
    """Checks one damage. Returns whether the emulator started."""
    data = folder / "data"
    shutil.copytree(state.data, data)
    try:
        damage.apply(data)
        status, report, error = fsck(data)
        findings = [f for part in [*report.get("stores", []), report.get("users", {})] for f in part.get("findings", [])]
        is_lost = status == 2 or any(f["code"] == "log" and f["kind"] == "damage" for f in findings)
        try:
            with serving(data) as server:
                assert not is_lost, f"{damage}: the emulator starts where fsck refuses: {findings or error}"
                check_answers(server, state, damage)
                return True
        except StartRefusedError as refused:
            assert status != 0, f"{damage}: the emulator refuses, fsck finds nothing: {refused}"
            assert len(str(refused)) > 20, damage
            return False
    finally:
        shutil.rmtree(data)


@pytest.mark.timeout(7200 if LONG else 180)
@pytest.mark.parametrize("name", ["killed", "closed"])
def test_damaged_files_are_reported_at_the_start_or_by_an_error(
    name: str, states: dict[str, State], tmp_path: Path, seed: int
) -> None:
    cases = damages(states[name].data)
    if not LONG:
        cases = random.Random(seed).sample(cases, min(SAMPLE, len(cases)))
    started = sum(check(states[name], damage, tmp_path) for damage in cases)
    print(f"{name}: {len(cases)} damages, {len(cases) - started} starts refused")
    assert started > 0, "a damaged mark or lock alone does not keep the emulator from starting"


def test_a_zeroed_byte_of_the_log_does_not_empty_the_store(tmp_path: Path) -> None:
    data = tmp_path / "s3"
    with serving(data) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        for number in range(100):
            s3.expect(200, "PUT", f"/bucket/{number}", b"body")
        server.kill()
    log = next(data.rglob("penstock.db-wal"))
    content = bytearray(log.read_bytes())
    content[0] = 0
    log.write_bytes(content)
    for _ in range(2):  # a failed start changes nothing
        assert fsck(data)[0] != 0
        with pytest.raises(StartRefusedError, match=r"penstock\.db-wal.*--accept-loss"):
            Server(data)
    assert fsck(data, "--accept-loss")[0] == 0
    with serving(data) as server:
        assert Requests(server.netloc).send("GET", "/bucket/1")[0] == 404


@pytest.mark.parametrize("durability", ["relaxed", "strict"])
@pytest.mark.parametrize("what", ["data", "blobs"])
def test_writes_fail_after_the_directory_was_removed(durability: str, what: str, tmp_path: Path) -> None:
    data = tmp_path / "s3"
    with serving(data, "--durability", durability) as server:
        s3 = Requests(server.netloc)
        s3.expect(200, "PUT", "/bucket")
        s3.expect(200, "PUT", "/bucket/large", body_of("large", 100_000))
        shutil.rmtree(data if what == "data" else next(data.rglob("blobs")))
        # A relaxed store checks blobs/ at one of 16 commits.
        unnoticed = 15 if (durability, what) == ("relaxed", "blobs") else 0
        answers = [s3.send("PUT", "/bucket/key", b"small") for _ in range(unnoticed + 1)]
        answers.append(s3.send("PUT", "/bucket/key", body_of("large", 100_000)))
        assert [status for status, _ in answers[unnoticed:]] == [500, 500], answers
        answer = answers[-1][1]
        assert b"directory was removed" in answer
        assert s3.send("DELETE", "/bucket/large")[0] == 500
        assert "store.directory_removed" in server.kill()
