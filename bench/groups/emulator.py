"""Group `emulator`: request rate and throughput of GetObject, with signatures verified (default) and with `--auth=off`."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence

from harness import Measurement, Row, interleave, process_cpu_seconds, rows
from servers import Server, moto, penstock_emulator

SECONDS = 4
UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def wrk(
    server: Server,
    url: str,
    connections: int,
    threads: int,
    script: Sequence[str] = (),
    arguments: Sequence[str] = (),
    *,
    seconds: int = SECONDS,
) -> Measurement:
    """Runs wrk. Returns requests/s, GB/s and server CPU time.

    Args:
        script: Options before the URL.
        arguments: Arguments after the URL.
    """
    before = process_cpu_seconds(server.pid)
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", *script, url, *arguments]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds + 60).stdout
    cpu = process_cpu_seconds(server.pid) - before
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    if refused:
        raise SystemExit(f"bench: {server.endpoint} refused {refused.group(1)} requests of {url.partition('?')[0]}")
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))  # type: ignore[union-attr]
    amount, unit = re.search(r"Transfer/sec:\s+([\d.]+)([KMG]?B)", out).groups()  # type: ignore[union-attr]
    bytes_per_s = float(amount) * UNITS[unit]
    return {
        "requests": rate,
        "gb_per_s": bytes_per_s / 1e9,
        "cpu_per_gb": cpu / (bytes_per_s * seconds / 1e9),
        "cpu_us": cpu / (rate * seconds) * 1e6,
    }


@contextlib.contextmanager
def on_disk(*options: str) -> Iterator[Server]:
    """Runs an emulator on a temporary directory."""
    data = tempfile.mkdtemp(prefix="penstock-bench-")
    try:
        with penstock_emulator("--data", f"{data}/s3", *options) as server:
            yield server
    finally:
        shutil.rmtree(data, ignore_errors=True)


def prepare(server: Server, size: int) -> str:
    """Puts an object of `size` bytes. Returns its presigned URL."""
    client = server.boto3()
    client.create_bucket(Bucket=f"bench-{size}")
    client.put_object(Bucket=f"bench-{size}", Key="object", Body=b"x" * size)
    return server.presigned(f"bench-{size}", "object")


def get_object(
    ours: contextlib.AbstractContextManager[Server],
    size: int,
    load: tuple[int, int],
    rounds: int,
    quantities: dict[str, tuple[str, str]],
) -> list[Row]:
    """`load`: wrk's connections and threads."""
    with ours as our_server, moto() as theirs:
        urls = {"penstock": (our_server, prepare(our_server, size)), "moto": (theirs, prepare(theirs, size))}
        cells = {label: (lambda server=server, url=url: wrk(server, url, *load)) for label, (server, url) in urls.items()}
        return rows(interleave(cells, rounds), "penstock", quantities)


def get_1kib(rounds: int) -> list[Row]:
    """1 KiB objects over 64 keep-alive connections, with presigned URLs that the server verifies."""
    quantities = {
        "requests": ("emulator.get_1kib", "requests/s"),
        "cpu_us": ("emulator.get_1kib.cpu", "server CPU-us/request"),
    }
    return get_object(penstock_emulator("--memory"), 1 << 10, (64, 1), rounds, quantities)


def get_1kib_open(rounds: int) -> list[Row]:
    """The same without signatures, compared with an emulator that verifies them."""
    with penstock_emulator("--memory", "--auth=off") as opened, penstock_emulator("--memory") as strict:
        plain = prepare(opened, 1 << 10).partition("?")[0]
        signed = prepare(strict, 1 << 10)
        cells = {"penstock": lambda: wrk(opened, plain, 64, 1), "verified": lambda: wrk(strict, signed, 64, 1)}
        quantities = {
            "requests": ("emulator.get_1kib_open", "requests/s"),
            "cpu_us": ("emulator.get_1kib_open.cpu", "server CPU-us/request"),
        }
        return rows(interleave(cells, rounds), "penstock", quantities)


def with_policy(server: Server, size: int) -> str:
    """As `prepare`, in a bucket with ACLs and a policy of 20 statements. The last one allows the request."""
    url = prepare(server, size)
    client, bucket = server.boto3(), f"bench-{size}"
    rules = {"Rules": [{"ObjectOwnership": "ObjectWriter"}]}
    client.put_bucket_ownership_controls(Bucket=bucket, OwnershipControls=rules)
    client.delete_public_access_block(Bucket=bucket)
    client.put_object_acl(Bucket=bucket, Key="object", ACL="public-read")
    statements = [
        {
            "Effect": "Deny" if number % 2 else "Allow",
            "Principal": "*",
            "Action": ["s3:GetObject", "s3:PutObject"],
            "Resource": f"arn:aws:s3:::{bucket}/{'*' if number == 19 else f'folder-{number}/*'}",
            "Condition": {"StringEquals": {"s3:authType": f"REST-{number}"}, "IpAddress": {"aws:SourceIp": "127.0.0.0/8"}},
        }
        for number in range(20)
    ]
    client.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Version": "2012-10-17", "Statement": statements}))
    return url


def get_1kib_policy(rounds: int) -> list[Row]:
    """1 KiB objects that are verified, authorized by a policy of 20 statements and ACLs, compared with a bucket without them."""
    with penstock_emulator("--memory") as decided, penstock_emulator("--memory") as plain:
        urls = with_policy(decided, 1 << 10), prepare(plain, 1 << 10)
        cells = {"penstock": lambda: wrk(decided, urls[0], 64, 1), "no policy": lambda: wrk(plain, urls[1], 64, 1)}
        quantities = {
            "requests": ("emulator.get_1kib_policy", "requests/s"),
            "cpu_us": ("emulator.get_1kib_policy.cpu", "server CPU-us/request"),
        }
        return rows(interleave(cells, rounds), "penstock", quantities)


def get_8mib(rounds: int) -> list[Row]:
    """8 MiB objects from files over 4 keep-alive connections, presigned. Two wrk threads, because one would be the bottleneck."""
    quantities = {
        "gb_per_s": ("emulator.get_8mib", "GB/s"),
        "cpu_per_gb": ("emulator.get_8mib.cpu", "server CPU-s/GB"),
    }
    return get_object(on_disk(), 8 << 20, (4, 2), rounds, quantities)


SCENARIOS = [get_1kib, get_1kib_open, get_1kib_policy, get_8mib]
