"""The `penstock` command as a process: signals, pipes, start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from bucket_io import get, keys, put
from command_runs import TIMEOUT_S, start, tree
from endless_listing import endless_listing
from penstock import _core
from penstock._commands._transfers import remove_partial_files
from penstock._commands._urls import temporary_name

MIB = 1024**2


def first_entry(emulator, before: int, operation: str) -> None:
    """Waits until the response to a request has been sent."""
    entries = emulator.journal().tail(behind=before, timeout_s=TIMEOUT_S, operations=operation)
    assert next(entries, None) is not None, f"no {operation} within {TIMEOUT_S} s"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("files", [1, 3])
def test_an_interrupted_upload_leaves_nothing(emulator, client, bucket, tmp_path, number, status, files):
    (tmp_path / "d").mkdir()
    for name in range(files):
        with (tmp_path / f"d/{name}").open("wb") as file:
            file.truncate(70 * MIB)
    source = tmp_path / "d/0" if files == 1 else tmp_path / "d"
    before = emulator.journal().last
    with start(emulator, "cp", "-r", source, f"s3://{bucket}", "--max-bandwidth", "4MiB") as process:
        first_entry(emulator, before, "CreateMultipartUpload")
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err) == (status, b"", b"")
    assert keys(client, bucket) == [] and client.list_multipart_uploads(bucket).uploads == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("files", [1, 3])
def test_an_interrupted_download_leaves_nothing(emulator, client, bucket, tmp_path, number, status, files):
    for name in range(files):
        put(client, bucket, f"d/{name}", bytes(20 * MIB))
    # The second part of each object never arrives, and the first one is in a temporary file.
    rule = {"when": {"operation": "GetObject", "range": {"covers": 9 * MIB}}, "do": {"stall": {"ms": 60_000}}}
    emulator.faults().set([rule])
    words = [f"s3://{bucket}/d/0"] if files == 1 else ["-r", f"s3://{bucket}/d"]
    with start(emulator, "mv", *words, f"{tmp_path}/t/") as process:
        deadline = time.monotonic() + TIMEOUT_S
        while len(list((tmp_path / "t").glob(".*.penstock-*"))) < files and time.monotonic() < deadline:
            os.sched_yield()
        process.send_signal(number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert (process.returncode, out, err) == (status, b"", b"")
    assert tree(tmp_path) == {} and len(keys(client, bucket)) == files


@pytest.mark.parametrize("name", ["0", "ü" * 110])
def test_only_temporary_files_of_this_process_are_removed(tmp_path, name):
    begin = temporary_name(name, "")
    own = begin + _core.temporary_files_of_process() + "01234567"
    others = {name, begin + "notes", begin + "0123456789abcdef", own + ".partial"}
    for found in (own, *others):
        (tmp_path / found).touch()
    remove_partial_files(str(tmp_path / name))
    assert {path.name for path in tmp_path.iterdir()} == others


def test_an_interrupted_copy_does_not_wait_for_its_response(emulator, client, bucket):
    for name in range(3):
        client.put(bucket, f"d/{name}", b"")
    emulator.faults().set([{"when": {"operation": "CopyObject"}, "do": {"stall": {"ms": 300_000}}}])
    before = emulator.journal().last
    with start(emulator, "mv", "-r", f"s3://{bucket}/d", f"s3://{bucket}/e") as process:
        first_entry(emulator, before, "ListObjectsV2")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    emulator.faults().clear(forget=True)
    assert (process.returncode, out, err) == (130, b"", b"") and len(keys(client, bucket, "d/")) == 3


def test_an_interrupted_standard_input_leaves_nothing(emulator, client, bucket):
    before = emulator.journal().last
    with start(emulator, "cp", "-", f"s3://{bucket}/k") as process:
        process.stdin.write(bytes(80 * MIB))
        first_entry(emulator, before, "CreateMultipartUpload")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 130
    assert keys(client, bucket) == [] and client.list_multipart_uploads(bucket).uploads == []


@pytest.mark.parametrize("words", [(), ("--tags", "a=b"), ("--metadata", "m=n", "--content-type", "x/y")])
@pytest.mark.parametrize("size", [0, 10, 9 * MIB])
def test_standard_input_and_output(emulator, client, bucket, words, size):
    data = os.urandom(size)
    with start(emulator, "cp", "-", f"s3://{bucket}/k", *words) as process:
        out, err = process.communicate(data, TIMEOUT_S)
        assert (process.returncode, out, err) == (0, f"upload: - to s3://{bucket}/k\n".encode(), b"")
    assert get(client, bucket, "k") == data
    if words[:1] == ("--tags",):
        assert client.get_object_tagging(bucket, "k") == {"a": "b"}
    for command in (("cp", f"s3://{bucket}/k", "-"), ("cat", f"s3://{bucket}/k")):
        with start(emulator, *command) as process:
            assert process.communicate(timeout=TIMEOUT_S) == (data, b"")


@pytest.mark.parametrize("words", [("cat",), ("ls", "-r"), ("find",), ("rm", "-r", "--dry-run")])
def test_a_broken_pipe_is_quiet(emulator, client, bucket, words):
    client.put(bucket, "k" * 900, bytes(MIB))
    for number in range(100):
        client.put(bucket, f"{'x' * 900}{number}", b"")
    url = f"s3://{bucket}/{'k' * 900}" if words == ("cat",) else f"s3://{bucket}"
    reader, writer = os.pipe()
    os.close(reader)
    with start(emulator, *words, url, stdout=writer) as process:
        os.close(writer)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, err) == (141, b"")


def closed_streams(emulator, redirections: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs a command by a shell that closes streams."""
    program = [sys.executable, "-m", "penstock", *map(str, words)]
    shell = ["sh", "-c", f'"$@" {redirections}', "sh", *program]
    environment = os.environ | emulator.environment()
    return subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


@pytest.mark.parametrize("redirections", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_reports_to_closed_streams_are_left_out(emulator, client, bucket, tmp_path, redirections):
    (tmp_path / "d").mkdir()
    for name in "abc":
        (tmp_path / "d" / name).write_text(name)
    run = closed_streams(emulator, redirections, "cp", "-r", tmp_path / "d", f"s3://{bucket}/d")
    assert (run.returncode, run.stderr, keys(client, bucket)) == (0, "", ["d/a", "d/b", "d/c"])
    assert closed_streams(emulator, redirections, "sync", f"s3://{bucket}/d", tmp_path / "e", "--quiet").returncode == 0
    assert tree(tmp_path / "e") == {name: name.encode() for name in "abc"}
    run = closed_streams(emulator, redirections, "rm", f"s3://{bucket}/none", f"s3://{bucket}/d/a")
    assert (run.returncode, keys(client, bucket)) == (1, ["d/b", "d/c"]) and "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("stream", "words"),
    [("output", ["cat", "{}/k"]), ("output", ["ls", "{}"]), ("output", ["cp", "{}/k", "-"]), ("input", ["cp", "-", "{}/new"])],
)
def test_closed_streams_that_carry_data_are_an_error(emulator, client, bucket, stream, words):
    put(client, bucket, "k", b"k")
    before = emulator.journal().last
    arguments = [word.format(f"s3://{bucket}") for word in words]
    run = closed_streams(emulator, "<&-" if stream == "input" else ">&-", *arguments)
    assert run.returncode == 1 and run.stderr.startswith(f"penstock {words[0]}: standard {stream} is closed"), run
    assert emulator.journal().count(after=before) == 0 and keys(client, bucket) == ["k"]


def test_the_file_commands_import_neither_torch_nor_the_other_commands(emulator):
    program = (
        "import sys; from penstock.__main__ import main; main(['ls']); "
        "print(sorted({name for name in sys.modules if name.startswith(('torch', 'penstock_conformance', 'rich', 'boto'))}"
        " | {'penstock_emulator.simulate', 'penstock._checkpoint_cli._ls'} & set(sys.modules)), file=sys.stderr)"
    )
    environment = os.environ | emulator.environment()
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert ended.stderr == "[]\n"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["cp -r", "sync", "rm -r", "find"])
def test_a_signal_ends_a_listing_whose_pages_are_empty(tmp_path, command, number, status):
    target = [tmp_path] if command in ("cp -r", "sync") else []
    with endless_listing() as service, start(service, *command.split(), "s3://bucket/p/", *target) as process:
        service.signal(process, number)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err) == (status, b"", b"")
    service.check_ended()


def test_an_interrupt_before_the_first_request_is_quiet(emulator):
    preamble = (
        "from penstock import __main__; "
        "__main__._commands.add_commands = lambda *_: signal.raise_signal(signal.SIGINT); sys.argv[1:] = ['ls']; __main__.run(); "
    )
    with start(emulator, "ls", preamble=preamble) as process:
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_help_lists_the_commands(penstock_command):
    text = penstock_command("--help").out
    for name in ("cp", "mv", "sync", "ls", "cat", "rm", "du", "mb", "rb", "stat", "presign", "find", "checkpoint", "simulate"):
        assert re.search(rf"^    {name}\b", text, re.MULTILINE), name
    assert "--no-clobber" in penstock_command("cp", "--help").out
    assert "penstock " in penstock_command("--version").out
