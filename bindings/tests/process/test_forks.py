"""Forks while other threads of the parent are in the middle of something that a child inherits unfinished."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from forked import in_child
from penstock import S3Client

# A thread imports the module of the results, as its first request does, and is in the middle of that when the process forks.
IMPORTING = """
import importlib.abc, os, sys, threading
import penstock._client

begun, forking = threading.Event(), threading.Event()


class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "penstock.requests._results":
            begun.set()
            forking.wait()


def use():
    import penstock.requests._results


sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=use)
thread.start()
begun.wait()
os.register_at_fork(before=forking.set)  # the last one that is registered runs first
child = os.fork()
if child == 0:  # its main thread: a new one could have the identity of the thread that holds the lock
    threading.Timer(20, os._exit, [1]).start()
    use()
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


def test_a_child_can_import_what_another_thread_imported_at_the_fork():
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


# A thread is in close(), whose last part does not arrive, when the process forks. The child ends as a program does.
CLOSING = """
import os, sys, threading
import penstock

client = penstock.S3Client("us-east-1", s3client_config=penstock.S3ClientConfig(force_path_style=True, part_size=5 << 20))
writer = client.put_object(sys.argv[1], "k")
writer.write(bytes(12 << 20))
thread = threading.Thread(target=writer.close)
thread.start()
sys.stdin.readline()
child = os.fork()
if child == 0:
    timer = threading.Timer(20, os._exit, [1])
    timer.daemon = True
    timer.start()
    sys.exit()
print(os.waitpid(child, 0)[1], flush=True)
thread.join()
"""


def test_a_child_ends_while_a_thread_of_its_parent_was_closing_a_writer(emulator, client, bucket):
    faults = emulator.faults()
    stall = {"stall": {"ms": 60_000}, "at": "before_commit"}
    faults.set([{"when": {"operation": "UploadPart", "part": 3}, "do": stall, "limit": {"times": 1}}])
    environment = {**os.environ, **emulator.environment()}
    command = [sys.executable, "-c", CLOSING, bucket]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as program:
        while faults.account().rules[0].fired == 0:
            assert program.poll() is None
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline() == "0\n"
        program.kill()
    faults.clear()


class _SlowClient(S3Client):
    """A client whose core is made in one thread until another one allows it to continue."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.begun, self.goes_on, self.parent = threading.Event(), threading.Event(), os.getpid()

    def _client_builder(self):
        if os.getpid() == self.parent:
            self.begun.set()
            self.goes_on.wait()
        return super()._client_builder()


def test_a_child_can_use_a_client_that_another_thread_was_making_at_the_fork(emulator, bucket):
    client = _SlowClient(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config())
    maker = threading.Thread(target=lambda: client.core)
    maker.start()
    client.begun.wait()

    def use_in_child() -> str:
        found: list[str] = []
        user = threading.Thread(target=lambda: found.append(client.put(bucket, "k", b"x").etag), daemon=True)
        user.start()
        user.join(20)
        return "used" if found else "waits"

    result = in_child(use_in_child)
    client.goes_on.set()
    maker.join()
    assert result == "used"
