"""Group `emulator`, the store: small puts, pages of a large bucket, the start."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from groups.emulator import wrk
from harness import BUILD, Measurement, Row, interleave, process_cpu_seconds, rows, run_json
from servers import ACCESS_KEY, SECRET_KEY, Server, free_port, moto, penstock_emulator

BODY_BYTES = 1 << 10
TARGETS = 20_000  # keys that a put benchmark overwrites
LISTED_KEYS, FOLDERS = 1_000_000, 1_000
SECONDS = 4
PUT_SCRIPT = Path(__file__).parents[1] / "clients/put.lua"


def presigned(server: Server, method: str, path: str, query: dict[str, str] | None = None) -> str:
    """A presigned URL. Uses boto3's signer only; boto3's client takes a millisecond per URL."""
    from botocore.auth import S3SigV4QueryAuth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    text = urllib.parse.urlencode(query or {}, quote_via=urllib.parse.quote)
    request = AWSRequest(method=method, url=f"{server.endpoint}{path}" + (f"?{text}" if text else ""))
    S3SigV4QueryAuth(Credentials(ACCESS_KEY, SECRET_KEY), "s3", "us-east-1", expires=7200).add_auth(request)
    url: str = request.url
    return url


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_targets(server: Server, file: Path) -> None:
    server.boto3().create_bucket(Bucket="puts")
    with file.open("w") as out:
        for number in range(TARGETS):
            # Keys in no order, like those of uploads: the number with its digits reversed.
            url = presigned(server, "PUT", f"/puts/object-{str(number).zfill(6)[::-1]}")
            out.write(url.removeprefix(server.endpoint) + "\n")


def put(server: Server, targets: Path) -> Measurement:
    return wrk(server, server.endpoint, 64, 1, ["-s", str(PUT_SCRIPT)], ["--", str(targets), str(BODY_BYTES)])


def put_1kib(durability: str, rounds: int) -> list[Row]:
    quantities = {
        "requests": (f"emulator.put_1kib_{durability}", "requests/s"),
        "cpu_us": (f"emulator.put_1kib_{durability}.cpu", "server CPU-us/request"),
    }
    with folder() as data, moto() as theirs, penstock_emulator("--data", str(data / "s3"), "--durability", durability) as ours:
        for server, name in ((ours, "ours"), (theirs, "moto")):
            write_targets(server, data / name)
        cells = {"penstock": lambda: put(ours, data / "ours"), "moto": lambda: put(theirs, data / "moto")}
        return rows(interleave(cells, rounds), "penstock", quantities)


def put_1kib_relaxed(rounds: int) -> list[Row]:
    """1 KiB presigned puts over 64 keep-alive connections to disk; acknowledged puts survive a crash of the process."""
    return put_1kib("relaxed", rounds)


def put_1kib_strict(rounds: int) -> list[Row]:
    """The same; acknowledged puts survive a power failure."""
    return put_1kib("strict", rounds)


def page(server: Server, query: dict[str, str]) -> Measurement:
    """The median of milliseconds per page, for pages one after the other over one keep-alive connection."""
    url = urllib.parse.urlsplit(presigned(server, "GET", "/listed", {"list-type": "2", **query}))
    connection = http.client.HTTPConnection(url.netloc)
    taken = []
    before = process_cpu_seconds(server.pid)
    begin = time.perf_counter()
    while time.perf_counter() < begin + 1.5:
        start = time.perf_counter()
        connection.request("GET", f"{url.path}?{url.query}")
        response = connection.getresponse()
        body = response.read()
        taken.append(time.perf_counter() - start)
        if response.status != 200 or body.count(b"<CommonPrefixes>") + body.count(b"<Contents>") != 1000:
            raise SystemExit(f"bench: {query} answered {response.status}: {body[:300]!r}")
    cpu = process_cpu_seconds(server.pid) - before
    connection.close()
    return {"milliseconds": sorted(taken)[len(taken) // 2] * 1e3, "cpu_ms": cpu / len(taken) * 1e3}


def list_1m(rounds: int) -> list[Row]:
    """Pages of 1,000 keys among 1,000,000, and a page of 1,000 folders. Without moto, which cannot hold that many keys."""
    places = {"first": 0, "middle": LISTED_KEYS // 2, "last": LISTED_KEYS - 1_001}
    per_folder = LISTED_KEYS // FOLDERS
    queries = {
        f"list_1m.{name}": {"start-after": f"folder-{at // per_folder:04}/object-{at:07}"} if at else {}
        for name, at in places.items()
    }
    queries["list_1m_folders"] = {"delimiter": "/"}
    with folder() as data:
        seed = [str(BUILD / "bench/bench_seed_store"), str(data), "listed", str(LISTED_KEYS), str(FOLDERS), "16", "8"]
        run_json(seed, timeout=600)
        with penstock_emulator("--data", str(data)) as ours:
            cells = {name: (lambda query=query: page(ours, query)) for name, query in queries.items()}
            measured = interleave(cells, rounds)
    made = []
    for name, values in measured.items():
        quantities = {
            "milliseconds": (f"emulator.{name}", "ms/page"),
            "cpu_ms": (f"emulator.{name}.cpu", "server CPU-ms/page"),
        }
        made += rows({"penstock": values}, "penstock", quantities)
    return made


def first_response(command: list[str], port: int | None) -> Measurement:
    """Milliseconds from the program's start to its first HTTP response."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if port is None:
            assert process.stdout is not None
            port = urllib.parse.urlsplit(json.loads(process.stdout.readline())["endpoint"]).port
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/")
                connection.getresponse().read()
                break
            except OSError:
                if time.perf_counter() > begin + 60:
                    raise SystemExit(f"bench: {command[0]} did not answer within 60 s") from None
                time.sleep(0.001)
        milliseconds = (time.perf_counter() - begin) * 1e3
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return {"milliseconds": milliseconds, "mib": int(resident.split()[1]) / 1024}
    finally:
        process.terminate()
        process.wait(30)


def start(rounds: int) -> list[Row]:
    """From the start of the process to its first response, in memory and on disk with 100,000 objects."""
    port = free_port()
    program = str(BUILD / "emulator/server/penstock-emulator")
    with folder() as data:
        run_json([str(BUILD / "bench/bench_seed_store"), str(data), "objects", "100000", "100", "16", "8"], timeout=600)
        cells = {
            "penstock": lambda: first_response([program, "--port", "0", "--memory"], None),
            "moto": lambda: first_response([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port),
        }
        made = rows(interleave(cells, rounds), "penstock", {"milliseconds": ("emulator.start", "ms")})
        made += rows(
            interleave({"penstock": lambda: first_response([program, "--port", "0", "--data", str(data)], None)}, rounds),
            "penstock",
            {"milliseconds": ("emulator.start.data", "ms")},
        )
    return made


SCENARIOS = [put_1kib_relaxed, put_1kib_strict, list_1m, start]
