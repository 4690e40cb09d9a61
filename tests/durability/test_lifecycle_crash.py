"""`kill -9` during a lifecycle run: the store is consistent, newer writes are kept, and the next run does the rest."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import re
import threading
from pathlib import Path

from store_process import Requests, Server, admin, fsck, serving

KEYS = 2500
RULES = b"""<LifecycleConfiguration>
<Rule><ID>old</ID><Filter><Prefix>old/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule>
<Rule><ID>versions</ID><Filter/><Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>
</NoncurrentVersionExpiration></Rule></LifecycleConfiguration>"""


def fill(requests: Requests) -> None:
    requests.expect(200, "PUT", "/life")
    requests.expect(200, "PUT", "/life?lifecycle=", RULES)
    for number in range(KEYS):
        requests.expect(200, "PUT", f"/life/old/{number:05}", b"%d" % number)


def listed(requests: Requests) -> list[str]:
    """All keys, page by page."""
    keys: list[str] = []
    while True:
        text = requests.expect(200, "GET", f"/life?list-type=2&start-after={keys[-1] if keys else ''}")
        page = [found.decode() for found in re.findall(rb"<Key>([^<]*)", text)]
        keys += page
        if b"<IsTruncated>true" not in text:
            return keys


def run_until_killed(server: Server, random_: random.Random) -> None:
    """Starts a run and kills the server after a random number of requests."""

    def run() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):  # it was killed
            admin(server, "POST", "lifecycle/run")

    requests = Requests(server.netloc)
    thread = threading.Thread(target=run)
    assert admin(server, "POST", "clock", {"advance_seconds": 3 * 86_400})[0] == 200
    thread.start()
    for _ in range(random_.randrange(12)):
        requests.expect(200, "GET", "/life?max-keys=1")
    server.kill()
    thread.join()


def test_a_killed_lifecycle_run_is_finished_by_the_next(tmp_path: Path, seed: int) -> None:
    random_ = random.Random(seed)
    data = tmp_path / "data"
    with serving(data) as server:
        fill(Requests(server.netloc))
        run_until_killed(server, random_)
    code, report, error = fsck(data)
    assert code == 0, (report, error)
    with serving(data) as server:
        requests = Requests(server.netloc)
        left = listed(requests)
        assert left == [f"old/{number:05}" for number in range(KEYS - len(left), KEYS)], "the first ones expire first"
        for key in left[:20]:
            assert requests.expect(200, "GET", f"/life/{key}") == b"%d" % int(key.removeprefix("old/"))
        assert admin(server, "POST", "clock", {"advance_seconds": 3 * 86_400})[0] == 200
        requests.expect(200, "PUT", "/life/old/new", b"written after the clock was moved")
        status, account = admin(server, "POST", "lifecycle/run")
        assert (status, json.loads(account)["actions"]) == (200, len(left))
        assert listed(requests) == ["old/new"]
        assert server.stop() is not None
    assert fsck(data)[0] == 0
