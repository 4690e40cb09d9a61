"""A program exits normally while its daemon threads are in calls of Penstock."""

from __future__ import annotations

import os
import subprocess
import sys

import penstock
import pytest
from penstock.testing import Emulator

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


# A daemon thread writes or completes an upload, whose third part does not arrive, when the main thread ends.
SENDING = """
import asyncio, sys, threading
import penstock, penstock.fsspec
from penstock import aio

PART = 16 << 20
config = penstock.S3ClientConfig(force_path_style=True, part_size=PART)
bucket, use = sys.argv[1:]

def close():
    client = penstock.S3Client("us-east-1", s3client_config=config)
    writer = client.put_object(bucket, "k")
    writer.write(bytes(2 * PART + 1))
    writer.close()

def files():  # with an attribute that only uploads in parts have, one part at a time
    with penstock.fsspec.S3FileSystem().open(f"{bucket}/k", "wb", Tagging="a=b") as file:
        file.write(bytes(3 * PART))

async def write():
    async with aio.S3Client("us-east-1", s3client_config=config).put_object(bucket, "k") as writer:
        for _ in range(8):
            await writer.write(bytes(PART))

def loop():
    asyncio.run(write())

def run():
    try:
        globals()[use]()
    except (penstock.S3Exception, OSError, RuntimeError, ValueError):
        pass

threading.Thread(target=run, daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.parametrize("use", ["close", "files", "loop"])
def test_an_upload_of_a_daemon_thread_is_aborted_at_the_exit(
    emulator: Emulator, client: penstock.S3Client, bucket: str, use: str
) -> None:
    faults = emulator.faults()
    stall = {"stall": {"ms": 60_000}, "at": "before_commit"}
    faults.set([{"when": {"operation": "UploadPart", "part": 3}, "do": stall, "limit": {"times": 1}}])
    program = subprocess.Popen(
        [sys.executable, "-c", SENDING, bucket, use], stdin=subprocess.PIPE, env={**os.environ, **emulator.environment()}
    )
    while faults.account().rules[0].fired == 0:
        assert program.poll() is None
    program.communicate(timeout=60)
    faults.clear()
    assert program.returncode == 0
    assert list(client.list_objects(bucket)) == [penstock.ListObjectResult([], [])]
    assert client.list_multipart_uploads(bucket).uploads == []
