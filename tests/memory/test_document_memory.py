"""Large request documents, and many small objects: the emulator's memory stays within its limit, and each request has a clean
response.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = Path(os.environ["PENSTOCK_BUILD_DIR"], "emulator/server/penstock-emulator")
MIB = 1 << 20
LIMIT = 64 * MIB
CLIENTS = 48
DOCUMENT_BYTES = MIB // 2
BESIDE_DOCUMENTS = 64 * MIB  # buffers of threads, and memory that the allocator keeps
WAIT_S = 60

TAGS = b"<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>"


@pytest.fixture
def emulator() -> Iterator[tuple[int, tuple[str, int]]]:
    """Its process id and the address it listens on."""
    command = [str(PROGRAM), "--port", "0", "--admin-port", "-1", "--auth", "off", "--memory", "--memory-limit", str(LIMIT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        where = urllib.parse.urlsplit(json.loads(process.stdout.readline())["endpoint"])
        try:
            yield process.pid, (str(where.hostname), int(where.port or 0))
        finally:
            process.terminate()


def request(method: str, target: str, body: bytes) -> bytes:
    md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
    lines = [
        f"{method} {target} HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        f"Content-MD5: {md5}",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def response(wire: socket.socket) -> str:
    """Status and S3 code, such as "503 SlowDown"."""
    text = b""
    while piece := wire.recv(1 << 16):
        text += piece
    code = re.search(rb"<Code>(\w+)</Code>", text)
    return text[9:12].decode() + (f" {code[1].decode()}" if code else "")


def send(where: tuple[str, int], method: str, target: str, body: bytes = b"") -> str:
    with socket.create_connection(where, timeout=WAIT_S) as wire:
        wire.sendall(request(method, target, body))
        return response(wire)


def resident(pid: int, which: str) -> int:
    """Bytes: "VmRSS", or at most so far "VmHWM"."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"{which}:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def test_documents_of_many_clients_take_no_more_memory_than_the_limit(emulator: tuple[int, tuple[str, int]]) -> None:
    pid, where = emulator
    assert send(where, "PUT", "/bucket") == "200"
    assert send(where, "PUT", "/bucket/key", b"x") == "200"
    # Of all documents those whose parsed form takes the most memory, 28 bytes for each byte of text.
    open_, close = b"<Tagging>", b"</Tagging>"
    document = open_ + b"a<b/>" * ((DOCUMENT_BYTES - len(open_ + close)) // 5) + close
    whole = request("PUT", "/bucket?tagging", document)
    before = resident(pid, "VmRSS")
    wires = []
    for _ in range(CLIENTS):
        wires.append(socket.create_connection(where, timeout=WAIT_S))
        wires[-1].sendall(whole[:-1])
    for wire in wires:  # all documents end at the same time
        wire.sendall(whole[-1:])
    responses = Counter(response(wire) for wire in wires)
    for wire in wires:
        wire.close()
    grown = resident(pid, "VmHWM") - before
    print(f"{responses}, {grown / MIB:.0f} MiB more than before")
    assert set(responses) == {"400 MalformedXML", "503 SlowDown"}, responses
    assert grown < LIMIT + DOCUMENT_BYTES * 40 + BESIDE_DOCUMENTS
    assert send(where, "PUT", "/bucket?tagging", document) == "400 MalformedXML", "memory is free again"
    assert send(where, "PUT", "/bucket?tagging", TAGS) == "204"
    assert send(where, "PUT", "/bucket/other", bytes(LIMIT // 2)) == "200", "and objects may use it"


def test_a_document_of_which_only_the_head_was_sent_takes_no_memory(emulator: tuple[int, tuple[str, int]]) -> None:
    _, where = emulator
    assert send(where, "PUT", "/bucket") == "200"
    # 40 bytes of memory for each of them leave less than the 2 MiB of the object.
    head = "POST /bucket?delete HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1650000\r\nContent-MD5: 1B2M2Y8AsgTpgAmY7PhCfg=="
    with socket.create_connection(where, timeout=WAIT_S) as wire:
        wire.sendall(f"{head}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert wire.recv(1 << 10).startswith(b"HTTP/1.1 100 "), "the emulator waits for the body"
        assert send(where, "PUT", "/bucket/key", bytes(2 * MIB)) == "200"


def test_a_full_store_is_emptied_by_delete_objects(emulator: tuple[int, tuple[str, int]]) -> None:
    _, where = emulator
    assert send(where, "PUT", "/bucket") == "200"
    keys = []
    while (put := send(where, "PUT", f"/bucket/{len(keys):04}", bytes(MIB))) == "200":
        keys.append(f"{len(keys):04}")
    assert put == "507 InsufficientStorage"
    while send(where, "PUT", f"/bucket/s{len(keys)}", bytes(16 << 10)) == "200":
        keys.append(f"s{len(keys)}")
    objects = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
    assert send(where, "POST", "/bucket?delete", f"<Delete><Quiet>true</Quiet>{objects}</Delete>".encode()) == "200"
    assert send(where, "PUT", "/bucket/new", bytes(LIMIT // 2)) == "200"


SMALL_LIMIT = 8 * MIB
BESIDE_OBJECTS = 4 * MIB  # stacks and buffers of the first requests


def test_many_small_objects_take_no_more_memory_than_the_limit() -> None:
    command = [str(PROGRAM), "--port", "0", "--admin-port", "-1", "--auth", "off", "--memory", "--memory-limit", str(SMALL_LIMIT)]
    with subprocess.Popen([*command, "--journal-size", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            wire = http.client.HTTPConnection(urllib.parse.urlsplit(json.loads(process.stdout.readline())["endpoint"]).netloc)

            def put(target: str) -> int:
                wire.request("PUT", target, b"x")
                http_response = wire.getresponse()
                http_response.read()
                return http_response.status

            wire.request("PUT", "/bucket")
            wire.getresponse().read()
            for i in range(500):  # before the measurement, so that it has the objects only
                assert put(f"/bucket/first{i}") == 200
            before = resident(process.pid, "VmRSS")
            stored = 0
            while (status := put(f"/bucket/{stored:06}")) == 200:
                stored += 1
            assert status == 507
            grown = resident(process.pid, "VmHWM") - before
            assert stored > 5_000
            assert grown < 1.2 * SMALL_LIMIT + BESIDE_OBJECTS, f"{grown / MIB:.1f} MiB for {stored} objects"
        finally:
            process.terminate()
