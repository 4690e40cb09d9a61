"""`kill -9` before a webhook has acknowledged: the next start sends every event that was not acknowledged."""

from __future__ import annotations

import itertools
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from store_process import Requests, Server, serving

RULES = b"""<NotificationConfiguration><QueueConfiguration><Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue>
<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>"""
OBJECTS = 12
KILL_AT = 4


def receiver(received: queue.Queue[str], victims: queue.Queue[Server]) -> ThreadingHTTPServer:
    """Kills the emulator instead of a response to the request number KILL_AT."""

    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.put(message["Records"][0]["s3"]["object"]["key"] if "Records" in message else "")
            if next(numbers) == KILL_AT:
                victims.get(timeout=60).kill()
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def test_a_kill_before_the_acknowledgement_repeats_the_event(tmp_path: Path) -> None:
    received: queue.Queue[str] = queue.Queue()
    victims: queue.Queue[Server] = queue.Queue()
    server = receiver(received, victims)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    sink = f"arn:aws:sqs:*=http://127.0.0.1:{server.server_address[1]}/"
    try:
        with serving(tmp_path / "data") as emulator:
            requests = Requests(emulator.netloc)
            requests.expect(200, "PUT", "/watched")
            requests.expect(200, "PUT", "/watched?notification=", RULES)
            for number in range(OBJECTS):
                requests.expect(200, "PUT", f"/watched/{number:02}", b"x")
        with serving(tmp_path / "data", "--event-sink", sink) as emulator:
            victims.put(emulator)
            before = [received.get(timeout=60) for _ in range(KILL_AT)]
            emulator.process.wait(timeout=60)
        assert received.empty()
        with serving(tmp_path / "data", "--event-sink", sink):
            # The test event and the objects, of which the last acknowledged ones may come again.
            after = [received.get(timeout=60)]
            while after[-1] != f"{OBJECTS - 1:02}":
                after.append(received.get(timeout=60))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    expected = ["", *(f"{number:02}" for number in range(OBJECTS))]
    assert before == expected[:KILL_AT]
    assert after[0] in before  # it was not acknowledged
    assert after == expected[expected.index(after[0]) :]
