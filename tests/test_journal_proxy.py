"""The journal agrees with an independent count: that of a proxy, with its own HTTP parser, between clients and the emulator."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import boto3
import penstock
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from penstock.testing import Emulator, JournalEntry

LONG = bool(os.environ.get("PENSTOCK_LONG"))
REQUESTS = 100_000 if LONG else 5_000
WORKERS = 4
SEED = 6
BLOCK = b"0123456789abcdef" * 4096  # 64 KiB
TIMEOUT_S = 60
pytestmark = pytest.mark.timeout(1800 if LONG else 180)


@dataclass(frozen=True)
class Exchange:
    """One request and its response as the proxy forwarded them, with the sizes of the bodies."""

    method: str
    target: str
    status: int
    bytes_in: int
    bytes_out: int


def headers_of(head: bytes) -> tuple[list[str], dict[str, str]]:
    """Returns the words of the first line, and the headers by lower-case name."""
    first, *rest = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest if line)
    return first.split(" "), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def forward_body(source: asyncio.StreamReader, sink: asyncio.StreamWriter, headers: dict[str, str]) -> int:
    """Forwards a body with its framing. Returns its size."""
    forwarded = 0
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while True:
            line = await source.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            sink.write(line + await source.readexactly(size + 2))
            if size == 0:
                return forwarded
            forwarded += size
    left = int(headers.get("content-length", 0))
    while left > 0:
        data = await source.read(min(left, 1 << 16))
        if not data:
            raise ConnectionError("the body is truncated")
        sink.write(data)
        await sink.drain()
        left -= len(data)
        forwarded += len(data)
    return forwarded


class Proxy:
    """Forwards each connection over its own upstream connection. Records the requests by the address that the emulator sees."""

    def __init__(self, port: int) -> None:
        self.exchanges: dict[str, list[list[Exchange]]] = defaultdict(list)  # by the address that the emulator sees
        self._connections: set[asyncio.Task[None]] = set()
        self._upstream = port
        self.port = 0

    async def serve(self, started: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=1 << 20)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await stop.wait()
        server.close()
        for task in self._connections:  # idle connections that clients keep open
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._connection(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream, limit=1 << 20)
        host, port = up_writer.get_extra_info("sockname")
        exchanges: list[Exchange] = []
        self.exchanges[f"{host}:{port}"].append(exchanges)
        try:
            while await self._request(reader, writer, up_reader, up_writer, exchanges):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed the connection
        finally:
            writer.close()
            up_writer.close()

    async def _request(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        up_reader: asyncio.StreamReader,
        up_writer: asyncio.StreamWriter,
        exchanges: list[Exchange],
    ) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        (method, target, _), headers = headers_of(head)
        up_writer.write(head)
        response = b""
        if headers.get("expect", "").lower() == "100-continue":
            response = await up_reader.readuntil(b"\r\n\r\n")
            if response.startswith(b"HTTP/1.1 100"):
                writer.write(response)
                response = b""
        sent = 0 if response else await forward_body(reader, up_writer, headers)
        await up_writer.drain()
        response = response or await up_reader.readuntil(b"\r\n\r\n")
        (_, status, *_), response_headers = headers_of(response)
        writer.write(response)
        bodyless = method == "HEAD" or status in ("204", "304")
        received = 0 if bodyless else await forward_body(up_reader, writer, response_headers)
        exchanges.append(Exchange(method, target, int(status), sent, received))
        await writer.drain()
        return "close" not in (headers.get("connection", "").lower(), response_headers.get("connection", "").lower())


@contextlib.contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    started, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(proxy.serve(started, stop)))
    thread.start()
    try:
        assert started.wait(TIMEOUT_S)
        yield proxy
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(TIMEOUT_S)
        loop.close()


def send_mixed(port: int, worker: int, count: int) -> None:
    """Sends requests of many kinds, also invalid ones, over its own connections. Every run sends the same requests."""
    rng = random.Random(SEED * 1000 + worker)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    for number in range(count):
        key = f"/mixed/{worker}/{rng.randrange(40)}?n={number}"
        size = rng.randrange(len(BLOCK)) if rng.random() < 0.1 else rng.randrange(400)
        begin = rng.randrange(300)
        kinds = [
            ("PUT", key, BLOCK[:size], {}),
            ("GET", key, None, {}),
            ("GET", key, None, {"Range": f"bytes={begin}-{begin + rng.randrange(300)}"}),
            ("GET", key, None, {"If-None-Match": "*"}),
            ("HEAD", key, None, {"User-Agent": "worker"}),
            ("DELETE", key, None, {}),
            ("GET", f"/mixed?list-type=2&prefix={worker}%2F&max-keys=5", None, {}),
            ("GET", f"/missing-bucket/{number}", None, {}),
            ("PUT", f"/mixed/{worker}/bad", b"body", {"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}),
        ]
        method, target, body, headers = rng.choices(kinds, weights=[6, 8, 4, 1, 4, 1, 1, 1, 1])[0]
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        response.read()
        if rng.random() < 0.01:
            connection.close()  # the next request opens another
    connection.close()


def use_boto3(endpoint: str, count: int) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="penstock",
        aws_secret_access_key="penstock-secret",
        config=Config(s3={"addressing_style": "path"}, retries={"mode": "standard", "total_max_attempts": 5}),
    )
    for number in range(count):
        with contextlib.suppress(ClientError):  # all five attempts failed
            client.put_object(Bucket="mixed", Key=f"boto/{number % 10}", Body=BLOCK[: number * 10])
            client.get_object(Bucket="mixed", Key=f"boto/{number % 10}")["Body"].read()


def use_penstock(client: penstock.S3Client, count: int) -> None:
    for number in range(count):
        with client.put_object("mixed", f"ours/{number % 10}") as writer:
            writer.write(BLOCK[: number * 10])
        client.head_object("mixed", f"ours/{number % 10}")
        assert client.get_object("mixed", f"ours/{number % 10}").read() == BLOCK[: number * 10]


def exchange_of(entry: JournalEntry) -> Exchange:
    return Exchange(entry.method, entry.target, entry.status, entry.bytes_in, entry.bytes_out)


def expected_entry(entry: JournalEntry, forwarded: Exchange) -> Exchange:
    """Returns the expected entry. The emulator may reject a request before it has read the whole body."""
    unread = forwarded.status >= 400 and entry.bytes_in <= forwarded.bytes_in
    return replace(forwarded, bytes_in=entry.bytes_in) if unread else forwarded


def check_agreement(exchanges: dict[str, list[list[Exchange]]], entries: list[JournalEntry]) -> None:
    """Compares the entries of each connection, in order, with exact sizes."""
    by_connection: dict[int, list[JournalEntry]] = defaultdict(list)
    for entry in entries:
        by_connection[entry.connection].append(entry)
    by_peer: dict[str, list[list[JournalEntry]]] = defaultdict(list)
    for _, of_connection in sorted(by_connection.items()):
        by_peer[of_connection[0].peer].append(of_connection)
    used = {peer: list(filter(None, connections)) for peer, connections in exchanges.items()}
    assert by_peer.keys() == {peer for peer, connections in used.items() if connections}
    for peer, connections in used.items():
        for of_connection, forwarded in zip(by_peer.get(peer, []), connections, strict=True):
            check_connection(of_connection, forwarded)


def check_connection(entries: list[JournalEntry], forwarded: list[Exchange]) -> None:
    assert [exchange_of(entry) for entry in entries] == [
        expected_entry(entry, each) for entry, each in zip(entries, forwarded, strict=True)
    ]
    assert [entry.requests_before for entry in entries] == list(range(len(forwarded)))
    for entry in entries:
        assert entry.ending == "answered"
        assert entry.range is None or entry.range[1] - entry.range[0] == entry.bytes_out


def test_the_journal_agrees_with_the_counts_of_a_proxy() -> None:
    # Unsigned, because a signature covers the Host header, which has the proxy's port.
    with Emulator(auth="off", fail_rate=0.05, fail_seed=SEED, journal_size=128 << 20) as emulator:
        with proxied(int(emulator.endpoint.rpartition(":")[2])) as proxy:
            endpoint = f"http://127.0.0.1:{proxy.port}"
            penstock_client = penstock.S3Client("us-east-1", endpoint=endpoint, s3client_config=emulator.config())
            penstock_client.create_bucket("mixed")
            requests_per_client = REQUESTS // 100
            with ThreadPoolExecutor(WORKERS + 2) as pool:
                futures = [pool.submit(send_mixed, proxy.port, worker, REQUESTS // WORKERS) for worker in range(WORKERS)]
                futures += [
                    pool.submit(use_boto3, endpoint, requests_per_client),
                    pool.submit(use_penstock, penstock_client, requests_per_client),
                ]
                for future in futures:
                    future.result()
        journal = emulator.journal()
        entries = journal.entries()
        forwarded = [each for connections in proxy.exchanges.values() for connection in connections for each in connection]
        assert len(forwarded) >= REQUESTS
        check_agreement(proxy.exchanges, entries)

        # The journal's queries agree.
        statuses = Counter(each.status for each in forwarded)
        assert {200, 206, 204, 304, 400, 404, 503} <= statuses.keys()
        assert {status: journal.count(status=status) for status in statuses} == statuses
        assert sum(journal.requests_per_second()) == len(forwarded) == journal.count() == len(journal)
        assert 1 <= journal.max_concurrency() <= WORKERS + 2 + 8  # Penstock's client may have several requests in flight.
        assert journal.dropped == 0
        retried = [retry for retry in journal.retries() if 503 in retry.statuses]
        assert retried
        assert all(status == 503 for retry in retried for status in retry.statuses[:-1])


def test_the_memory_of_the_journal_is_bounded() -> None:
    limit = 1 << 20
    with Emulator(auth="off", journal_size=limit) as emulator:
        port = int(emulator.endpoint.rpartition(":")[2])
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda worker: send_mixed(port, worker, REQUESTS // WORKERS), range(WORKERS)))
        journal = emulator.journal()
        kept = journal.entries()
        assert journal.dropped + len(kept) == journal.last == REQUESTS // WORKERS * WORKERS
        assert journal.dropped > 0 or not LONG
        texts = sum(len(f"{each.method}{each.target}{each.key}{each.user_agent}{each.peer}{each.request_id}") for each in kept)
        assert texts < limit
        assert [entry.number for entry in kept] == list(range(journal.dropped + 1, journal.last + 1))
