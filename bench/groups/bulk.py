"""Group `bulk`: the file commands, compared with s5cmd and rclone. One process per measurement."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from harness import Measurement, Row, interleave, rows
from servers import CREDENTIALS, Server, penstock_emulator

BIN = Path(os.environ.get("PENSTOCK_CLIENTS_PYTHON", sys.executable)).parent
CLIENTS = ("penstock", "s5cmd", "rclone")
DIVISOR = int(os.environ.get("PENSTOCK_BENCH_DIVISOR", "1"))  # of the numbers of files, for a quick run
FILES, FILE_BYTES = 10_000 // DIVISOR, 100_000
SYNCED = 100_000 // DIVISOR
LARGE, LARGE_ON_SMALL_DISKS = 8 << 30, 1 << 30
BLOCK = 1 << 20


class Client:
    """Runs the commands of one client. Folders end in a slash."""

    def __init__(self, name: str, server: Server) -> None:
        self._name = name
        self._environment = {
            **os.environ, **CREDENTIALS, "AWS_ENDPOINT_URL": server.endpoint, "S3_ENDPOINT_URL": server.endpoint,
            "RCLONE_CONFIG": os.devnull, "RCLONE_CONFIG_E_TYPE": "s3", "RCLONE_CONFIG_E_PROVIDER": "Other",
            "RCLONE_CONFIG_E_ENDPOINT": server.endpoint, "RCLONE_CONFIG_E_ENV_AUTH": "true",
        }  # fmt: skip

    def _run(self, *words: str) -> Measurement:
        program = [sys.executable, "-m", "penstock"] if self._name == "penstock" else [str(BIN / self._name)]
        began = time.monotonic()
        process = subprocess.Popen([*program, *words], env=self._environment, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"bench: {self._name} {' '.join(words)} ended with status {process.returncode}")
        return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "peak_mib": usage.ru_maxrss / 1024}

    def _place(self, place: str) -> str:
        return place.replace("s3://", "e:") if self._name == "rclone" else place

    def copy_folder(self, source: str, target: str) -> Measurement:
        if self._name == "rclone":
            return self._run("copy", "--transfers", "32", "--checkers", "32", self._place(source), self._place(target))
        if self._name == "s5cmd":
            return self._run("cp", source + "*", target)
        return self._run("cp", "-r", "--quiet", source, target)

    def copy_file(self, source: str, target: str) -> Measurement:
        if self._name == "rclone":
            return self._run("copyto", "--multi-thread-streams", "8", self._place(source), self._place(target))
        return self._run("cp", source, target)

    def sync(self, source: str, target: str) -> Measurement:
        if self._name == "rclone":  # compare with the time of the object: its own metadata would need a HEAD for each
            words = ("--update", "--use-server-modtime", "--fast-list", "--checkers", "32")
            return self._run("sync", *words, self._place(source), self._place(target))
        return self._run("sync", source + ("*" if self._name == "s5cmd" and source.startswith("s3:") else ""), target)

    def list_one(self, place: str) -> Measurement:
        return self._run("lsf" if self._name == "rclone" else "ls", self._place(place))


@contextlib.contextmanager
def place(*options: str) -> Iterator[tuple[Path, Server, dict[str, Client]]]:
    """Returns a folder, and an emulator with the bucket `bulk`."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        chosen = [option.format(folder=folder) for option in options or ("--memory",)]
        with penstock_emulator(*chosen) as server:
            server.boto3().create_bucket(Bucket="bulk")
            yield Path(folder), server, {name: Client(name, server) for name in CLIENTS}


def make_files(folder: Path, count: int, size: int) -> None:
    data = os.urandom(size)
    for number in range(count):
        inner = folder / f"{number // 1000:03}"
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{number:06}").write_bytes(data[: size - 8] + f"{number:08}".encode())


def rate(measured: Measurement, count: float) -> Measurement:
    """Adds the rate and the CPU time for `count` files or gigabytes."""
    return measured | {"rate": count / measured["seconds"], "cpu_each": measured["cpu"] / count}


def small_files(rounds: int) -> list[Row]:
    """10,000 files of 100 KB, up and down."""
    with place() as (folder, _, clients):
        make_files(folder / "files", FILES, FILE_BYTES)

        def upload(name: str) -> Measurement:
            return rate(clients[name].copy_folder(f"{folder}/files/", f"s3://bulk/{name}/"), FILES)

        def download(name: str) -> Measurement:
            # The files of all rounds remain: ext4 creates files slowly for seconds after others were removed. os.sync: a client
            # must not pay for the writes of the client before.
            target = Path(tempfile.mkdtemp(prefix="back-", dir=folder))
            os.sync()
            measured = clients[name].copy_folder(f"s3://bulk/{name}/", f"{target}/")
            found = sum(1 for path in target.rglob("*") if path.is_file())
            if found != FILES:
                raise SystemExit(f"bench: {name} downloaded {found} of {FILES} files")
            return rate(measured, FILES)

        up = interleave({name: partial(upload, name) for name in clients}, rounds)
        down = interleave({name: partial(download, name) for name in clients}, rounds)
    made = rows(up, "penstock", {"rate": ("bulk.files_up", "files/s")})
    made += rows(up, "penstock", {"cpu_each": ("bulk.files_up.cpu", "CPU-us/file")}, 1e6)
    made += rows(down, "penstock", {"rate": ("bulk.files_down", "files/s")})
    return made + rows(down, "penstock", {"cpu_each": ("bulk.files_down.cpu", "CPU-us/file")}, 1e6)


def large_file(rounds: int) -> list[Row]:
    """One file of 8 GiB, up and down; 1 GiB if the disk has less than 40 GiB, or in a quick run."""
    size = LARGE if DIVISOR == 1 and shutil.disk_usage(tempfile.gettempdir()).free > 5 * LARGE else LARGE_ON_SMALL_DISKS
    with place("--data", "{folder}/data") as (folder, _, clients):
        block = os.urandom(BLOCK)
        with (folder / "large").open("wb") as file:
            for _ in range(size // BLOCK):
                file.write(block)

        def upload(name: str) -> Measurement:
            return rate(clients[name].copy_file(f"{folder}/large", "s3://bulk/large"), size / 1e9)

        def download(name: str) -> Measurement:
            measured = clients[name].copy_file("s3://bulk/large", f"{folder}/back")
            if (folder / "back").stat().st_size != size:
                raise SystemExit(f"bench: {name} did not download {size} bytes")
            (folder / "back").unlink()
            return rate(measured, size / 1e9)

        up = interleave({name: partial(upload, name) for name in clients}, rounds)
        down = interleave({name: partial(download, name) for name in clients}, rounds)
    made = []
    for results, name in ((up, "bulk.large_up"), (down, "bulk.large_down")):
        quantities = {"rate": (name, "GB/s"), "cpu_each": (f"{name}.cpu", "CPU-s/GB"), "peak_mib": (f"{name}.peak", "MiB")}
        made += rows(results, "penstock", quantities)
    return made


def sync_nothing(rounds: int) -> list[Row]:
    """`sync` of 100,000 files to S3 that are there already."""
    with place() as (folder, _, clients):
        make_files(folder / "files", SYNCED, 16)
        clients["s5cmd"].copy_folder(f"{folder}/files/", "s3://bulk/synced/")

        def sync(name: str) -> Measurement:
            return rate(clients[name].sync(f"{folder}/files/", "s3://bulk/synced/"), SYNCED)

        results = interleave({name: partial(sync, name) for name in clients}, rounds)
    made = rows(results, "penstock", {"rate": ("bulk.sync", "files/s")})
    return made + rows(results, "penstock", {"cpu_each": ("bulk.sync.cpu", "CPU-us/file")}, 1e6)


def start(rounds: int) -> list[Row]:
    """`ls` of one object: mostly the start of the process."""
    with place() as (_, server, clients):
        server.boto3().put_object(Bucket="bulk", Key="one", Body=b"")

        def measure(name: str) -> Measurement:
            return min((clients[name].list_one("s3://bulk/") for _ in range(5)), key=lambda measured: measured["cpu"])

        results = interleave({name: partial(measure, name) for name in clients}, rounds)
    return rows(results, "penstock", {"seconds": ("bulk.start", "ms"), "cpu": ("bulk.start.cpu", "CPU-ms")}, 1e3)


SCENARIOS = [small_files, large_file, sync_nothing, start]
