"""A program whose main thread holds the GIL during its transfers, and the server that observes them.

The parent process is the server. Once the GIL is held, it responds to reads of unknown size, then sends a large object to a
transfer that needs no new Python memory. The bytes that the client receives, beyond the socket buffers, were received while the
GIL was held.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field

BULK_BYTES = 64 << 20
READS = 8  # more than the number of I/O threads
TIMEOUT_S = 30

CLIENT = """
import ctypes, os, sys, threading
from penstock import _core, _events

port, held, release, size, reads, bulk_bytes = map(int, sys.argv[1:7])
by_get = sys.argv[7] != "read"
number = _events.register(lambda event: None, lambda question: None) if sys.argv[7] == "observed" else 0
client = _core.Client(
    region="us-east-1", endpoint=f"http://127.0.0.1:{port}", force_path_style=True, unsigned=True, observer_number=number
)
results = {}

def read(index):
    key = f"read-{index}"
    data = client.call("get", {"bucket": "bkt", "key": key}).body if by_get else client.read("bkt", key)[0]
    results[index] = len(data)

def bulk():
    buffer = bytearray(bulk_bytes)
    results["bulk"], _, _ = client.read_into("bkt", "bulk", buffer, size=bulk_bytes, etag="e", part_size=1 << 30, parallel=1)

threads = [threading.Thread(target=read, args=(index,)) for index in range(reads)] + [threading.Thread(target=bulk)]
for thread in threads:
    thread.start()
os.read(int(release), 1)  # all requests have arrived
libc = ctypes.PyDLL(None)  # holds the GIL during a call
libc.write(held, b"h", 1)
libc.read(release, ctypes.create_string_buffer(1), 1)
for thread in threads:
    thread.join()
assert results == {**{index: size for index in range(reads)}, "bulk": bulk_bytes}, results
"""


@dataclass
class Server:
    """Accepts one connection per request, and sends each response on demand."""

    size: int
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0), backlog=64))
    connections: dict[str, socket.socket] = field(default_factory=dict)

    def accept_all(self) -> None:
        """Returns when all requests have arrived."""
        self.listener.settimeout(TIMEOUT_S)
        while len(self.connections) < READS + 1:
            connection, _ = self.listener.accept()
            connection.settimeout(TIMEOUT_S)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            key = re.match(rb"GET /bkt/(\S+)", head)
            assert key is not None, head
            self.connections[key[1].decode()] = connection

    def respond(self, key: str, size: int) -> None:
        head = f'HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nETag: "e"\r\nLast-Modified: Wed, 01 Jan 2025 00:00:00 GMT\r\n\r\n'
        self.connections[key].sendall(head.encode() + bytes(size))


def bulk_moves_while_the_gil_is_held(size: int, call: str) -> bool:
    """Whether the client receives the large object while reads of objects of `size` bytes wait for Python memory.

    Args:
        size: Size of the small objects.
        call: ``"read"``, or ``"get"`` for the operation of that name; ``"observed"``: the same with an observer.
    """
    server = Server(size)
    held_read, held_write = socket.socketpair()
    release_read, release_write = socket.socketpair()
    arguments = [server.listener.getsockname()[1], held_write.fileno(), release_read.fileno(), size, READS, BULK_BYTES, call]
    program = subprocess.Popen(
        [sys.executable, "-c", CLIENT, *map(str, arguments)], pass_fds=[held_write.fileno(), release_read.fileno()]
    )
    responders: list[threading.Thread] = []
    try:
        server.accept_all()
        release_write.send(b"a")
        held_read.settimeout(TIMEOUT_S)
        assert held_read.recv(1) == b"h"
        for index in range(READS):
            # On threads, because a response blocks until the client receives it.
            responders.append(threading.Thread(target=server.respond, args=(f"read-{index}", size)))
            responders[-1].start()
        try:
            server.respond("bulk", BULK_BYTES)
            moved = True
        except TimeoutError:
            moved = False
        release_write.send(b"r")
        if moved:
            assert program.wait(TIMEOUT_S) == 0
        return moved
    finally:
        program.kill()
        program.wait()
        for connection in server.connections.values():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in responders:
            thread.join()
        for each in (server.listener, held_read, held_write, release_read, release_write, *server.connections.values()):
            each.close()
