"""Full disks, failed system calls and failed allocations: clear errors, no lost acknowledged write, recovery without a restart.

`resources/failing_calls.cc` makes the Nth call of a kind fail in the emulator's process. One round has every kind of write and
read while such a fault is armed, on a strict, a relaxed and a memory store. Afterwards all acknowledged writes are there, all
others are there as a whole or not at all, and new writes succeed. Another test arms the faults of files while the emulator starts
and stops. A normal run has a sample of N by seed 7 or PENSTOCK_SEED; PENSTOCK_LONG=1 has every N.
"""

from __future__ import annotations

import base64
import ctypes
import errno
import hashlib
import http.client
import json
import mmap
import os
import random
import shutil
import signal
import subprocess
import urllib.parse
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
LONG = bool(os.environ.get("PENSTOCK_LONG"))
SEED = int(os.environ.get("PENSTOCK_SEED", "7"))
SAMPLE = 8  # of N, per fault, in a normal run
SAMPLE_OF_STARTS = 4
ROUNDS_OF_AN_ACCOUNT = 4_000  # two buckets each; an account has at most 10,000
READS_OF_CHECKS = 16  # at least the reads of the marks, headers and logs of two databases
WAIT_S = 60
SMALL, LARGE = 1_000, 300_000  # stored in the database; stored in a file

OPEN, WRITE, SYNC, SIZE, DIRECTORY, READ, SOCKET, MEMORY, TRANSFER, MAP, MEMORY_FILE = (1 << bit for bit in range(11))
FAULTS = {
    "full disk": (WRITE | SIZE | DIRECTORY, errno.ENOSPC, 1),
    "disk that stays full for 40 calls": (WRITE | SIZE | DIRECTORY, errno.ENOSPC, 40),
    "input/output error": (WRITE | SYNC | SIZE | DIRECTORY, errno.EIO, 1),
    "read error": (READ, errno.EIO, 1),
    "no descriptors": (OPEN | MEMORY_FILE, errno.EMFILE, 3),
    "no mappings": (MAP, errno.ENOMEM, 1),
    "no memory file": (MEMORY_FILE, errno.ENOMEM, 1),
    "connection reset": (TRANSFER, errno.ECONNRESET, 1),
    "no descriptors for connections": (SOCKET, errno.EMFILE, 1),
    "no memory": (MEMORY, errno.ENOMEM, 1),
    "no memory for 5 allocations": (MEMORY, errno.ENOMEM, 5),
}
# Of a start and a stop.
START_FAULTS = [
    "full disk",
    "disk that stays full for 40 calls",
    "input/output error",
    "no mappings",
    "no descriptors",
    "read error",
]
STORES = {
    "strict": ["--data", "{data}", "--durability", "strict"],
    "relaxed": ["--data", "{data}", "--durability", "relaxed"],
    "memory": ["--memory"],
}
OF_MEMORY = ["no descriptors", "no memory file", "connection reset", "no descriptors for connections", "no memory",
             "no memory for 5 allocations"]  # fmt: skip
CASES = [(store, fault) for store in STORES for fault in FAULTS if (store != "memory" and fault != "no memory file") or
         (store == "memory" and fault in OF_MEMORY)]  # fmt: skip
DIRECTORY_BUCKET = "/logs--use1-az4--x-s3"


DIRECTORY_DOCUMENT = (
    b"<CreateBucketConfiguration><Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>"
    b"<Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket></CreateBucketConfiguration>"
)
VERSIONING = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"


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
    source = Path(__file__).with_name("failing_calls.cc")
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


RUNNING: list[subprocess.Popen[str]] = []  # by the current test


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    while RUNNING:
        process = RUNNING.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


class StartFailedError(Exception):
    """The emulator ended before it served. Its argument is the Emulator."""


class Emulator:
    """An emulator whose calls can be made to fail."""

    def __init__(self, library: Path, data: Path, store: str, fault: str = "", nth: int = 0) -> None:
        control_file = data.with_suffix(".control")
        control_file.write_bytes(bytes(ctypes.sizeof(Control)))
        with control_file.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), ctypes.sizeof(Control))
        self.control = Control.from_buffer(self._map)
        if fault:
            self.arm(fault, nth)
        environment = {**os.environ, "LD_PRELOAD": str(library), "FAILING_CALLS": str(control_file)}
        command = [str(PROGRAM), "--port", "0", "--admin-port", "0", "--auth", "off"]
        command += [option.format(data=data) for option in STORES[store]]
        command += ["--diagnostic-log", str(data.with_suffix(".diagnostics"))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE if fault else None, text=True,
                                        env=environment)  # fmt: skip
        RUNNING.append(self.process)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.disarm()
            _, self.error = self.process.communicate(timeout=WAIT_S)
            raise StartFailedError(self)
        ready = json.loads(line)
        self.netloc, self.admin = (urllib.parse.urlsplit(ready[name]).netloc for name in ("endpoint", "admin"))

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

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Sends one request on a new connection. Status 0: the connection ended without a response."""
        wire = http.client.HTTPConnection(self.admin if path.startswith("/_penstock/") else self.netloc, timeout=WAIT_S)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if path.endswith(("?versioning", "?tagging")):  # these operations require a checksum
            named["x-amz-checksum-crc32"] = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
        try:
            wire.request(method, path, body=body, headers=named)
            response = wire.getresponse()
            return response.status, response.read(), dict(response.getheaders())
        except (ConnectionError, http.client.HTTPException):
            return 0, b"", {}
        finally:
            wire.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)


@pytest.fixture
def emulator(store: str, failing_calls: Path, tmp_path: Path) -> Iterator[Emulator]:
    started = Emulator(failing_calls, tmp_path / "data", store)
    yield started
    started.disarm()
    if started.process.poll() is None:
        started.process.kill()
        started.process.wait()


def body_of(label: str, size: int) -> bytes:
    block = hashlib.sha256(label.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def name_of(bucket: str) -> str:
    """The name of a round's namespace and of its object in the directory bucket."""
    return bucket.removeprefix("/")


class Round:
    """Every kind of write, and the states that each may have left."""

    def __init__(self, emulator: Emulator, name: str) -> None:
        self.emulator = emulator
        self.bucket = f"/bucket-{name}"
        self.allowed: dict[str, list[bytes | None]] = {}  # by path: the possible bodies; None: no object
        self.refused: list[tuple[str, str, int, bytes]] = []
        self.lost_connections = 0
        self.more_refusals: tuple[int, ...] = ()
        self.known, self.unsure = {name_of(self.bucket)}, set[str]()

    def prepare(self) -> None:
        """Creates a bucket and objects to overwrite and delete. Runs without a fault."""
        status, response, _ = self.emulator.send("PUT", self.bucket)
        assert status == 200, response
        for key, size in (("old-small", SMALL), ("old-large", LARGE), ("gone", SMALL)):
            assert self.put(key, f"old {key}", size)
        self.emulator.send("PUT", DIRECTORY_BUCKET, DIRECTORY_DOCUMENT)  # 409 from the second round on
        path = f"{DIRECTORY_BUCKET}/{name_of(self.bucket)}"
        self.appended = self.put_at(path, body_of("appended to", SMALL))
        status, response, _ = self.emulator.send("PUT", f"{self.bucket}-versioned")
        assert status == 200, response
        status, response, _ = self.emulator.send("PUT", f"{self.bucket}-versioned?versioning", VERSIONING)
        assert status == 200, response
        self.versions = [self.version("first")]
        assert self.send("POST", "/_penstock/namespaces", json.dumps({"name": name_of(self.bucket)}).encode())[0]

    def put_at(self, path: str, content: bytes) -> bytes:
        done, response, _ = self.send("PUT", path, content)
        assert done, response
        return content

    def version(self, label: str) -> tuple[str, bytes]:
        """PUTs a version. Returns its id, empty if it is not acknowledged, and its body."""
        content = body_of(f"version {label}", SMALL)
        done, _, headers = self.send("PUT", f"{self.bucket}-versioned/key", content)
        return headers.get("x-amz-version-id", "") if done else "", content

    def send(self, method: str, path: str, body: bytes = b"", **more: str) -> tuple[bool, bytes, dict[str, str]]:
        status, response, headers = self.emulator.send(method, path, body, **more)
        if status == 0:
            self.lost_connections += 1
        elif status >= 300:
            refusals = (404, 500, 503, 507, *self.more_refusals)
            assert status in refusals, (method, path, status, response)
            assert b"<Error><Code>" in response or b'{"error":' in response, (method, path, status, response)
            self.refused.append((method, path, status, response))
        return 200 <= status < 300, response, headers

    def note(self, path: str, acknowledged: bool, content: bytes | None) -> bool:
        self.allowed[path] = [content] if acknowledged else [*self.allowed.get(path, [None]), content]
        return acknowledged

    def put(self, key: str, label: str, size: int) -> bool:
        path, content = f"{self.bucket}/{key}", body_of(label, size)
        done, _, _ = self.send("PUT", path, content)
        return self.note(path, done, content)

    def work(self) -> None:
        """The requests while a fault is armed."""
        self.put("small", "small", SMALL)
        self.put("large", "large", LARGE)
        self.put("old-small", "new small", SMALL)
        self.put("old-large", "new large", LARGE)
        done, _, _ = self.send("DELETE", f"{self.bucket}/gone")
        self.note(f"{self.bucket}/gone", done, None)
        self.complete_upload()
        self.copy_tag_append_and_list()
        self.namespaces()
        self.read(f"{self.bucket}/old-large")
        self.read(f"{self.bucket}/small")
        self.send("GET", f"{self.bucket}?list-type=2")

    def copy_tag_append_and_list(self) -> None:
        source = f"{self.bucket}/old-large"
        (content, *rest) = self.allowed[source]
        if not rest:
            done, response, _ = self.send("PUT", f"{self.bucket}/copied", x_amz_copy_source=source)
            self.note(f"{self.bucket}/copied", done and b"<CopyObjectResult" in response, content)
        document = b"<Tagging><TagSet><Tag><Key>k</Key><Value>tagged</Value></Tag></TagSet></Tagging>"
        done, _, _ = self.send("PUT", f"{self.bucket}/old-small?tagging", document)
        self.tags = [b"tagged"] if done else [b"", b"tagged"]
        more = body_of("appended", LARGE)
        path = f"{DIRECTORY_BUCKET}/{name_of(self.bucket)}"
        done, _, _ = self.send("PUT", path, more, x_amz_write_offset_bytes=str(SMALL))
        self.appends = [self.appended + more] if done else [self.appended, self.appended + more]
        self.versions += [self.version("second"), self.version("third")]
        self.send("GET", f"{self.bucket}-versioned?versions")

    def namespaces(self) -> None:
        """Creates, resets and deletes namespaces. `known`: which exist; `unsure`: which may."""
        name = name_of(self.bucket)
        self.send("POST", "/_penstock/reset", json.dumps({"namespace": name}).encode())
        done, _, _ = self.send("POST", "/_penstock/namespaces", json.dumps({"name": f"{name}-b"}).encode())
        (self.known if done else self.unsure).add(f"{name}-b")
        done, _, _ = self.send("DELETE", f"/_penstock/namespaces/{name}")
        self.known.remove(name)
        if not done:
            self.unsure.add(name)

    def complete_upload(self) -> None:
        path, content = f"{self.bucket}/parts", body_of("part", LARGE)
        done, response, _ = self.send("POST", f"{path}?uploads")
        if not done:
            return
        upload = response.split(b"<UploadId>")[1].split(b"<")[0].decode()
        done, _, headers = self.send("PUT", f"{path}?partNumber=1&uploadId={upload}", content)
        if not done:
            return
        document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>"
        done, response, _ = self.send("POST", f"{path}?uploadId={upload}", document.format(headers["ETag"]).encode())
        self.note(path, done and b"<CompleteMultipartUploadResult" in response, content)

    def read(self, path: str) -> None:
        done, content, headers = self.send("GET", path)
        if done and len(content) == int(headers["Content-Length"]):
            assert content in self.allowed[path], f"{path} has bytes that were never written to it"

    def check_more(self) -> None:
        """Checks what `copy_tag_append_and_list` and `namespaces` have changed."""
        status, response, _ = self.emulator.send("GET", f"{self.bucket}/old-small?tagging")
        assert status == 200, response
        found = response.partition(b"<Value>")[2].partition(b"<")[0]
        assert found in self.tags, f"tag {found!r}; may be {self.tags}"
        status, response, _ = self.emulator.send("GET", f"{DIRECTORY_BUCKET}/{name_of(self.bucket)}")
        assert status == 200 and response in self.appends, f"{len(response)} bytes after an append to {SMALL}"
        listed = self.emulator.send("GET", f"{self.bucket}-versioned?versions")[1]
        assert len(listed.split(b"<VersionId>")) - 1 in range(
            sum(bool(name) for name, _ in self.versions), len(self.versions) + 1
        )
        for name, content in self.versions:
            if name:
                status, response, _ = self.emulator.send("GET", f"{self.bucket}-versioned/key?versionId={name}")
                assert (status, response) == (200, content), f"version {name} is {status}"
        status, response, _ = self.emulator.send("GET", "/_penstock/namespaces")
        names = {name for name in json.loads(response)["namespaces"] if name in self.known | self.unsure | {name_of(self.bucket)}}
        assert self.known <= names <= self.known | self.unsure, f"namespaces {names}; surely {self.known}, perhaps {self.unsure}"
        for name in names:
            assert self.emulator.send("DELETE", f"/_penstock/namespaces/{name}")[0] == 200

    def check(self) -> None:
        """Checks without a fault that no acknowledged write is lost, no object is partial, and new writes succeed."""
        self.check_more()
        for path, allowed in self.allowed.items():
            status, content, _ = self.emulator.send("GET", path)
            assert status in (200, 404), (path, status, content)
            found = content if status == 200 else None
            assert found in allowed, f"{path}: status {status}, {len(content)} bytes; may be {[a and len(a) for a in allowed]}"
            self.allowed[path] = [found]
        status, listed, _ = self.emulator.send("GET", f"{self.bucket}?list-type=2")
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
        return list(range(1, calls + 1))
    return sorted(random.Random(f"{SEED} {fault}").sample(range(1, calls + 1), min(SAMPLE, calls)))


@pytest.mark.timeout(14400 if LONG else 180)
@pytest.mark.parametrize(("store", "fault"), CASES)
def test_a_failed_system_call_fails_only_its_request(emulator: Emulator, store: str, fault: str, tmp_path: Path) -> None:
    calls = calls_of_a_round(emulator, fault)
    print(f"PENSTOCK_SEED={SEED}: {calls} calls in a round")
    assert calls > 0
    failed = 0
    for done, nth in enumerate(chosen(calls, fault)):
        if done % ROUNDS_OF_AN_ACCOUNT == ROUNDS_OF_AN_ACCOUNT - 1:
            assert emulator.send("POST", "/_penstock/reset")[0] == 200
        current = Round(emulator, str(nth))
        current.prepare()
        if fault == "connection reset":  # 400 IncompleteBody: the server's recv() fails, and the client still gets the response
            current.more_refusals = (400,)
        emulator.arm(fault, nth)
        current.work()
        failed += emulator.disarm()
        assert emulator.process.poll() is None, f"the emulator ended with {emulator.process.returncode} at call {nth}"
        current.check()
    assert failed > 0
    assert emulator.stop() == 0
    if store != "memory":
        check_directory(tmp_path / "data")


def check_directory(data: Path) -> None:
    fsck = subprocess.run([str(PROGRAM), "fsck", str(data)], check=False, capture_output=True, text=True, timeout=WAIT_S)
    assert fsck.returncode == 0, fsck.stdout + fsck.stderr


def stored(emulator: Emulator) -> None:
    for key, size in (("small", SMALL), ("large", LARGE)):
        status, content, _ = emulator.send("GET", f"/bucket/{key}")
        assert (status, content) == (200, body_of(key, size)), f"{key} is {status}"


@pytest.mark.timeout(3600 if LONG else 180)
@pytest.mark.parametrize("fault", START_FAULTS)
@pytest.mark.parametrize("store", ["strict", "relaxed"])
def test_faults_during_start_and_stop_lose_nothing(store: str, fault: str, failing_calls: Path, tmp_path: Path) -> None:
    """A start with a fault serves or ends with an error message. A stop with a fault ends. Later starts find every object."""
    data = tmp_path / "data"
    first = Emulator(failing_calls, data, store)
    assert first.send("PUT", "/bucket")[0] == 200
    for key, size in (("small", SMALL), ("large", LARGE)):
        assert first.send("PUT", f"/bucket/{key}", body_of(key, size))[0] == 200
    first.process.kill()
    first.process.wait()
    killed = tmp_path / "killed"
    shutil.copytree(data, killed)
    counted = Emulator(failing_calls, data, store, fault, 1 << 40)
    starting = int(counted.control.calls)
    counted.count_calls(fault)
    assert counted.stop() == 0
    stopping = int(counted.control.calls)
    cases = [("start", nth) for nth in range(1, starting + 1)] + [("stop", nth) for nth in range(1, stopping + 1)]
    print(f"PENSTOCK_SEED={SEED}: {starting} calls in a start, {stopping} in a stop")
    assert cases
    if not LONG:
        cases = random.Random(f"{SEED} {fault}").sample(cases, min(SAMPLE_OF_STARTS, len(cases)))
    for when, nth in cases:
        shutil.rmtree(data)
        shutil.copytree(killed, data)
        try:
            emulator = Emulator(failing_calls, data, store, *((fault, nth) if when == "start" else ()))
        except StartFailedError as failed:
            (ended,) = failed.args
            assert ended.process.returncode > 0, f"{when} {nth}: the process ended with {ended.process.returncode}: {ended.error}"
            assert len(ended.error) > 20, f"{when} {nth}: no message: {ended.error!r}"
        else:
            if when == "start":
                emulator.disarm()
                stored(emulator)
            else:
                emulator.arm(fault, nth)
            assert emulator.stop() >= 0, f"{when} {nth}: the process ended with {emulator.process.returncode}"
        try:
            again = Emulator(failing_calls, data, store, "read error", 1 << 40)
        except StartFailedError as failed:
            pytest.fail(f"a later start fails after a fault at call {nth} of the {when}: {failed.args[0].error}")
        stored(again)
        assert again.stop() == 0
        check_directory(data)


def files_of(store: Path) -> dict[str, bytes]:
    return {name: (store / name).read_bytes() for name in ("penstock.db", "penstock.db-wal", "penstock.db-mark")}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("command", ["start", "fsck", "fsck --accept-loss"])
def test_a_failed_read_is_reported_as_one(command: str, failing_calls: Path, tmp_path: Path) -> None:
    """If a mark, a header or a log cannot be read, the message says so, advises no loss, and the files stay as they are."""
    data = tmp_path / "data"
    first = Emulator(failing_calls, data, "strict")
    assert first.send("PUT", "/bucket")[0] == 200
    assert first.send("PUT", "/bucket/small", body_of("small", SMALL))[0] == 200
    first.process.kill()
    first.process.wait()
    directory = next(data.rglob("penstock.db")).parent
    before = files_of(directory)
    killed = tmp_path / "killed"
    shutil.copytree(data, killed)
    messages = ""
    for nth in range(1, READS_OF_CHECKS + 1):
        code, message = run_with_failed_read(command, failing_calls, data, nth)
        assert not any(word in message for word in ("accept", "backup", "damage")), f"read {nth}: {message}"
        if "was not changed" in message:
            assert code == (1 if command == "start" else 2), f"read {nth}: {code}, {message}"
            assert files_of(directory) == before, f"read {nth}: {message}"
        messages += message
        shutil.rmtree(data)
        shutil.copytree(killed, data)
    for name in before:
        assert f"cannot read {directory}/{name}: Input/output error; the database was not changed" in messages, name


def run_with_failed_read(command: str, failing_calls: Path, data: Path, nth: int) -> tuple[int, str]:
    """Exit status and output of a start or of fsck whose `nth` read fails."""
    if command == "start":
        try:
            return Emulator(failing_calls, data, "strict", "read error", nth).stop(), ""
        except StartFailedError as failed:
            (ended,) = failed.args
            return ended.process.returncode, ended.error
    control = Control(first=nth, last=nth, kinds=READ, error=errno.EIO)
    control_file = data.with_suffix(".control")
    control_file.write_bytes(bytes(control))
    environment = {**os.environ, "LD_PRELOAD": str(failing_calls), "FAILING_CALLS": str(control_file)}
    arguments = [str(PROGRAM), *command.split(), str(data)]
    fsck = subprocess.run(arguments, env=environment, check=False, capture_output=True, text=True, timeout=WAIT_S)
    return fsck.returncode, fsck.stdout + fsck.stderr
