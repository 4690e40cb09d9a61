"""The axes of `./dev bench scale`: each makes the points n = 1, 2, 4, ... of one kind of parallel work."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from groups.client import put_random
from groups.client_python import create_bucket_without_md5
from groups.emulator import prepare, wrk
from scaling import probe
from scaling.team import Team, team
from servers import Server, ask, penstock_emulator

OBJECT_BYTES = 100_000
OBJECTS = 2048  # of the DataLoader
TRACED_S = 1.0
WRITE_BYTES = 64 << 20
CONNECTIONS = 8  # of each load thread
SMALL_BYTES = 1 << 10


@dataclasses.dataclass(frozen=True)
class Axis:
    """`unit`: what rates count; `per`: how many units of the program it has."""

    name: str
    what: str
    unit: str
    per: float


AXES = {
    axis.name: axis
    for axis in (
        Axis("threads", "threads of one process, each readinto() of one object", "GB", 1e9),
        Axis("processes", "processes, each readinto() of one object", "GB", 1e9),
        Axis("workers", "DataLoader workers, objects of 100 KB", "1,000 objects", 1e3),
        Axis("ranks-load", "ranks, dcp.load", "GB", 1e9),
        Axis("ranks-save", "ranks, dcp.save", "GB", 1e9),
        Axis("gets", "load threads (wrk, 8 connections each), GETs of 1 KiB", "1,000 requests", 1e3),
        Axis("writers", "writing processes, objects of 64 MiB", "GB", 1e9),
    )
}


@dataclasses.dataclass(frozen=True)
class Peer:
    """A client, and variables of the environment that configure it."""

    module: str
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)


OURS = Peer("penstock")


@dataclasses.dataclass
class Side:
    """What the client's processes or the emulator used."""

    cpu_per_unit: float
    voluntary_per_request: float
    involuntary_per_request: float
    busiest_share: float  # of one core
    busiest: str
    share_of_side: float  # the busiest thread's part of the side's CPU time


@dataclasses.dataclass
class Point:
    n: int
    rate: float  # units per second
    requests: float  # of the emulator, per second
    client: Side
    emulator: Side
    lock_tool: str = ""  # empty: not permitted or not installed
    lock_waits_per_1000_requests: float = 0.0
    lock_wait_s_per_s: float = 0.0
    busiest_lock_share: float = 0.0  # the part of the waits for one mutex


def side(used: probe.Used, units: float, requests: float, seconds: float) -> Side:
    requests = max(requests, 1)
    return Side(
        used.cpu_s / units,
        used.voluntary / requests,
        used.involuntary / requests,
        used.busiest_s / seconds,
        used.busiest,
        used.busiest_s / used.cpu_s if used.cpu_s else 0.0,
    )


def requests_of(server: Server) -> int:
    return sum(ask(server, "stats")["requests"].values())


@dataclasses.dataclass
class Load:
    """Work that a point measures. `run` works for some seconds and returns its units and their rate."""

    run: Callable[[float], tuple[float, float]]
    pids: list[int]  # of the client
    client: Callable[[probe.Used], probe.Used] = lambda used: used


def measure(n: int, axis: Axis, server: Server, load: Load, seconds: float) -> Point:
    before = [probe.sample(load.pids), probe.sample([server.pid])]
    requests, start = requests_of(server), time.monotonic()
    units, rate = load.run(seconds)
    lasted = time.monotonic() - start
    after = [probe.sample(load.pids), probe.sample([server.pid])]
    requests = requests_of(server) - requests
    client, emulator = (probe.used(*pair) for pair in zip(before, after, strict=True))
    counted = units / axis.per
    ours, theirs = (side(used, counted, requests, lasted) for used in (load.client(client), emulator))
    made = Point(n, rate / axis.per, requests / lasted, ours, theirs)
    trace(made, server, load)
    return made


def trace(point: Point, server: Server, load: Load) -> None:
    """Observes the emulator's mutexes during a further second of the same work."""
    before = requests_of(server)
    worker = threading.Thread(target=load.run, args=(TRACED_S + 0.5,))
    worker.start()
    seen = probe.lock_waits(server.pid, TRACED_S)
    worker.join()
    if seen is None:
        return
    requests = max(1.0, (requests_of(server) - before) * TRACED_S / (TRACED_S + 0.5))
    point.lock_tool = seen.tool
    point.lock_waits_per_1000_requests = seen.count / requests * 1000
    point.lock_wait_s_per_s = seen.wait_s / seen.seconds
    point.busiest_lock_share = max(seen.locks.values(), default=0) / seen.count if seen.count else 0.0


# ---- the work of each axis


def of_team(members: Team) -> Load:
    return Load(members.run, members.pids)


@contextlib.contextmanager
def reading(server: Server, n: int, mib: int, by: Peer = OURS, *, in_threads: bool) -> Iterator[Load]:
    put_random(server, "read", "object", mib << 20)
    command = ["read", by.module, server.endpoint, "read", "object", str(n if in_threads else 1)]
    with team([command] * (1 if in_threads else n), by.settings) as members:
        yield of_team(members)


@contextlib.contextmanager
def loading(server: Server, n: int, by: Peer = OURS) -> Iterator[Load]:
    client = server.boto3()
    client.create_bucket(Bucket="data")
    body = os.urandom(OBJECT_BYTES)
    for number in range(OBJECTS):
        client.put_object(Bucket="data", Key=f"data/{number:06}", Body=body)
    with team([["load", by.module, server.endpoint, "data", str(n)]], by.settings) as members:
        yield of_team(members)


@contextlib.contextmanager
def ranks(server: Server, n: int, mib: int, verb: str, by: Peer = OURS, device: str = "cpu", threads: int = 1) -> Iterator[Load]:
    create_bucket_without_md5(server, "ranks")

    def command(chosen: str) -> list[str]:
        shape, uri = f"16x{(mib << 20) // 16}", "s3://ranks/checkpoint"
        return ["dcp", by.module, server.endpoint, chosen, uri, shape, device, str(threads)]

    if verb == "load":
        with team([command("save")] * n, by.settings, ranks=True):
            pass  # a team does its work once before it is ready
    with team([command(verb)] * n, by.settings, ranks=True) as members:
        yield of_team(members)


@contextlib.contextmanager
def writing(server: Server, n: int) -> Iterator[Load]:
    create_bucket_without_md5(server, "write")
    commands = [["write", "penstock", server.endpoint, "write", f"object-{number}", str(WRITE_BYTES)] for number in range(n)]
    with team(commands) as members:
        yield of_team(members)


@contextlib.contextmanager
def getting(server: Server, n: int) -> Iterator[Load]:
    url = prepare(server, SMALL_BYTES)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)

    def run(seconds: float) -> tuple[float, float]:
        lasts = max(1, round(seconds))
        rate = wrk(server, url, n * CONNECTIONS, n, seconds=lasts)["requests"]
        return rate * lasts, rate

    def cost(_: probe.Used) -> probe.Used:
        """wrk has ended, so its threads cannot be sampled."""
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - ended.ru_utime - ended.ru_stime
        return probe.Used(cpu, now.ru_nvcsw - ended.ru_nvcsw, now.ru_nivcsw - ended.ru_nivcsw, 0.0, "")

    yield Load(run, [], cost)


def work_of(axis: str, server: Server, n: int, mib: int) -> contextlib.AbstractContextManager[Load]:
    match axis:
        case "threads" | "processes":
            return reading(server, n, mib, in_threads=axis == "threads")
        case "workers":
            return loading(server, n)
        case "ranks-load" | "ranks-save":
            return ranks(server, n, mib, axis.removeprefix("ranks-"))
        case "gets":
            return getting(server, n)
        case _:
            return writing(server, n)


def point(axis: str, n: int, mib: int, seconds: float) -> Point:
    """Measures one point with an emulator of its own."""
    with penstock_emulator("--memory") as server, work_of(axis, server, n, mib) as load:
        return measure(n, AXES[axis], server, load, seconds)
