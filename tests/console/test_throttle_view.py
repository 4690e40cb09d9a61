"""The view Throttle: limits, partitions and refusals of a bucket with boto3 traffic, and the simulation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from console_page import BIDI_KEY, BIDI_SHOWN, Console
from console_space import Space, admin, check_page, error_code, expect_problem, new_space
from playwright.sync_api import Page, expect

MEMBERS = {
    "Reads, /s": "reads_per_second",
    "Writes, /s": "writes_per_second",
    "Burst, ms": "burst_ms",
    "Split after, s": "split_after_s",
    "Merge after, s": "merge_after_s",
    "Partitions, at most": "max_partitions",
}
# Whether the canvas has a pixel of the colour that a token has.
HAS_COLOUR = """token => {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  const canvas = document.querySelector('.heat canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) return true;
  }
  return false;
}"""


@pytest.fixture
def space(standalone: Any) -> Iterator[Space]:
    with new_space(standalone) as space:
        yield space


def put(space: Space, count: int, prefix: str) -> int:
    """Puts objects and returns how many requests were throttled."""
    codes = [error_code(space.s3.put_object, Bucket=space.bucket, Key=f"{prefix}{i:03}", Body=b"") for i in range(count)]
    assert set(codes) <= {"", "SlowDown"}
    return codes.count("SlowDown")


def turn_on(page: Page, preset: str, **values: int) -> None:
    page.get_by_role("button", name=preset, exact=True).click()
    for label, value in values.items():
        field = page.get_by_label(next(name for name, member in MEMBERS.items() if member == label))
        field.fill(str(value))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_text("limits on")).to_be_visible()


def test_refusals_show_by_partition_and_by_prefix(console: Console, space: Space):
    page = space.open(console, "throttle")
    expect(page.get_by_text("limits off")).to_be_visible()
    turn_on(page, "aws-strict", writes_per_second=2)
    assert space.admin("GET", "limits")["limits"] == {"preset": "aws-strict", "writes_per_second": 2}
    put(space, 1, "first/")
    expect(page.get_by_role("grid", name=f"Partitions of {space.bucket}").get_by_role("row")).to_have_count(2)
    refused = put(space, 30, "hot/a/") + put(space, 10, "cold/")
    assert refused >= 20
    total = space.admin("GET", "limits")["refused"]
    expect(page.get_by_text(f"{total} refused", exact=True)).to_be_visible()
    prefixes = page.get_by_role("table", name="503 responses by key prefix")
    expect(prefixes.get_by_role("row").nth(1)).to_contain_text("hot/")
    expect(page.get_by_text(f"the latest {total} refusals")).to_be_visible()
    page.wait_for_function(HAS_COLOUR, arg="--error")
    check_page(console)


def test_hostile_names_are_escaped(console: Console, space: Space):
    page = space.open(console, "throttle")
    turn_on(page, "aws-strict", writes_per_second=1)
    assert put(space, 20, f"{BIDI_KEY}/") > 0
    put(space, 5, "cold/")
    expect(page.get_by_role("table", name="503 responses by key prefix")).to_contain_text(f"{BIDI_SHOWN}/")
    assert console.hidden_characters() == []


def test_a_split_shows(console: Console, space: Space):
    space.admin("POST", "clock", {"frozen": True})
    page = space.open(console, "throttle")
    turn_on(page, "aws-strict", writes_per_second=1, split_after_s=2)
    rows = page.get_by_role("grid", name=f"Partitions of {space.bucket}").get_by_role("row")
    put(space, 8, "a")
    expect(rows).to_have_count(2)
    page.wait_for_function("() => document.querySelector('.heat figcaption').textContent.includes('Now:')")
    for _ in range(6):
        space.admin("POST", "clock", {"advance_seconds": 1})
        put(space, 8, "a")
    report = space.admin("GET", "limits")
    assert report["limits"] == {"preset": "aws-strict", "writes_per_second": 1, "split_after_s": 2}
    assert len(report["buckets"][0]["events"]) >= 1
    expect(rows).not_to_have_count(2)
    page.wait_for_function(HAS_COLOUR, arg="--series-2")


def test_presets_are_those_of_the_emulator(console: Console, space: Space):
    page = space.open(console, "throttle")
    for preset in ["aws-standard", "aws-strict", "aws-express"]:
        space.admin("PUT", "limits", {"preset": preset})
        put(space, 1, "key")
        # The form follows the limits that another client has set.
        expect(page.get_by_role("button", name=preset, exact=True)).to_have_attribute("aria-pressed", "true")
        shown = {member: float(page.get_by_label(label).input_value()) for label, member in MEMBERS.items()}
        assert space.admin("GET", "limits")["buckets"][0]["limits"] == shown


def test_limits_of_one_bucket(console: Console, space: Space):
    space.admin("PUT", "limits", {"preset": "aws-strict", "seed": 7})
    put(space, 1, "key")
    page = space.open(console, "throttle")
    page.get_by_label("For", exact=True).select_option(space.bucket)
    slider = page.get_by_role("slider", name="Reads", exact=True)
    slider.focus()
    page.keyboard.press("End")
    expect(page.get_by_label("Reads, /s")).to_have_value("10000")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expected = {"preset": "aws-strict", "seed": 7, "buckets": {space.bucket: {"reads_per_second": 10000}}}
    assert space.admin("GET", "limits")["limits"] == expected


def test_the_form_opens_for_a_bucket_with_its_own_limits(console: Console, space: Space):
    other = f"{space.bucket}-other"
    space.s3.create_bucket(Bucket=other)
    space.admin("PUT", "limits", {"preset": "aws-strict", "buckets": {space.bucket: {"reads_per_second": 7}}})
    space.s3.put_object(Bucket=other, Key="key", Body=b"")
    page = space.open(console, f"throttle?bucket={space.bucket}")
    scope, reads = page.get_by_label("For", exact=True), page.get_by_label("Reads, /s")
    expect(scope).to_have_value(space.bucket)
    expect(reads).to_have_value("7")
    page.get_by_role("combobox", name="Bucket", exact=True).select_option(other)
    expect(scope).to_have_value("")
    expect(reads).to_have_value("55")
    reads.fill("56")
    page.get_by_role("combobox", name="Bucket", exact=True).select_option(space.bucket)
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    expect(scope).to_have_value("")
    expect(reads).to_have_value("56")  # not applied yet


def test_a_number_is_kept_while_it_is_typed(console: Console, space: Space):
    page = space.open(console, "throttle")
    page.get_by_role("button", name="aws-strict", exact=True).click()
    field = page.get_by_label("Reads, /s")
    field.fill("")
    for _ in range(2):  # each answer renders the view again
        with page.expect_response(lambda response: "/_penstock/limits/" in response.url):
            pass
    expect(field).to_have_value("")
    field.press_sequentially("12")
    expect(field).to_have_value("12")
    field.fill("")
    field.blur()
    expect(field).to_have_value("12")  # an empty field is not a number


def test_an_error_of_the_emulator_shows(console: Console, space: Space):
    page = space.open(console, "throttle")
    page.locator(".panel", has_text="Limits").get_by_role("button", name="JSON").click()
    page.get_by_label("Limits as JSON").fill('{"preset": "aws-fast"}')
    page.get_by_role("button", name="Turn on").click()
    expect_problem(page, "aws-fast")
    page.get_by_label("Limits as JSON").fill("{")
    expect_problem(page, "This is not JSON")
    expect(page.get_by_role("button", name="Turn on")).to_be_disabled()
    assert space.admin("GET", "limits")["limits"] == {}


def test_limits_are_turned_off(console: Console, space: Space):
    space.admin("PUT", "limits", {"preset": "aws-strict", "writes_per_second": 1})
    page = space.open(console, "throttle")
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("limits off")).to_be_visible()
    assert put(space, 10, "key") == 0


def test_strategies_are_compared(console: Console, space: Space):
    page = space.open(console, "throttle")
    page.get_by_label("Ranks", exact=True).fill("64")
    page.get_by_label("File size, MiB").fill("1")
    page.get_by_role("combobox", name="Limits", exact=True).select_option("aws-strict")
    page.get_by_role("button", name="Compare").click()
    rows = page.get_by_role("table", name="Outcome by prefix strategy").get_by_role("row")
    expect(rows).to_have_count(5)
    job = {"ranks": 64, "file_bytes": 1 << 20, "limits": "aws-strict", "warm_partitions": 16, "strategy": "hex"}
    report = admin(space.emulator, "POST", "simulate", job)
    row = rows.filter(has_text="hex")
    expect(row).to_contain_text(f"{report['requests']:,}")
    expect(row).to_contain_text("completed" if report["rounds"][0]["completed"] else "failed")
    check_page(console)
    page.get_by_label("Ranks", exact=True).fill("70000")
    page.get_by_role("button", name="Compare").click()
    expect_problem(page, "65536")
