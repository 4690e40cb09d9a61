"""Group `emulator`, its resources: CPU of large uploads, memory when idle and with 8 GiB, thousands of connections."""

from __future__ import annotations

import contextlib
import hashlib
import re
import resource
import socket
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

from groups.emulator import SECONDS, on_disk, prepare
from harness import BUILD, Measurement, Row, interleave, process_cpu_seconds, rows, run_json
from servers import Server, moto, penstock_emulator

MIB = 1 << 20
PUT_BYTES, PUTS = 8 * MIB, 40
BIG_BYTES, BIG_PART_BYTES = 8 << 30, 64 * MIB
IDLE_CONNECTIONS, BUSY_CONNECTIONS = 2_000, 64
KMS = {"ServerSideEncryption": "aws:kms"}


class Wire:
    """One keep-alive connection with little CPU time of its own: it sends bodies without copying them."""

    def __init__(self, server: Server) -> None:
        url = urllib.parse.urlsplit(server.endpoint)
        self.address = (url.hostname or "", url.port or 0)
        self.socket = socket.create_connection(self.address, timeout=60)

    def ask(self, method: str, url: str, body: bytes = b"", headers: str = "") -> dict[str, str]:
        parts = urllib.parse.urlsplit(url)
        head = f"{method} {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(f"{head}{headers}\r\n".encode())
        if body:
            self.socket.sendall(body)
        text, self.rest = b"", b""
        while b"\r\n\r\n" not in text:
            piece = self.socket.recv(65536)
            if not piece:
                raise SystemExit(f"bench: {parts.netloc} closed the connection after {text!r}")
            text += piece
        response, self.rest = text.split(b"\r\n\r\n", 1)
        lines = response.decode("latin-1").split("\r\n")
        if not lines[0].startswith("HTTP/1.1 200"):
            raise SystemExit(f"bench: {method} {parts.path} was answered {lines[0]} {self.rest[:300]!r}")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        if fields.get("connection") == "close":  # moto closes every connection
            self.socket.close()
            self.socket = socket.create_connection(self.address, timeout=60)
        return fields

    def skip_body(self, length: int, block: memoryview) -> None:
        left = length - len(self.rest)
        while left > 0:
            left -= self.socket.recv_into(block[: min(left, len(block))])


def upload(server: Server, url: str, body: bytes, headers: str) -> Measurement:
    """Sends `PUTS` puts one after the other over one connection."""
    wire = Wire(server)
    wire.ask("PUT", url, body, headers)
    before, begin = process_cpu_seconds(server.pid), time.perf_counter()
    for _ in range(PUTS):
        response = wire.ask("PUT", url, body, headers)
        wire.skip_body(int(response.get("content-length", 0)), memoryview(bytearray(65536)))
    gigabytes = PUTS * len(body) / 1e9
    seconds = time.perf_counter() - begin
    return {"gb_per_s": gigabytes / seconds, "cpu_per_gb": (process_cpu_seconds(server.pid) - before) / gigabytes}


def bare_md5(body: bytes) -> Measurement:
    begin, before = time.perf_counter(), time.process_time()
    for _ in range(PUTS):
        hashlib.md5(body, usedforsecurity=False)
    gigabytes = PUTS * len(body) / 1e9
    return {"gb_per_s": gigabytes / (time.perf_counter() - begin), "cpu_per_gb": (time.process_time() - before) / gigabytes}


def put_url(server: Server, parameters: dict[str, str]) -> str:
    client = server.boto3()
    with contextlib.suppress(client.exceptions.BucketAlreadyOwnedByYou):
        client.create_bucket(Bucket="puts")
    wanted = {"Bucket": "puts", "Key": "object", **parameters}
    url: str = client.generate_presigned_url("put_object", Params=wanted, ExpiresIn=7200)
    return url


def put_8mib(rounds: int) -> list[Row]:
    """8 MiB puts over one connection to an emulator on disk, compared with MD5 on one core; and with SSE-KMS, without MD5."""
    body = bytes(range(256)) * (PUT_BYTES // 256)
    kms_header = "x-amz-server-side-encryption: aws:kms\r\n"
    with on_disk() as ours, moto() as theirs:
        urls = {name: put_url(server, {}) for name, server in (("ours", ours), ("moto", theirs))}
        kms = {name: put_url(server, KMS) for name, server in (("ours", ours), ("moto", theirs))}
        measured = interleave(
            {
                "penstock": lambda: upload(ours, urls["ours"], body, ""),
                "moto": lambda: upload(theirs, urls["moto"], body, ""),
                "bare MD5": lambda: bare_md5(body),
                "penstock, SSE-KMS": lambda: upload(ours, kms["ours"], body, kms_header),
                "moto, SSE-KMS": lambda: upload(theirs, kms["moto"], body, kms_header),
            },
            rounds,
        )
    plain = {name: measured[name] for name in ("penstock", "moto", "bare MD5")}
    made = rows(
        plain,
        "penstock",
        {"gb_per_s": ("emulator.put_8mib", "GB/s"), "cpu_per_gb": ("emulator.put_8mib.cpu", "server CPU-s/GB")},
    )
    encrypted = {"penstock": measured["penstock, SSE-KMS"], "moto": measured["moto, SSE-KMS"]}
    return made + rows(
        encrypted,
        "penstock",
        {"gb_per_s": ("emulator.put_8mib.kms", "GB/s"), "cpu_per_gb": ("emulator.put_8mib.kms.cpu", "server CPU-s/GB")},
    )


def memory_mib(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(field + ":")).split()[1]) / 1024


def idle(rounds: int) -> list[Row]:
    """Resident memory of a new emulator after one request, on disk and in memory."""

    def fresh(*options: str) -> Measurement:
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as data:
            chosen = options or ("--data", f"{data}/s3")
            with penstock_emulator(*chosen) as server:
                server.boto3().list_buckets()
                return {"mib": memory_mib(server.pid, "VmRSS")}

    made = rows(interleave({"penstock": fresh}, rounds), "penstock", {"mib": ("emulator.idle", "MiB")})
    in_memory = interleave({"penstock": lambda: fresh("--memory")}, rounds)
    return made + rows(in_memory, "penstock", {"mib": ("emulator.idle.memory", "MiB")})


def start_inprocess(rounds: int) -> list[Row]:
    """From Emulator::Start to the first response, in a running process; the median of 50 in each round."""
    program = str(BUILD / "bench/bench_start_inprocess")
    measured = interleave({"penstock": lambda: run_json([program, "50"])}, rounds)
    quantities = {
        "milliseconds": ("emulator.start_inprocess", "ms"),
        "first_milliseconds": ("emulator.start_inprocess.first", "ms"),
        "stop_milliseconds": ("emulator.start_inprocess.stop", "ms"),
    }
    return rows(measured, "penstock", quantities)


def big(rounds: int) -> list[Row]:
    """The emulator's memory above idle while 8 GiB are uploaded in 64 MiB parts and downloaded in one read. Always 1 round."""
    part = bytes(range(256)) * (BIG_PART_BYTES // 256)
    with on_disk() as server:
        client = server.boto3()
        client.create_bucket(Bucket="big")
        at_rest = memory_mib(server.pid, "VmRSS")
        wire = Wire(server)
        target = {"Bucket": "big", "Key": "object"}
        upload_id = client.create_multipart_upload(**target)["UploadId"]
        parts = []
        begin = time.perf_counter()
        for number in range(1, BIG_BYTES // BIG_PART_BYTES + 1):
            wanted = {**target, "UploadId": upload_id, "PartNumber": number}
            response = wire.ask("PUT", client.generate_presigned_url("upload_part", Params=wanted), part)
            parts.append({"PartNumber": number, "ETag": response["etag"]})
        client.complete_multipart_upload(**target, UploadId=upload_id, MultipartUpload={"Parts": parts})
        up = time.perf_counter() - begin
        begin = time.perf_counter()
        response = wire.ask("GET", client.generate_presigned_url("get_object", Params=target))
        if int(response["content-length"]) != BIG_BYTES:
            raise SystemExit(f"bench: the large object has {response['content-length']} bytes")
        wire.skip_body(BIG_BYTES, memoryview(bytearray(MIB)))
        down = time.perf_counter() - begin
        beyond = memory_mib(server.pid, "VmHWM") - at_rest
    measured = {"penstock": [{"mib": beyond, "up": BIG_BYTES / up / 1e9, "down": BIG_BYTES / down / 1e9}]}
    quantities = {
        "mib": ("emulator.big", "MiB beyond idle"),
        "up": ("emulator.big.up", "GB/s"),
        "down": ("emulator.big.down", "GB/s"),
    }
    return rows(measured, "penstock", quantities)


def p99_milliseconds(url: str) -> Measurement:
    command = ["wrk", "-t1", f"-c{BUSY_CONNECTIONS}", f"-d{SECONDS}s", "--latency", "--timeout", "20s", url]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS + 60).stdout
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", out).groups()  # type: ignore[union-attr]
    return {"p99": float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]}


def connections(rounds: int) -> list[Row]:
    """The 99th percentile of the latency of 64 busy keep-alive connections, with and without 2,000 idle ones."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with penstock_emulator("--memory") as ours:
        url = prepare(ours, 1 << 10)

        def beside_idle_ones() -> Measurement:
            idle_ones = [Wire(ours) for _ in range(IDLE_CONNECTIONS)]
            for wire in idle_ones:
                wire.ask("GET", url)  # so that each is a used keep-alive connection
            try:
                return p99_milliseconds(url)
            finally:
                for wire in idle_ones:
                    wire.socket.close()

        cells = {"penstock": beside_idle_ones, "without the idle ones": lambda: p99_milliseconds(url)}
        return rows(interleave(cells, rounds), "penstock", {"p99": ("emulator.connections", "ms at p99")})


SCENARIOS = [put_8mib, idle, start_inprocess, big, connections]
