"""Every view with the traffic of a training job. The pictures of the documentation are made here.

They are written to build/console/screenshots, or to the folder of PENSTOCK_SCREENSHOTS (`./dev console --screenshots`). Then the
job runs longer, so that charts show more.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from console_page import REPOSITORY, Console, client_of
from console_space import admin, check_page, client, error_code
from PIL import Image
from playwright.sync_api import Page, expect

CHOSEN = os.environ.get("PENSTOCK_SCREENSHOTS")
FOLDER = Path(CHOSEN) if CHOSEN else REPOSITORY / "build/console/screenshots"
SECONDS = 50 if CHOSEN else 4
WIDTH, HEIGHT = 1280, 800
LIMIT_BYTES, ALL_BYTES = 150_000, 1_000_000
COLOURS = 256
ROWS = ".grid-body > .grid-row"
DOCUMENT = REPOSITORY / "docs/how-to/console.md"

ACCOUNT, USER_KEY = "111122223333", "AKIAALICE0000000000"
LOGS, RESEARCH = "logs", "research"
# The bucket's limit is far below what a job writes to one prefix.
LIMITS = {
    "preset": "aws-standard",
    "buckets": {LOGS: {"writes_per_second": 40, "split_after_s": 5, "boundaries": ["run-1/rank-2"]}},
}


def with_few_colours(picture: Image.Image) -> Image.Image:
    """The picture with its most frequent colours and as many between them, so that its file is small and small marks show."""
    counted = sorted(picture.getcolors(WIDTH * HEIGHT), reverse=True)
    colours = [colour for _, colour in counted[: COLOURS // 2]]
    rest = Image.new("RGB", (max(1, len(counted)), 1))
    rest.putdata([colour for _, colour in counted])  # each once: rare colours count as much as others
    between = rest.quantize(COLOURS // 2, Image.Quantize.MEDIANCUT).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(channel for colour in colours for channel in colour), *between])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def save(page: Page, name: str) -> None:
    """Writes a picture of the window."""
    expect(page.locator(".toasts .alert")).to_have_count(0)
    page.mouse.move(0, 0)
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    assert shot.size == (WIDTH, HEIGHT)
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{name}.png"
    with_few_colours(shot.convert("RGB")).save(file, optimize=True)
    assert file.stat().st_size <= LIMIT_BYTES


@contextmanager
def training(emulator: Any, scratch: Path) -> Iterator[None]:
    """The job, until most of its time is over. At the end of the context it has succeeded, or the test fails."""
    settings = {
        "AWS_ENDPOINT_URL": emulator.endpoint,
        "AWS_ACCESS_KEY_ID": emulator.access_key,
        "AWS_SECRET_ACCESS_KEY": emulator.secret_key,
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, str(Path(__file__).with_name("training_job.py")), str(SECONDS), str(scratch)]
    process = subprocess.Popen(command, env=os.environ | settings, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:  # one for each checkpoint, with the seconds since the start of the training
            if float(line) >= 0.7 * SECONDS:
                break
        yield
        assert process.wait(120 + SECONDS) == 0
    finally:
        process.kill()
        process.wait()


@contextmanager
def logging(emulator: Any) -> Iterator[None]:
    """Writes log lines of four ranks as fast as it can; most go to the prefix of rank 0."""
    ended = threading.Event()

    def write() -> None:
        s3 = client(emulator, emulator.access_key, emulator.secret_key)
        number = 0
        while not ended.is_set():
            rank = number % 4 if number % 3 == 0 else 0
            error_code(s3.put_object, Bucket=LOGS, Key=f"run-1/rank-{rank}/{number:06}.json", Body=b'{"loss": 0.25}')
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def prepare(emulator: Any) -> None:
    """Buckets with a lifecycle and with events, limits, and a user who may not read everything."""
    s3 = client_of(emulator)
    s3.create_bucket(Bucket=LOGS)
    admin(emulator, "PUT", "limits", LIMITS)
    statements = [
        {"Sid": "NotThePlans", "Effect": "Deny", "Action": "s3:*", "Resource": f"arn:aws:s3:::{RESEARCH}/plans/*"},
        {"Sid": "Everything", "Effect": "Allow", "Action": "s3:*", "Resource": "*"},
    ]
    policy = {"name": "reader", "document": {"Version": "2012-10-17", "Statement": statements}}
    key = {"access_key_id": USER_KEY, "secret_access_key": "secret-of-alice"}
    root = {"access_key_id": "AKIARESEARCH0000000", "secret_access_key": "secret-of-root"}
    user = {"name": "alice", "inline_policies": [policy], "access_keys": [key]}
    account = {"account_id": ACCOUNT, "display_name": "research", "access_keys": [root], "users": [user]}
    admin(emulator, "POST", "users", {"accounts": [account]})
    client(emulator, root["access_key_id"], root["secret_access_key"]).create_bucket(Bucket=RESEARCH)


def expire_checkpoints(emulator: Any) -> None:
    s3 = client_of(emulator)
    queue = {
        "QueueArn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:checkpoints",
        "Events": ["s3:ObjectCreated:*", "s3:LifecycleExpiration:*"],
    }
    s3.put_bucket_notification_configuration(Bucket="checkpoints", NotificationConfiguration={"QueueConfigurations": [queue]})
    rule = {"ID": "old-runs", "Status": "Enabled", "Filter": {"Prefix": "run-0/"}, "Expiration": {"Days": 14}}
    s3.put_bucket_lifecycle_configuration(Bucket="checkpoints", LifecycleConfiguration={"Rules": [rule]})
    for step in range(100, 600, 100):
        s3.put_object(Bucket="checkpoints", Key=f"run-0/step-{step:04}/.metadata", Body=bytes(1200))


def show_overview(console: Console) -> None:
    page = console.page
    group = page.get_by_role("group", name="Requests by operation")
    for operation in ("GetObject", "PutObject"):
        expect(group.get_by_role("row").filter(has_text=operation)).to_be_visible()
    statuses = page.get_by_role("group", name="Responses by status")
    expect(statuses.locator("tr").filter(has=page.get_by_text("503", exact=True))).to_be_visible()
    expect(page.get_by_text("faults active")).to_be_visible()
    expect(page.get_by_text("limits active")).to_be_visible()
    assert page.locator(".chart canvas").count() == 7


def show_requests(console: Console) -> None:
    page = console.open("requests?bucket=datasets&retried=true")
    page.locator(ROWS).filter(has_text="retry").first.click()
    details = page.get_by_role("region", name="Members of the request")
    expect(details).to_contain_text("attempts in")
    expect(details).to_contain_text("penstock")
    check_page(console)


def show_buckets(console: Console) -> None:
    page = console.open(f"buckets/datasets?key={quote('train.yaml')}")
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("group", name="What to show").get_by_role("button", name="Preview").click()
    expect(page.locator(".object-panel pre")).to_contain_text("learning_rate")
    check_page(console)


def show_ranges(console: Console) -> None:
    page = console.open(f"ranges/checkpoints/{quote('run-1/step-0100/__0_0.distcp', safe='')}")
    items = page.get_by_role("grid", name="Items of the checkpoint")
    expect(items.locator(ROWS)).to_have_count(12)
    expect(items.locator(ROWS).first).to_contain_text("100 %")
    expect(page.locator(".range-readout")).to_contain_text("Bytes 0 to")
    check_page(console)


def show_throttle(console: Console) -> None:
    page = console.page
    expect(page.get_by_role("grid", name=f"Partitions of {LOGS}").get_by_role("row").nth(2)).to_be_visible()
    expect(page.get_by_role("table", name="503 responses by key prefix")).to_contain_text("run-1/")
    check_page(console)


def show_faults(console: Console) -> None:
    page = console.page
    page.locator(".panel", has_text="What fired").get_by_role("button", name="Edit").click()
    expect(page.get_by_role("group", name="Rule slow", exact=True)).to_be_visible()
    expect(page.locator(".faults-summary")).to_contain_text(re.compile(r"[1-9]\d* faults in"))
    check_page(console)


def show_access(console: Console) -> None:
    page = console.open("access")
    page.get_by_role("grid", name="Denied requests").get_by_role("row").filter(has_text="plans/2027.csv").click()
    answer = page.get_by_role("region", name="Explanation")
    expect(answer).to_contain_text("Statement 0 (NotThePlans) of user/alice/reader denies it.")
    expect(answer.get_by_label("The statement")).to_be_visible()
    check_page(console)


def show_clock(console: Console) -> None:
    page = console.open("clock")
    page.get_by_role("button", name="Freeze").click()
    page.get_by_role("button", name="+7 days", exact=True).click()
    expect(page.get_by_text(re.compile("(7 d|6 d 23 h) ahead of the machine"))).to_be_visible()  # it is frozen
    page.get_by_role("button", name="+30 d", exact=True).click()  # what will be due; nothing is changed
    expect(page.get_by_role("grid", name="Actions that are due").get_by_role("row")).to_have_count(6)
    expect(page.get_by_role("grid", name="Events").get_by_role("row").nth(5)).to_contain_text("ObjectCreated")
    check_page(console)


# Their pages are open during the job.
DURING: dict[str, Callable[[Console], None]] = {
    "overview": show_overview,
    "overview-dark": show_overview,
    "throttle": show_throttle,
    "faults": show_faults,
}
AFTERWARDS: dict[str, Callable[[Console], None]] = {
    "requests": show_requests,
    "buckets": show_buckets,
    "ranges": show_ranges,
    "access": show_access,
    "clock": show_clock,
}
PICTURES = [*DURING, *AFTERWARDS]


def start_scenario(console: Console) -> None:
    page = console.open("faults")
    page.get_by_label("Bucket", exact=True).fill("datasets")
    page.get_by_label("Key prefix").fill("train/")
    page.get_by_role("button", name="Start chaos-light").click()
    expect(page.get_by_role("heading", name="What fired: chaos-light")).to_be_visible()


@pytest.mark.timeout(600)
def test_every_view_shows_a_training_job(open_console: Any, start_emulator: Any, tmp_path: Path):
    with ExitStack() as stack:
        emulator = stack.enter_context(start_emulator())
        prepare(emulator)

        def window(scheme: str = "light") -> Console:
            return stack.enter_context(open_console(emulator, width=WIDTH, height=HEIGHT, scheme=scheme))

        pages = {name: window("dark" if name.endswith("-dark") else "light") for name in DURING}
        pages["overview"].open("overview")
        views = pages["overview"].views()
        pages["overview-dark"].open("overview")
        pages["throttle"].open(f"throttle?bucket={LOGS}")
        start_scenario(pages["faults"])
        with logging(emulator), training(emulator, tmp_path):
            for name, show in DURING.items():
                show(pages[name])
                save(pages[name].page, name)
        alice = client(emulator, USER_KEY, "secret-of-alice")
        assert error_code(alice.get_object, Bucket=RESEARCH, Key="plans/2027.csv") == "AccessDenied"
        expire_checkpoints(emulator)
        overview = pages["overview"]
        for name, show in AFTERWARDS.items():
            show(overview)
            save(overview.page, name)
        assert {name.removesuffix("-dark") for name in PICTURES} == set(views), "every view has a picture"


def test_the_documentation_has_a_small_picture_of_every_view():
    images = re.findall(r"!\[([^\]]+)\]\(\.\./images/console/([\w-]+)\.png\)", DOCUMENT.read_text())
    assert sorted(name for _, name in images) == sorted(PICTURES)
    assert all(len(text) >= 20 for text, _ in images), "a text for readers who do not see the picture"
    files = [DOCUMENT.parents[1] / f"images/console/{name}.png" for name in PICTURES]
    assert max(file.stat().st_size for file in files) <= LIMIT_BYTES
    assert sum(file.stat().st_size for file in files) <= ALL_BYTES
    assert {Image.open(file).size for file in files} == {(WIDTH, HEIGHT)}
