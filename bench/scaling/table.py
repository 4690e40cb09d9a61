"""The rows of the table for large machines: Penstock, the connector with its best settings, and the limit of the machine."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from groups.client import put_random
from groups.scale import OURS, Load, Peer, getting, loading, ranks, reading
from harness import BUILD
from servers import Server, penstock_emulator

from scaling import machine
from scaling.report import number

# The connector's default target is 10 Gbit/s. The table has the better figure.
CONNECTOR = {
    "default": Peer("s3torchconnector"),
    "target 100 Gbit/s": Peer("s3torchconnector", {"PENSTOCK_BENCH_TARGET_GBPS": "100"}),
}
NS = (1, 2, 4, 8)
NO_GPU = "not measured: no GPU"
START_S = 20  # of a cell, for estimates
RECV_ROUNDS = 4


@dataclasses.dataclass(frozen=True)
class Size:
    """`mib`: of objects and checkpoints; `seconds`, `rounds`: of each cell."""

    mib: int
    seconds: float
    rounds: int


@dataclasses.dataclass
class TableRow:
    name: str
    text: str
    ours: str
    connector: str
    limit: str


Work = Callable[[Server, Peer], contextlib.AbstractContextManager[Load]]


def median(work: contextlib.AbstractContextManager[Load], size: Size) -> tuple[float, float]:
    """Returns the medians of the rounds: units of a round, and units per second."""
    with work as load:
        results = [load.run(size.seconds) for _ in range(size.rounds)]
    return statistics.median(units for units, _ in results), statistics.median(rate for _, rate in results)


def rate(work: Work, by: Peer, size: Size, per: float) -> float:
    with penstock_emulator("--memory") as server:
        return median(work(server, by), size)[1] / per


def connector_best(work: Work, size: Size, per: float) -> tuple[float, str]:
    return max((rate(work, by, size, per), name) for name, by in CONNECTOR.items())


def read_work(n: int, mib: int, *, in_threads: bool) -> Work:
    return lambda server, by: reading(server, n, mib, by, in_threads=in_threads)


def rank_work(mib: int, verb: str, device: str, threads: int = 1) -> Work:
    return lambda server, by: ranks(server, 1, mib, verb, by, device, threads)


@contextlib.contextmanager
def receivers(server: Server, count: int, mib: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Bare receive loops, each over its own connection and in its own process."""
    put_random(server, "bare", "object", mib << 20)
    url = urlsplit(server.presigned("bare", "object"))
    command = [str(BUILD / "bench/bench_client_get"), "recv", str(url.hostname), str(url.port), f"{url.path}?{url.query}"]
    sizes = [str(mib << 20), str(RECV_ROUNDS)]
    started = [subprocess.Popen([*command, *sizes], stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def bare(count: int, size: Size) -> float:
    """GB/s of bare receive loops over loopback."""

    def once() -> float:
        with penstock_emulator("--memory") as server, receivers(server, count, size.mib) as started:
            results = [json.loads(process.communicate(timeout=120)[0].splitlines()[-1]) for process in started]
        return sum(each["bytes"] / each["seconds"] for each in results) / 1e9

    return statistics.median(once() for _ in range(size.rounds))


def loopback_limits(size: Size) -> str:
    return f"loopback {number(bare(1, size))} with 1 connection, {number(bare(8, size))} with 8"


def compared(name: str, text: str, work: Work, size: Size, per: float, limit: str) -> TableRow:
    theirs, setting = connector_best(work, size, per)
    return TableRow(name, text, number(rate(work, OURS, size, per)), f"{number(theirs)} ({setting})", limit)


def readinto(size: Size) -> list[TableRow]:
    text = f"one process, {size.mib} MiB `readinto`, GB/s"
    return [compared("readinto", text, read_work(1, size.mib, in_threads=True), size, 1e9, loopback_limits(size))]


def readinto_8(size: Size) -> list[TableRow]:
    return [
        compared(
            f"readinto-8-{kind}",
            f"8 {kind} `readinto`, GB/s",
            read_work(8, size.mib, in_threads=kind == "threads"),
            size,
            1e9,
            "-",
        )
        for kind in ("threads", "processes")
    ]


def dcp_load(size: Size) -> list[TableRow]:
    text = f"`dcp.load` of {size.mib} MiB to host, one process, GB/s"
    return [compared("dcp-load", text, rank_work(size.mib, "load", "cpu"), size, 1e9, "-")]


def dcp_save(size: Size) -> list[TableRow]:
    text = f"`dcp.save` of {size.mib} MiB from host, 4 threads, GB/s"
    return [compared("dcp-save", text, rank_work(size.mib, "save", "cpu", 4), size, 1e9, "-")]


def pinned_gb_per_s(to: str) -> float:
    """The rate of copies between pinned memory and the GPU; `to`: "cuda" or "cpu"."""
    import torch

    host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target, source = (device, host) if to == "cuda" else (host, device)
    target.copy_(source)
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(8):
        target.copy_(source, non_blocking=True)
    end.record()
    end.synchronize()
    return 8 * (1 << 30) / 1e6 / float(start.elapsed_time(end))


def gpu_rows(size: Size) -> list[TableRow]:
    """Loads, saves and stalls with tensors on a GPU. Without one, rows that say so."""
    texts = {
        "dcp-load-gpu": "`dcp.load` to GPU, one process, GB/s",
        "dcp-save-gpu": "`dcp.save` from GPU, 4 threads, GB/s",
        "stall-gpu": "`async_save` from GPU, default: stall, s",
    }
    if not machine.gpu():
        return [TableRow(name, text, NO_GPU, NO_GPU, NO_GPU) for name, text in texts.items()]
    limits = {"load": f"host to device {number(pinned_gb_per_s('cuda'))} pinned"}
    limits["save"] = f"device to host {number(pinned_gb_per_s('cpu'))} pinned"
    made = [
        compared(f"dcp-{verb}-gpu", texts[f"dcp-{verb}-gpu"], rank_work(size.mib, verb, "cuda", threads), size, 1e9, limits[verb])
        for verb, threads in (("load", 1), ("save", 4))
    ]
    return [*made, stalled("stall-gpu", texts["stall-gpu"], size, "cuda")]


def stall(by: Peer, size: Size, device: str) -> float:
    """Median of the seconds until async_save returns."""
    single = dataclasses.replace(size, seconds=0.0)
    with penstock_emulator("--memory") as server:
        return median(ranks(server, 1, size.mib, "stall", by, device), single)[0] / 1e9


def stalled(name: str, text: str, size: Size, device: str) -> TableRow:
    ours, theirs = (number(stall(by, size, device)) for by in (OURS, CONNECTOR["default"]))
    return TableRow(name, text, ours, theirs, "-")


def stall_host(size: Size) -> list[TableRow]:
    return [stalled("stall", f"`async_save` of {size.mib} MiB from host, default: stall, s", size, "cpu")]


def joined(values: Iterable[float]) -> str:
    return " / ".join(map(number, values))


def load_work(n: int) -> Work:
    return lambda server, by: loading(server, n, by)


def get_work(n: int) -> Work:
    return lambda server, _: getting(server, n)


def loader(size: Size) -> list[TableRow]:
    def rates(by: Peer) -> str:
        return joined(rate(load_work(n), by, size, 1e3) for n in NS)

    text = f"DataLoader, 100 KB objects, {joined(NS)} workers, thousand/s"
    return [TableRow("loader", text, rates(OURS), rates(CONNECTOR["default"]), "-")]


def emulator(size: Size) -> list[TableRow]:
    found = joined(rate(get_work(n), OURS, size, 1e3) for n in NS)
    text = f"emulator, 1 KiB GETs, {joined(NS)} load threads, thousand/s"
    return [TableRow("emulator", text, found, "-", "-")]


@dataclasses.dataclass(frozen=True)
class Row:
    make: Callable[[Size], list[TableRow]]
    cells: int  # for the estimate of its time

    def estimate_s(self, size: Size) -> float:
        return self.cells * (START_S + size.seconds * size.rounds)


ROWS: Mapping[str, Row] = {
    "readinto": Row(readinto, 5),
    "readinto-8": Row(readinto_8, 6),
    "dcp-load": Row(dcp_load, 6),
    "dcp-save": Row(dcp_save, 3),
    "gpu": Row(gpu_rows, 11),
    "stall": Row(stall_host, 2),
    "loader": Row(loader, 8),
    "emulator": Row(emulator, 4),
}
