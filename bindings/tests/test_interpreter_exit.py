"""A program exits normally while its daemon threads are in calls of Penstock."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Daemon threads run until the exiting interpreter no longer gives them the GIL.
PROGRAM = """
import sys, threading
import penstock
from penstock.testing import Emulator

s3 = Emulator()
client = s3.client()
client.create_bucket("bkt")
with client.put_object("bkt", "k") as writer:
    writer.write(bytes(1 << 20))
reader = client.get_object("bkt", "k")
started = threading.Semaphore(0)

def forever(use):
    use()
    started.release()
    while True:
        use()

uses = {
    "read": lambda: client.get_object("bkt", "k").read(),
    "head": lambda: client.head_object("bkt", "k"),
    "list": lambda: list(client.list_objects("bkt")),
    "write": lambda: client.put_object("bkt", "other").write(bytes(100_000)),
}
for _ in range(3):
    threading.Thread(target=forever, args=(uses[sys.argv[1]],), daemon=True).start()
for _ in range(3):
    started.acquire()
print("end")
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", ["read", "head", "list", "write"])
def test_daemon_threads_in_penstock_calls_do_not_crash_the_exit(use: str) -> None:
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM, use], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
