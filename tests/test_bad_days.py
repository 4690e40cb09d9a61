"""Kills, full disks, corrupt files and broken responses: one clear error, no partial write, no hang."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import penstock
import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
MIB = 1024**2
_started: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def end_processes() -> Iterator[None]:
    """Kills the emulators that a failed test has left running."""
    yield
    while _started:
        with _started.pop() as process:
            process.kill()


def start(*options: str, file_limit_kib: int | None = None) -> tuple[subprocess.Popen[str], penstock.S3Client]:
    command = [str(PROGRAM), "--port", "0", *options]
    if file_limit_kib is not None:  # writes beyond this file size fail as on a full disk
        command = ["bash", "-c", f'trap "" XFSZ; ulimit -f {file_limit_kib}; exec "$0" "$@"', *command]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _started.append(process)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr.read() if process.stderr else ""
    config = penstock.S3ClientConfig(
        force_path_style=True, access_key_id="penstock", secret_access_key="penstock-secret", max_attempts=2
    )
    return process, penstock.S3Client("us-east-1", endpoint=json.loads(line)["endpoint"], s3client_config=config)


def put(client: penstock.S3Client, key: str, data: bytes) -> None:
    with client.put_object("bucket", key) as writer:
        writer.write(data)


def get(client: penstock.S3Client, key: str) -> bytes:
    return client.get_object("bucket", key).read()


def test_acknowledged_objects_survive_a_kill(tmp_path):
    process, client = start("--data", str(tmp_path / "s3"))
    client.create_bucket("bucket")
    kept = {f"k{i}": os.urandom(i * 20_000) for i in range(20)}
    for key, data in kept.items():
        put(client, key, data)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, client = start("--data", str(tmp_path / "s3"))
    assert {key: get(client, key) for key in kept} == kept
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_a_put_on_a_full_disk_fails_with_507_and_other_objects_stay_readable(tmp_path):
    process, client = start("--data", str(tmp_path / "s3"), file_limit_kib=3 * 1024)
    client.create_bucket("bucket")
    put(client, "small", b"x" * 1000)
    with pytest.raises(penstock.S3Exception, match=r"PutObject s3://bucket/big.*HTTP 507"):
        put(client, "big", b"x" * (6 * MIB))
    assert get(client, "small") == b"x" * 1000
    assert [o.key for page in client.list_objects("bucket") for o in page.object_info] == ["small"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_errors_of_a_full_disk_contain_no_path_of_the_server(tmp_path):
    process, client = start("--data", str(tmp_path / "s3"), file_limit_kib=300)
    client.create_bucket("bucket")
    with pytest.raises(penstock.S3Exception, match=r"run out of disk space.*HTTP 507") as putting:
        for i in range(1000):
            put(client, f"{i}" + "k" * 900, b"x" * 3000)
    with pytest.raises(penstock.S3Exception, match=r"run out of disk space.*DeleteObject.*HTTP 500") as deleting:
        client.delete_object("bucket", "0" + "k" * 900)
    for raised in (putting, deleting):
        assert str(tmp_path) not in str(raised.value)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_a_corrupt_database_is_named_in_one_line(tmp_path):
    process, client = start("--data", str(tmp_path / "s3"))
    client.create_bucket("bucket")
    put(client, "k", b"x")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    database = next(p for p in (tmp_path / "s3").rglob("*") if p.is_file() and p.read_bytes()[:15] == b"SQLite format 3")
    database.write_bytes(b"this is not a database" * 1000)
    done = subprocess.run(
        [str(PROGRAM), "--port", "0", "--data", str(tmp_path / "s3")], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert database.name in done.stderr
    assert len(done.stderr.splitlines()) == 1


class CannedServer:
    """Sends the same bytes on every connection and then closes it."""

    def __init__(self, response: bytes, reset: bool = False) -> None:
        self._response, self._reset = response, reset
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                connection.recv(65536)
                connection.sendall(self._response)
                if self._reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")

    def __enter__(self) -> penstock.S3Client:
        config = penstock.S3ClientConfig(force_path_style=True, access_key_id="a", secret_access_key="s3cr3t", max_attempts=2)
        endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        return penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)

    def __exit__(self, *_: object) -> None:
        self._listener.close()


@pytest.mark.parametrize(
    "response",
    [
        b'HTTP/1.1 206 Partial Content\r\nETag: "e"\r\nContent-Range: bytes 0-99/100\r\nContent-Length: 100\r\n\r\nonly this',
        b'HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Length: 100\r\n\r\nonly this',
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"",
        b"\x00\x01\x02 this is not HTTP\r\n\r\n",
    ],
    ids=["short range", "short body", "truncated head", "empty", "not HTTP"],
)
@pytest.mark.parametrize("reset", [False, True])
def test_a_truncated_response_is_an_error_and_never_data(response, reset):
    with CannedServer(response, reset) as client, pytest.raises(penstock.S3Exception) as caught:
        get(client, "k")
    text = str(caught.value)
    assert "GetObject s3://bucket/k" in text
    assert "s3cr3t" not in text
