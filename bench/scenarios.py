"""What each figure measures, for the columns of the tables: scenario, added latency, and the language of Penstock's program."""

from __future__ import annotations

from dataclasses import dataclass

# The rows that start with this name, unless a longer name matches: scenario, language, latency added to each first byte.
_ROWS: dict[str, tuple[str, str, str]] = {
    "client.get_1gib": ("1 GiB into a reused buffer", "C++", "none"),
    "client.get_1kib": ("1 KiB objects, 64 in flight", "C++", "none"),
    "client.read_1gib": ("read() of 1 GiB", "Python", "none"),
    "client.readinto_1gib": ("readinto() of 1 GiB, ranges", "Python", "none"),
    "client.readline": ("lines of 100 bytes", "Python", "none"),
    "client.put_1gib": ("upload of 1 GiB from memory", "C++", "none"),
    "client.list_100k": ("list 100,000 keys", "Python", "none"),
    "client.list_page": ("list 1,000 keys", "C++", "none"),
    "client.list_page.parser": ("parse 1,000 keys from memory", "C++", "none"),
    "client.gil_held": ("reads while a thread holds the GIL", "Python", "none"),
    "data.iter_100kb": ("iterable dataset, 100 KB objects", "Python", "25 ms"),
    "data.map_100kb": ("map dataset, 100 KB objects", "Python", "25 ms"),
    "data.iter_local": ("iterable dataset, 100 KB objects", "Python", "none"),
    "data.map_local": ("map dataset, 100 KB objects", "Python", "none"),
    "data.tar_100kb": ("tar samples of 100 KB, 2 workers", "Python", "25 ms"),
    "data.parquet_8_of_64": ("8 of 64 Parquet columns", "Python", "25 ms"),
    "ckpt.load_1gib": ("torch.load of 1 GiB", "Python", "none"),
    "ckpt.save_1gib": ("torch.save of 1 GiB", "Python", "none"),
    "aio.get_1kib": ("1 KiB objects, asyncio", "Python", "none"),
    "import.penstock": ("import", "Python", "none"),
    "import.client": ("import and a client", "Python", "none"),
    "pipes.lines": ("lines of shards by DataPipes", "Python", "none"),
    "pipes.lines_4": ("the same, 4 workers", "Python", "none"),
    "pipes.lines_s3": ("lines of shards, 90 MB/s", "Python", "30 ms"),
    "tls.get_1gib": ("download of 512 MiB over TLS", "C++", "none"),
    "tls.put_1gib": ("upload of 512 MiB over TLS", "C++", "none"),
    "tls.connections": ("new connections, one request each", "C++", "none"),
    "tls.burst": ("100 new connections at once", "C++", "none"),
    "tls.requests.plain": ("single requests without TLS", "C++", "none"),
    "tls.requests.tls": ("single requests over TLS", "C++", "none"),
    "emulator.get_1kib": ("GET 1 KiB, 64 connections", "C++", "none"),
    "emulator.get_1kib_open": ("the same without signatures", "C++", "none"),
    "emulator.get_1kib_policy": ("the same with a policy of 20 statements and ACLs", "C++", "none"),
    "emulator.get_8mib": ("GET 8 MiB, 4 connections", "C++", "none"),
    "emulator.put_1kib_relaxed": ("PUT 1 KiB, relaxed durability", "C++", "none"),
    "emulator.put_1kib_strict": ("PUT 1 KiB, strict durability", "C++", "none"),
    "emulator.list_1m": ("page of 1,000 of 1,000,000 keys", "C++", "none"),
    "emulator.list_1m_folders": ("page of 1,000 folders", "C++", "none"),
    "emulator.lifecycle_1m": ("expiration of 1,000,000 objects", "C++", "none"),
    "emulator.lifecycle_1m.get": ("GET 1 KiB during that run", "C++", "none"),
    "emulator.lifecycle_1m.put": ("PUT 1 KiB during that run", "C++", "none"),
    "emulator.start": ("start to the first response", "C++", "none"),
    "emulator.start.data": ("start with 100,000 objects", "C++", "none"),
    "emulator.start_inprocess": ("start inside a process", "C++", "none"),
    "emulator.put_8mib": ("PUT 8 MiB into a directory", "C++", "none"),
    "emulator.put_8mib.kms": ("the same with SSE-KMS", "C++", "none"),
    "emulator.idle": ("resident memory when idle", "C++", "none"),
    "emulator.big": ("8 GiB in parts, one read", "C++", "none"),
    "emulator.connections": ("64 busy, 2,000 idle connections", "C++", "none"),
    "faults.idle": ("GET 1 KiB, 100 rules", "C++", "none"),
    "faults.journal": ("GET 1 KiB, journal on", "C++", "none"),
    "faults.shape": ("64 connections at 90 MB/s", "C++", "30 ms"),
    "faults.shape.one": ("one connection at 90 MB/s", "C++", "30 ms"),
    "faults.shape.tenth": ("64 connections at 9 MB/s", "C++", "30 ms"),
    "faults.reset": ("reset of 100,000 objects", "C++", "none"),
    "simulate.4096": ("4,096 ranks in virtual time", "C++", "none"),
    "dcp.load": ("dcp.load of 2 GiB, 4 ranks", "Python", "none"),
    "dcp.load_reshard": ("the same by 2 ranks", "Python", "none"),
    "dcp.load_25ms": ("dcp.load of 20,000 tensors", "Python", "25 ms"),
    "dcp.save": ("dcp.save of 2 GiB, 4 ranks", "Python", "none"),
    "lightning.save_load": ("Lightning checkpoint, 500 MB", "Python", "none"),
    "bulk.files_up": ("upload of 10,000 files", "Python", "none"),
    "bulk.files_down": ("download of many files", "Python", "none"),
    "bulk.large_up": ("upload of one file", "Python", "none"),
    "bulk.large_down": ("download of one file", "Python", "none"),
    "bulk.sync": ("sync of 100,000 files", "Python", "none"),
    "bulk.start": ("ls of one object", "Python", "none"),
    "cache.large": ("8 cached objects of 32 MiB", "Python", "none"),
    "cache.small": ("1,000 cached objects of 100 KB", "Python", "none"),
    "throttle": ("8 processes, 55 reads per second", "Python", "none"),
    "hedge": ("batches of 256 reads", "Python", "s3-standard"),
    "matrix": ("sample of the fault matrix", "Python", "none"),
    "console.first_view": ("overview painted, empty cache", "TypeScript", "none"),
    "console.idle": ("open page, no other requests", "C++", "none"),
    "console.open": ("GET 1 KiB, verified, page open", "C++", "none"),
    "console.open.overview.browser": ("CPU time of Chromium meanwhile", "TypeScript", "none"),
    "console.open.requests.browser": ("CPU time of Chromium meanwhile", "TypeScript", "none"),
    "console.closed": ("GET 1 KiB, verified, no page", "C++", "none"),
    "console.frames": ("page beside unsigned GETs", "TypeScript", "none"),
    "console.frames.overview.load": ("rate of these GETs", "C++", "none"),
    "console.frames.requests.load": ("rate of these GETs", "C++", "none"),
    "express.session": ("64 threads, new client", "Python", "1 s"),
}

# Languages of the programs that Penstock is compared with. A name that is not here is Penstock itself in another setting.
_LANGUAGES = {
    "C++": (
        "bare recv", "bare send", "bare epoll", "bare SSL_read", "bare OpenSSL", "decryption and plain", "encryption and plain",
        "bare MD5",
    ),
    "C": ("libcurl",),
    "Go": ("s5cmd", "rclone"),
    "Python": (
        "boto3", "botocore", "aiobotocore", "awscrt", "s3torchconnector", "obstore", "torchdata", "s3fs", "fsspec", "webdataset",
        "pyarrow", "moto", "page cache", "our writer", "penstock from Python", "penstock in threads",
    ),
}  # fmt: skip

HIGHER = ("% of the allowed rate", "slowest process / mean")


@dataclass(frozen=True)
class Scenario:
    """The text of a row's columns."""

    text: str
    language: str
    latency: str


UNKNOWN = Scenario("not described in bench/scenarios.py", "not recorded", "not recorded")


def scenario_of(row: str) -> Scenario:
    """The scenario of a row, by the longest name in the table that it starts with; UNKNOWN if there is none."""
    names = [name for name in _ROWS if row == name or row.startswith((f"{name}.", f"{name}_"))]
    return Scenario(*_ROWS[max(names, key=len)]) if names else UNKNOWN


def language_of(peer: str) -> str | None:
    """The language of a compared program; None for Penstock itself in another setting."""
    for language, names in _LANGUAGES.items():
        if any(peer == name or peer.startswith((f"{name} ", f"{name}'", f"{name}.")) for name in names):
            return language
    return None


def direction(unit: str) -> str:
    """ "higher" or "lower": which values of a unit are better."""
    return "higher" if unit.endswith(("/s", "/CPU-s")) or unit in HIGHER else "lower"
