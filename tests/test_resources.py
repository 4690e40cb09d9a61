"""Full disks, failed system calls and failed allocations: clear errors, no lost acknowledged write, recovery without a restart.

`resources/failing_calls.cc` makes the Nth call of a kind fail in the emulator's process. One round has every kind of write and
read while such a fault is armed. Afterwards all acknowledged writes are there, all others are there as a whole or not at all, and
new writes succeed. A normal run has a sample of N by seed 7 or PENSTOCK_SEED; PENSTOCK_LONG=1 has every N up to the number of
calls in a round.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import http.client
import json
import mmap
import os
import random
import signal
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
LONG = bool(os.environ.get("PENSTOCK_LONG"))
SEED = int(os.environ.get("PENSTOCK_SEED", "7"))
SAMPLE = 8  # of N, per fault, in a normal run
MOST = 2_000  # of N, per fault, with PENSTOCK_LONG=1
WAIT_S = 60
SMALL, LARGE = 1_000, 300_000  # stored in the database; stored in a file

OPEN, WRITE, SYNC, SIZE, DIRECTORY, READ, SOCKET, MEMORY = 1, 2, 4, 8, 16, 32, 64, 128
STORING = OPEN | WRITE | SYNC | SIZE | DIRECTORY
FAULTS = {
    "full disk": (WRITE | SIZE | DIRECTORY, errno.ENOSPC, 1),
    "disk that stays full for 40 calls": (WRITE | SIZE | DIRECTORY, errno.ENOSPC, 40),
    "input/output error": (WRITE | SYNC | SIZE | DIRECTORY, errno.EIO, 1),
    "read error": (READ, errno.EIO, 1),
    "no descriptors": (OPEN, errno.EMFILE, 3),
    "no descriptors for connections": (SOCKET, errno.EMFILE, 1),
    "no memory": (MEMORY, errno.ENOMEM, 1),
    "no memory for 5 allocations": (MEMORY, errno.ENOMEM, 5),
}


class Control(ctypes.Structure):
    """The layout of struct Control in failing_calls.cc."""

    _fields_ = (
        ("calls", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("last", ctypes.c_int64),
        ("failed", ctypes.c_int64),
        ("kinds", ctypes.c_int32),
        ("error", ctypes.c_int32),
    )


@pytest.fixture(scope="module")
def failing_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiles the library that makes calls fail."""
    library = tmp_path_factory.mktemp("failing_calls") / "failing_calls.so"
    source = Path(__file__).parent / "resources/failing_calls.cc"
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


class Emulator:
    """An emulator whose calls can be made to fail."""

    def __init__(self, library: Path, data: Path, durability: str) -> None:
        control_file = data.with_suffix(".control")
        control_file.write_bytes(bytes(ctypes.sizeof(Control)))
        with control_file.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), ctypes.sizeof(Control))
        self.control = Control.from_buffer(self._map)
        environment = {**os.environ, "LD_PRELOAD": str(library), "FAILING_CALLS": str(control_file)}
        command = [str(PROGRAM), "--port", "0", "--auth", "off", "--data", str(data), "--durability", durability]
        command += ["--diagnostic-log", str(data.with_suffix(".diagnostics"))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        self.netloc = urllib.parse.urlsplit(json.loads(self.process.stdout.readline())["endpoint"]).netloc

    def arm(self, fault: str, nth: int) -> None:
        kinds, number, calls = FAULTS[fault]
        self.control.kinds = 0
        self.control.calls = self.control.failed = 0
        self.control.error = number
        self.control.last = nth + calls - 1
        self.control.first = nth
        self.control.kinds = kinds

    def count_calls(self, fault: str) -> None:
        self.arm(fault, 1 << 40)

    def disarm(self) -> int:
        """Ends the fault. Returns the number of failed calls."""
        self.control.kinds = 0
        return int(self.control.failed)

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes, dict[str, str]]:
        """Sends one request on a new connection. Status 0: the connection ended without a response."""
        wire = http.client.HTTPConnection(self.netloc, timeout=WAIT_S)
        try:
            wire.request(method, path, body=body)
            answer = wire.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        except (ConnectionError, http.client.HTTPException):
            return 0, b"", {}
        finally:
            wire.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)


@pytest.fixture(params=["strict", "relaxed"])
def emulator(request: pytest.FixtureRequest, failing_calls: Path, tmp_path: Path) -> Iterator[Emulator]:
    started = Emulator(failing_calls, tmp_path / "data", request.param)
    yield started
    started.disarm()
    if started.process.poll() is None:
        started.process.kill()
        started.process.wait()


def body_of(label: str, size: int) -> bytes:
    block = hashlib.sha256(label.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


class Round:
    """Every kind of write, and the states that each may have left."""

    def __init__(self, emulator: Emulator, name: str) -> None:
        self.emulator = emulator
        self.bucket = f"/bucket-{name}"
        self.allowed: dict[str, list[bytes | None]] = {}  # by path: the possible bodies; None: no object
        self.refused: list[tuple[str, str, int, bytes]] = []
        self.lost_connections = 0

    def prepare(self) -> None:
        """Creates a bucket and objects to overwrite and delete. Runs without a fault."""
        status, answer, _ = self.emulator.ask("PUT", self.bucket)
        assert status == 200, answer
        for key, size in (("old-small", SMALL), ("old-large", LARGE), ("gone", SMALL)):
            assert self.put(key, f"old {key}", size)

    def ask(self, method: str, path: str, body: bytes = b"") -> tuple[bool, bytes, dict[str, str]]:
        status, answer, headers = self.emulator.ask(method, path, body)
        if status == 0:
            self.lost_connections += 1
        elif status >= 300:
            assert status in (404, 500, 503, 507), (method, path, status, answer)
            assert method == "HEAD" or b"<Error><Code>" in answer, (method, path, status, answer)
            self.refused.append((method, path, status, answer))
        return 200 <= status < 300, answer, headers

    def note(self, path: str, acknowledged: bool, content: bytes | None) -> bool:
        self.allowed[path] = [content] if acknowledged else [*self.allowed.get(path, [None]), content]
        return acknowledged

    def put(self, key: str, label: str, size: int) -> bool:
        path, content = f"{self.bucket}/{key}", body_of(label, size)
        done, _, _ = self.ask("PUT", path, content)
        return self.note(path, done, content)

    def work(self) -> None:
        """The requests while a fault is armed."""
        self.put("small", "small", SMALL)
        self.put("large", "large", LARGE)
        self.put("old-small", "new small", SMALL)
        self.put("old-large", "new large", LARGE)
        done, _, _ = self.ask("DELETE", f"{self.bucket}/gone")
        self.note(f"{self.bucket}/gone", done, None)
        self.complete_upload()
        self.read(f"{self.bucket}/old-large")
        self.read(f"{self.bucket}/small")
        self.ask("GET", f"{self.bucket}?list-type=2")

    def complete_upload(self) -> None:
        path, content = f"{self.bucket}/parts", body_of("part", LARGE)
        done, answer, _ = self.ask("POST", f"{path}?uploads")
        if not done:
            return
        upload = answer.split(b"<UploadId>")[1].split(b"<")[0].decode()
        done, _, headers = self.ask("PUT", f"{path}?partNumber=1&uploadId={upload}", content)
        if not done:
            return
        document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>"
        done, answer, _ = self.ask("POST", f"{path}?uploadId={upload}", document.format(headers["ETag"]).encode())
        self.note(path, done and b"<CompleteMultipartUploadResult" in answer, content)

    def read(self, path: str) -> None:
        done, content, headers = self.ask("GET", path)
        if done and len(content) == int(headers["Content-Length"]):
            assert content in self.allowed[path], f"{path} has bytes that were never written to it"

    def check(self) -> None:
        """Checks without a fault that no acknowledged write is lost, no object is partial, and new writes succeed."""
        for path, allowed in self.allowed.items():
            status, content, _ = self.emulator.ask("GET", path)
            assert status in (200, 404), (path, status, content)
            found = content if status == 200 else None
            assert found in allowed, f"{path}: status {status}, {len(content)} bytes; may be {[a and len(a) for a in allowed]}"
            self.allowed[path] = [found]
        status, listed, _ = self.emulator.ask("GET", f"{self.bucket}?list-type=2")
        assert status == 200
        keys = [piece.split(b"<")[0].decode() for piece in listed.split(b"<Key>")[1:]]
        assert keys == sorted(path.rsplit("/", 1)[1] for path, (content,) in self.allowed.items() if content is not None)
        assert self.put("after", "after", LARGE) and self.put("old-small", "after", SMALL)


def calls_of_a_round(emulator: Emulator, fault: str) -> int:
    counted = Round(emulator, "counted")
    counted.prepare()
    emulator.count_calls(fault)
    counted.work()
    emulator.disarm()
    counted.check()
    return int(emulator.control.calls)


def chosen(calls: int, fault: str) -> list[int]:
    if LONG:
        return list(range(1, min(calls, MOST) + 1))
    return sorted(random.Random(f"{SEED} {fault}").sample(range(1, calls + 1), min(SAMPLE, calls)))


@pytest.mark.timeout(3600 if LONG else 180)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_system_call_fails_only_its_request(emulator: Emulator, fault: str, tmp_path: Path) -> None:
    print(f"PENSTOCK_SEED={SEED}")
    calls = calls_of_a_round(emulator, fault)
    assert calls > 0
    rounds, failed = [], 0
    for nth in chosen(calls, fault):
        current = Round(emulator, str(nth))
        current.prepare()
        emulator.arm(fault, nth)
        current.work()
        failed += emulator.disarm()
        assert emulator.process.poll() is None, f"the emulator ended with {emulator.process.returncode} at call {nth}"
        current.check()
        rounds.append(current)
    assert failed > 0
    assert emulator.stop() == 0
    fsck = subprocess.run(
        [str(PROGRAM), "fsck", str(tmp_path / "data")], check=False, capture_output=True, text=True, timeout=WAIT_S
    )
    assert fsck.returncode == 0, fsck.stdout + fsck.stderr
