"""Every command ends with 0 after success, 1 after a failure, 2 after wrong arguments and 130 after Ctrl-C."""

from __future__ import annotations

import binascii
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_runs import TIMEOUT_S
from penstock._commands import NAMES

ENTRY = "import sys; from penstock.__main__ import run; run()"
PENSTOCK = (sys.executable, "-c", ENTRY)
CONFORMANCE = (sys.executable, "-m", "penstock_conformance")
COMPAT = (sys.executable, "-m", "penstock.compat")
EMULATOR = (str(Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")),)
KEYS = ("--access-key", "a", "--secret-key", "b")

# Requests that a server must answer. ENDPOINT is one that accepts connections and never answers, or one that refuses them.
REQUESTS = {
    "cp": (*PENSTOCK, "cp", "s3://bucket/key", "FOLDER/file"),
    "mv": (*PENSTOCK, "mv", "s3://bucket/key", "FOLDER/file"),
    "sync": (*PENSTOCK, "sync", "s3://bucket/a", "FOLDER/copy"),
    "ls": (*PENSTOCK, "ls", "s3://bucket"),
    "cat": (*PENSTOCK, "cat", "s3://bucket/key"),
    "rm": (*PENSTOCK, "rm", "s3://bucket/key"),
    "du": (*PENSTOCK, "du", "s3://bucket"),
    "mb": (*PENSTOCK, "mb", "s3://bucket"),
    "rb": (*PENSTOCK, "rb", "s3://bucket"),
    "stat": (*PENSTOCK, "stat", "s3://bucket/key"),
    "find": (*PENSTOCK, "find", "s3://bucket"),
    "transfers": (*PENSTOCK, "transfers", "--discard"),
    "checkpoint ls": (*PENSTOCK, "checkpoint", "ls", "s3://bucket/run"),
    "checkpoint inspect": (*PENSTOCK, "checkpoint", "inspect", "s3://bucket/run"),
    "checkpoint verify": (*PENSTOCK, "checkpoint", "verify", "s3://bucket/run"),
    "checkpoint restore": (*PENSTOCK, "checkpoint", "restore", "s3://bucket/run", "--version", "v"),
    "checkpoint prune": (*PENSTOCK, "checkpoint", "prune", "s3://bucket/run", "--keep", "1", "--yes"),
    "conformance": (*PENSTOCK, "conformance", "wire", "--endpoint", "ENDPOINT", *KEYS),
    "penstock-conformance": (*CONFORMANCE, "wire", "--endpoint", "ENDPOINT", *KEYS),
}
# Other commands: one that fails.
FAILURES = {
    "presign": (*PENSTOCK, "presign", "s3://bucket/key", "--profile", "missing"),
    "cache": (*PENSTOCK, "cache", "ls", "--directory", "FOLDER/no-directory"),
    "simulate": (*PENSTOCK, "simulate", "--ranks", "1", "--latency", "none", "--plot", "FOLDER/no-directory/plot.html"),
    "compat": (*COMPAT, "-m", "no_such_module"),
    "penstock-emulator": (*EMULATOR, "--port", "0", "--data", "/dev/null/data"),
    "penstock-emulator health": (*EMULATOR, "health", "--port", "PORT", "--json"),
}
WRONG = {
    **{name: (*PENSTOCK, *name.split(), "--no-such-option") for name in (*NAMES, "completion", "simulate", "conformance")},
    **{f"checkpoint {verb}": (*PENSTOCK, "checkpoint", verb) for verb in ("ls", "inspect", "verify", "restore", "prune")},
    "no command": PENSTOCK,
    "an unknown command": (*PENSTOCK, "nothing"),
    "checkpoint of another scheme": (*PENSTOCK, "checkpoint", "ls", "file:///tmp"),
    "checkpoint of a wrong endpoint": (*PENSTOCK, "checkpoint", "ls", "s3://bucket/run", "--endpoint", "ftp://x"),
    "prune without confirmation": (*PENSTOCK, "checkpoint", "prune", "s3://bucket/run", "--keep", "1", "--json"),
    "simulate for no rank": (*PENSTOCK, "simulate", "--ranks", "0"),
    "conformance without endpoint": (*PENSTOCK, "conformance", "wire"),
    "penstock-conformance": (*CONFORMANCE, "--no-such-option"),
    "penstock-conformance of an unknown suite": (*CONFORMANCE, "nothing", "--emulator"),
    "compat": (*COMPAT, "--no-such-option"),
    "penstock-emulator": (*EMULATOR, "--no-such-option"),
    "penstock-emulator with a wrong value": (*EMULATOR, "--port", "65536"),
    "penstock-emulator fsck": (*EMULATOR, "fsck"),
    "penstock-emulator health": (*EMULATOR, "health", "--port", "0"),
}


def write_state(folder: Path) -> None:
    """Writes the state of an interrupted upload, for `transfers`."""
    text = json.dumps({"operation": "upload", "source": "file", "target": "s3://bucket/key", "upload_id": "u", "started": 0})
    states = folder / "penstock/transfers"
    states.mkdir(parents=True, exist_ok=True)
    (states / ("0" * 32)).write_text(f"{binascii.crc32(text.encode()):08x} {text}\n")


def start(command: tuple[str, ...], folder: Path, endpoint: str) -> subprocess.Popen[str]:
    """Starts a command in a folder. Children of a background process would ignore Ctrl-C."""
    variables = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    port = endpoint.rpartition(":")[2]
    words = [word.replace("FOLDER", str(folder)).replace("ENDPOINT", endpoint).replace("PORT", port) for word in command]
    write_state(folder)
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | variables | {"AWS_MAX_ATTEMPTS": "1", "XDG_STATE_HOME": str(folder)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def ended(command: tuple[str, ...], folder: Path, endpoint: str) -> tuple[int, str]:
    """Returns the exit status of a command, and its standard error."""
    with start(command, folder, endpoint) as process:
        _, error = process.communicate(timeout=TIMEOUT_S)
    return process.returncode, error


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A listener that accepts connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT_S)
        yield listener


@pytest.fixture
def refusing() -> str:
    """An endpoint that refuses connections: its port is bound, and nothing listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_the_tables_have_every_command() -> None:
    assert set(NAMES) <= REQUESTS.keys() | FAILURES.keys()


@pytest.mark.parametrize("command", WRONG.values(), ids=WRONG)
def test_wrong_arguments_end_with_2(command, tmp_path, refusing) -> None:
    status, error = ended(command, tmp_path, refusing)
    assert (status, "Traceback" in error) == (2, False), error
    assert error


@pytest.mark.parametrize("command", (REQUESTS | FAILURES).values(), ids=REQUESTS | FAILURES)
def test_failures_end_with_1(command, tmp_path, refusing) -> None:
    status, error = ended(command, tmp_path, refusing)
    assert (status, "Traceback" in error) == (1, command[:3] == COMPAT), error  # a program of the user may raise
    assert error


@pytest.mark.parametrize("command", REQUESTS.values(), ids=REQUESTS)
def test_an_interrupt_ends_with_130(command, tmp_path, silent) -> None:
    with start(command, tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}") as process:
        connection, _ = silent.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=TIMEOUT_S)
    notice = "interrupted after 0 checks; the reports contain only these\n" if "wire" in command else ""
    assert (process.returncode, error) == (130, notice), error


def test_an_interrupted_simulation_ends_with_130(tmp_path) -> None:
    endless = (
        "from penstock_emulator import simulate; compare = simulate.compare; "
        "simulate.compare = lambda *a, **k: print('started', flush=True) or [compare(*a, **k) for _ in iter(int, 1)]; "
    )
    command = (sys.executable, "-c", endless + ENTRY, "simulate", "--ranks", "64")
    with start(command, tmp_path, "http://127.0.0.1:1") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, error) == (130, "")


def test_an_interrupted_program_of_compat_ends_as_without_penstock(tmp_path) -> None:
    (tmp_path / "program.py").write_text("import signal\nprint('started', flush=True)\nsignal.pause()\n")
    for interpreter in ((sys.executable,), COMPAT):
        with start((*interpreter, "FOLDER/program.py"), tmp_path, "http://127.0.0.1:1") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=TIMEOUT_S)
        # Python ends itself with SIGINT, which shells report as 130.
        assert process.returncode == -signal.SIGINT
        assert error.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_emulator_ends_with_0(number, tmp_path) -> None:
    with start((*EMULATOR, "--port", "0"), tmp_path, "http://127.0.0.1:1") as process:
        assert process.stdout is not None
        assert '"ready"' in process.stdout.readline()
        process.send_signal(number)
        _, error = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, error) == (0, "")
