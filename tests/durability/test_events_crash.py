"""`kill -9` while events are recorded: every acknowledged change has its event, and every event its change."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import re
import threading
from pathlib import Path
from typing import Any

from store_process import Requests, Server, admin, serving

RULES = b"""<NotificationConfiguration><QueueConfiguration><Queue>arn:aws:sqs:us-east-1:111122223333:q</Queue>
<Event>s3:ObjectCreated:*</Event></QueueConfiguration></NotificationConfiguration>"""


def write_until_killed(server: Server, thread: int, acknowledged: list[str]) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        requests = Requests(server.netloc)
        for number in range(10_000):
            requests.expect(200, "PUT", f"/watched/{thread}-{number:05}", b"x")
            acknowledged.append(f"{thread}-{number:05}")


def reported_objects(server: Server) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    after = 1  # the test event
    while events := json.loads(admin(server, "GET", f"events?after={after}")[1])["events"]:
        objects += [event["message"]["Records"][0]["s3"]["object"] for event in events]
        after = events[-1]["number"]
    return objects


def listed_keys(requests: Requests) -> list[str]:
    listed: list[str] = []
    while True:
        text = requests.expect(200, "GET", f"/watched?list-type=2&start-after={listed[-1] if listed else ''}")
        page = [key.decode() for key in re.findall(rb"<Key>([^<]*)", text)]
        listed += page
        if not page:
            return listed


def test_a_kill_loses_no_event_and_makes_none_up(tmp_path: Path, seed: int) -> None:
    random_ = random.Random(seed)
    data = tmp_path / "data"
    acknowledged: list[str] = []
    with serving(data, "--durability", "strict") as server:
        requests = Requests(server.netloc)
        requests.expect(200, "PUT", "/watched")
        requests.expect(200, "PUT", "/watched?notification=", RULES)
        threads = [threading.Thread(target=write_until_killed, args=(server, number, acknowledged)) for number in range(4)]
        for thread in threads:
            thread.start()
        while not acknowledged:
            requests.expect(200, "GET", "/watched?max-keys=1")
        for _ in range(random_.randrange(5, 60)):
            requests.expect(200, "GET", "/watched?max-keys=1")
        server.kill()
        for thread in threads:
            thread.join()
    with serving(data, "--durability", "strict") as server:
        objects = reported_objects(server)
        listed = listed_keys(Requests(server.netloc))
    reported = [each["key"] for each in objects]
    assert acknowledged
    assert set(acknowledged) <= set(reported)
    assert sorted(reported) == listed
    sequencers = [each["sequencer"] for each in objects]
    assert sequencers == sorted(set(sequencers))
