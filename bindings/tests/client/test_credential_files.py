"""Profile files and token files that are FIFOs, such as a shell's ``<(command)``."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import penstock
import pytest
from penstock import S3Client
from penstock.testing import Emulator


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def test_a_profile_file_is_read_without_the_gil(fifo: Path, monkeypatch: pytest.MonkeyPatch, emulator: Emulator) -> None:
    """A thread of this process writes the file. It used to wait for the lock that the reader held."""
    lines = "[default]\n"
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        lines += f"{name.lower()} = {emulator.environment()[name]}\n"
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(fifo))
    ended = threading.Event()

    def write() -> None:
        while not ended.wait(0.05):  # the client reads the file for its settings, and again for its credentials
            with contextlib.suppress(OSError):  # no process reads it now
                writing = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
                os.write(writing, lines.encode())
                os.close(writing)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        client = S3Client("us-east-1", endpoint=emulator.endpoint)
        assert client.list_buckets() is not None
    finally:
        ended.set()
        writer.join()


def test_a_file_without_a_writer_is_an_error(fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(fifo))
    with pytest.raises(penstock.S3Exception, match=r"AWS_CONFIG_FILE: cannot read '.*fifo': it is a FIFO or a device"):
        S3Client("us-east-1", endpoint="http://127.0.0.1:1").list_buckets()
