"""penstock.aio and event loops: threads, cancellation, closing, fork and the end of the interpreter."""

from __future__ import annotations

import asyncio
import gc
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock
import pytest
from forked import in_child
from gate_server import Gate, gate_server
from penstock import aio
from penstock.testing import Emulator

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1024**2
NEVER = 10**9  # more GETs than any test sends


@pytest.fixture
def aio_client(emulator: Emulator) -> aio.S3Client:
    return aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=emulator.config())


class HeldClient(aio.S3Client):
    """A client whose GETs get no response."""

    def __init__(self, gate: Gate, endpoint: str) -> None:
        config = penstock.S3ClientConfig(force_path_style=True, unsigned=True, max_attempts=1)
        super().__init__("us-east-1", endpoint=endpoint, s3client_config=config)
        self._gate = gate

    async def arrived(self, count: int) -> None:
        """Waits until the server has received `count` GETs."""
        assert await asyncio.to_thread(self._gate.wait_for, count)


@pytest.fixture
def held() -> Iterator[HeldClient]:
    with gate_server(b"x" * 1000, NEVER) as (gate, endpoint):
        yield HeldClient(gate, endpoint)


def loops() -> list[Any]:
    found: list[Any] = [pytest.param(asyncio.new_event_loop, id="asyncio")]
    try:
        import uvloop
    except ImportError:
        found.append(pytest.param(None, id="uvloop", marks=pytest.mark.skip(reason="uvloop is not installed")))
    else:
        found.append(pytest.param(uvloop.new_event_loop, id="uvloop"))
    return found


def run_on(loop: asyncio.AbstractEventLoop, coroutine: Any) -> Any:
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def entries(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


# ---- many calls


THOUSANDS = """
import asyncio, sys, threading
from pathlib import Path
import penstock
from penstock import aio

kind, region, endpoint, bucket, key_id, secret = sys.argv[1:]
config = penstock.S3ClientConfig(force_path_style=True, access_key_id=key_id, secret_access_key=secret)
client = aio.S3Client(region, endpoint=endpoint, s3client_config=config)

def threads():
    return sum(1 for _ in Path("/proc/self/task").iterdir())

async def main():
    async def one(i):
        body = (await client.get(bucket, f"{i % 100}")).body
        counts.add(threads())
        return body

    counts = set()
    await asyncio.gather(*(client.put(bucket, f"{i}", b"%d" % i) for i in range(100)))
    before = threads()
    bodies = await asyncio.gather(*(one(i) for i in range(2000)))
    assert bodies == [b"%d" % (i % 100) for i in range(2000)]
    assert counts == {before}, (before, counts)
    assert threading.active_count() == 1

if kind == "uvloop":
    import uvloop
    loop = uvloop.new_event_loop()
else:
    loop = asyncio.new_event_loop()
loop.run_until_complete(main())
loop.close()
"""


@pytest.mark.parametrize("new_loop", loops())
def test_thousands_of_calls_on_one_loop_start_no_threads(
    emulator: Emulator, bucket: str, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    arguments = [new_loop.__module__.partition(".")[0], emulator.region, emulator.endpoint, bucket]
    secrets = [emulator.access_key_id, emulator.secret_access_key]
    command = [sys.executable, "-c", THOUSANDS, *arguments, *secrets]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr


def test_several_loops_in_several_threads_share_one_client(aio_client: aio.S3Client, bucket: str) -> None:
    failures: list[BaseException] = []

    def thread(number: int) -> None:
        async def main() -> None:
            for i in range(30):
                key = f"{number}-{i}"
                await aio_client.put(bucket, key, key.encode())
                bodies = await asyncio.gather(*(aio_client.get(bucket, key) for _ in range(10)))
                assert [body.body for body in bodies] == [key.encode()] * 10

        try:
            asyncio.run(main())
        except BaseException as error:
            failures.append(error)

    running = [threading.Thread(target=thread, args=(i,)) for i in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert failures == []


def test_a_loop_that_is_closed_frees_its_queue(aio_client: aio.S3Client, bucket: str) -> None:
    queues = []
    files = entries("/proc/self/fd")

    async def main() -> None:
        await aio_client.put(bucket, "k", b"x")
        queues.append(weakref.ref(aio._loop.queue_of(asyncio.get_running_loop())))  # type: ignore[attr-defined]

    for _ in range(50):
        asyncio.run(main())
    gc.collect()
    assert [queue() for queue in queues] == [None] * 50
    assert entries("/proc/self/fd") < files + 20


# ---- cancellation


@pytest.mark.parametrize("new_loop", loops())
def test_cancelled_calls_end(held: HeldClient, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> None:
        buffer = bytearray(1000)
        coroutines = [
            held.get("b", "k"),
            held.get("b", "k", buffer=buffer),
            held.get_object("b", "k").read(),
            held.get_object("b", "k").read(5),
            held.get_object("b", "k").readinto(bytearray(10 * MIB)),
        ]
        tasks = [asyncio.ensure_future(each) for each in coroutines]
        await held.arrived(5)
        for task in tasks:
            task.cancel("reason")
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(each) for each in results] == [asyncio.CancelledError] * 5
        buffer.clear()  # not exported any more
        assert aio._loop.queue_of(asyncio.get_running_loop()).in_flight == 0  # type: ignore[attr-defined]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(held.get("b", "k"), 0.05)

    run_on(new_loop(), main())


@pytest.mark.parametrize("seed", range(5))
def test_cancellation_at_random_moments_leaves_memory_intact(
    client: penstock.S3Client, emulator: Emulator, bucket: str, seed: int
) -> None:
    """After a cancelled call the engine writes to no buffer of the caller."""
    data = bytes(range(256)) * (3 * MIB // 256)
    client.put(bucket, "large", data)
    client.put(bucket, "small", b"small")
    config = emulator.config(penstock.S3ClientConfig(part_size=5 * MIB))
    aio_client = aio.S3Client(emulator.region, endpoint=emulator.endpoint, s3client_config=config)
    chance = random.Random(seed)

    async def into_buffer() -> None:
        buffer = bytearray(3 * MIB)
        try:
            await aio_client.get(bucket, "large", buffer=buffer)
            assert buffer == data
        except asyncio.CancelledError:
            buffer[:] = bytes(len(buffer))
            await asyncio.sleep(chance.random() / 100)
            assert buffer.count(0) == len(buffer)
            buffer.clear()  # raises BufferError while the engine holds it
            raise

    async def whole() -> None:
        assert await aio_client.get_object(bucket, "large").read() == data

    async def small() -> None:
        assert (await aio_client.get(bucket, "small")).body == b"small"

    async def write() -> None:
        async with aio_client.put_object(bucket, f"w{chance.random()}") as writer:
            for _ in range(7):
                await writer.write(data[:MIB])

    async def page() -> None:
        async for _ in aio_client.list_objects(bucket, max_keys=1):
            pass

    async def main() -> None:
        for _ in range(12):
            kinds = [chance.choice((into_buffer, whole, small, write, page)) for _ in range(8)]
            tasks = [asyncio.ensure_future(kind()) for kind in kinds]
            for task in tasks:
                await asyncio.sleep(chance.choice((0, 0, chance.random() / 200)))
                if chance.random() < 0.7:
                    task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                assert result is None or isinstance(result, asyncio.CancelledError), f"seed {seed}: {result!r}"
        assert aio._loop.queue_of(asyncio.get_running_loop()).in_flight == 0  # type: ignore[attr-defined]

    asyncio.run(main())
    for page_ in client.list_objects(bucket):
        assert all(info.size == 7 * MIB for info in page_.object_info if info.key.startswith("w")), f"seed {seed}"
    assert client.list_multipart_uploads(bucket).uploads == [], f"seed {seed}"


# ---- ends


def test_close_ends_calls_with_an_error(held: HeldClient) -> None:
    async def main() -> None:
        tasks = [asyncio.ensure_future(held.get("b", "k")) for _ in range(3)]
        await held.arrived(3)
        await held.close()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(result, penstock.S3Exception)
            assert "Request canceled" in str(result)
        with pytest.raises(RuntimeError, match="this client is closed"):
            await held.get("b", "k")

    asyncio.run(main())


@pytest.mark.parametrize("new_loop", loops())
def test_a_loop_may_be_closed_with_calls_in_flight(held: HeldClient, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    loop = new_loop()
    buffer = bytearray(1000)
    queues: list[Any] = []

    async def start() -> None:
        tasks.append(asyncio.ensure_future(held.get("b", "k", buffer=buffer)))
        await held.arrived(1)
        queues.append(aio._loop.queue_of(asyncio.get_running_loop()))  # type: ignore[attr-defined]
        assert queues[0].in_flight == 1

    tasks: list[asyncio.Task[Any]] = []
    loop.run_until_complete(start())
    loop.set_exception_handler(lambda *_: None)  # the task is destroyed while it is pending
    queue = weakref.ref(queues.pop())
    loop.close()
    if queue() is not None:  # uvloop keeps the callback until it is destroyed
        queue().close()
    assert not tasks[0].done()
    tasks.clear()
    buffer.clear()  # not exported any more


def test_without_a_loop_or_add_reader_the_error_says_so(aio_client: aio.S3Client, bucket: str) -> None:
    coroutine = aio_client.get(bucket, "k")
    with pytest.raises(RuntimeError, match=r"needs a running asyncio event loop; call it from a coroutine"):
        coroutine.send(None)

    class Loop(asyncio.SelectorEventLoop):
        def add_reader(self, *arguments: Any) -> None:
            raise NotImplementedError

    with pytest.raises(RuntimeError, match=r"needs an event loop with add_reader\(\), and Loop has none"):
        run_on(Loop(), aio_client.get(bucket, "k"))


def test_a_failing_callback_of_the_loop_stops_no_other_call(aio_client: aio.S3Client, bucket: str) -> None:
    """A call whose future another party has completed does not disturb the completions of other calls."""

    async def main() -> None:
        await aio_client.put(bucket, "k", b"x")
        stolen = aio_client._call("get", bucket=bucket, key="k")
        stolen.set_result(None)
        bodies = await asyncio.gather(*(aio_client.get(bucket, "k") for _ in range(10)))
        assert [body.body for body in bodies] == [b"x"] * 10

    hook, seen = sys.unraisablehook, []
    sys.unraisablehook = seen.append
    try:
        asyncio.run(main())
    finally:
        sys.unraisablehook = hook
    assert all(isinstance(each.exc_value, asyncio.InvalidStateError) for each in seen)


@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_uses_its_own_loop(held: HeldClient, aio_client: aio.S3Client, bucket: str) -> None:
    async def main() -> tuple[str, str]:
        await aio_client.put(bucket, "k", b"parent")
        buffer = bytearray(1000)
        task = asyncio.ensure_future(held.get("b", "k", buffer=buffer))
        await held.arrived(1)
        loop = asyncio.get_running_loop()

        def child() -> str:
            asyncio._set_running_loop(None)
            queue = aio._loop.queue_of(loop)  # type: ignore[attr-defined]
            queue.drain()
            queue.close()
            assert queue.in_flight == 1
            return asyncio.run(aio_client.get(bucket, "k")).body.decode()

        def same_loop() -> str:
            return str(aio_client._on_loops[loop].call("get", {"bucket": bucket, "key": "k"}))

        results = (in_child(child), in_child(same_loop))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await aio_client.get(bucket, "k")).body == b"parent"
        return results

    own, same = asyncio.run(main())
    assert own == "parent"
    assert "cannot be used after fork(); run a new one in this process" in same


PROGRAM = """
import asyncio, sys, threading
sys.path.insert(0, sys.argv[1])
from gate_server import Gate, gate_server
import penstock
from penstock import aio

done = threading.Event()
config = penstock.S3ClientConfig(force_path_style=True, unsigned=True, max_attempts=1)
with gate_server(b"x" * 1000, 10**9) as (gate, endpoint):
    client = aio.S3Client("us-east-1", endpoint=endpoint, s3client_config=config)

    async def main():
        global tasks, buffers
        buffers = [bytearray(1000) for _ in range(20)]
        tasks = [asyncio.ensure_future(client.get("b", "k", buffer=each)) for each in buffers]
        tasks += [asyncio.ensure_future(client.get_object("b", "k").read()) for _ in range(20)]
        await asyncio.to_thread(gate.wait_for, 40)
        {end}

    if {thread}:
        threading.Thread(target=asyncio.run, args=(main(),), daemon=True).start()
        done.wait()
    elif {unclosed}:
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(main())
        except BaseException:
            print("end", flush=True)
    else:
        asyncio.run(main())
        gate._changed.acquire(); gate.together = 0; gate._changed.notify_all(); gate._changed.release()
"""


@pytest.mark.parametrize(
    ("end", "thread", "unclosed"),
    [
        ("print('end', flush=True)", False, False),
        ("raise ZeroDivisionError", False, True),
        ("print('end', flush=True)", False, True),
        ("print('end', flush=True); done.set(); await asyncio.sleep(60)", True, False),
    ],
)
def test_the_interpreter_ends_with_calls_in_flight(end: str, thread: bool, unclosed: bool) -> None:
    program = PROGRAM.replace("{end}", end).replace("{thread}", str(thread)).replace("{unclosed}", str(unclosed))
    folder = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, folder], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
