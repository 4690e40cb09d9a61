"""The view Clock and lifecycle: a moved clock makes an object expire."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from console_page import BIDI_KEY, BIDI_SHOWN, Console
from console_space import Space, check_page, error_code, expect_problem, new_space
from playwright.sync_api import expect

QUEUE = "arn:aws:sqs:us-east-1:111122223333:queue"


@pytest.fixture
def space(standalone: Any) -> Iterator[Space]:
    with new_space(standalone) as space:
        yield space


def expire_after(space: Space, days: int) -> None:
    rule = {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": "daily/"}, "Expiration": {"Days": days}}
    space.s3.put_bucket_lifecycle_configuration(Bucket=space.bucket, LifecycleConfiguration={"Rules": [rule]})


def test_an_advanced_clock_makes_an_object_expire(console: Console, space: Space):
    expire_after(space, 7)
    queue = {"QueueArn": QUEUE, "Events": ["s3:LifecycleExpiration:*", "s3:ObjectCreated:*"]}
    space.s3.put_bucket_notification_configuration(
        Bucket=space.bucket, NotificationConfiguration={"QueueConfigurations": [queue]}
    )
    for key in ["daily/1", "kept"]:
        space.s3.put_object(Bucket=space.bucket, Key=key, Body=b"text")
    page = space.open(console, "clock")
    due = page.get_by_role("grid", name="Actions that are due")
    expect(due).to_contain_text("Nothing is due")
    page.get_by_role("button", name="+30 d", exact=True).click()
    expect(due.get_by_role("row").nth(1)).to_contain_text(f"{space.bucket}/daily/1")
    expect(due.get_by_role("row")).to_have_count(2)
    assert error_code(space.s3.head_object, Bucket=space.bucket, Key="daily/1") == "", "a preview changes nothing"
    check_page(console)

    page.get_by_role("button", name="+30 days", exact=True).click()
    expect(page.get_by_text("30 d ahead of the machine")).to_be_visible()
    expect(page.get_by_text("RequestTimeTooSkewed")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    done = page.get_by_role("grid", name="Actions of the latest run")
    expect(done.get_by_role("row").nth(1)).to_contain_text(f"{space.bucket}/daily/1")
    expect(due).to_contain_text("Nothing is due")
    events = page.get_by_role("grid", name="Events")
    expect(events.get_by_role("row").nth(1)).to_contain_text("LifecycleExpiration:Delete")
    page.get_by_role("button", name="Restore the machine's time").click()
    expect(page.get_by_text("the machine's time", exact=True)).to_be_visible()
    assert error_code(space.s3.head_object, Bucket=space.bucket, Key="daily/1") == "404"
    assert error_code(space.s3.head_object, Bucket=space.bucket, Key="kept") == ""

    events.get_by_role("row").nth(1).click()
    expect(page.get_by_role("dialog")).to_contain_text('"eventName": "LifecycleExpiration:Delete"')
    check_page(console)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove all").click()
    expect(events).to_contain_text("No events.")
    assert space.admin("GET", "events")["events"] == []


def test_what_is_due_is_current_while_the_clock_is_frozen(console: Console, space: Space):
    expire_after(space, 7)
    space.admin("POST", "clock", {"frozen": True})
    space.s3.put_object(Bucket=space.bucket, Key="daily/1", Body=b"text")
    page = space.open(console, "clock")
    page.get_by_role("button", name="+30 d", exact=True).click()
    rows = page.get_by_role("grid", name="Actions that are due").get_by_role("row")
    expect(rows.filter(has_text="daily/1")).to_be_visible()
    space.s3.put_object(Bucket=space.bucket, Key="daily/2", Body=b"text")
    expect(rows.filter(has_text="daily/2")).to_be_visible()
    space.s3.delete_object(Bucket=space.bucket, Key="daily/1")
    expect(rows.filter(has_text="daily/1")).to_have_count(0)
    page.get_by_role("button", name="+30 days", exact=True).click()  # a run in the background deletes the object
    expect(rows.filter(has_text="daily/2")).to_have_count(0)
    page.get_by_role("button", name="The clock's time").click()
    expect(page.get_by_label("What is due by")).to_have_value(re.compile(space.admin("GET", "clock")["now"][:16]))


def test_hostile_names_are_escaped(console: Console, space: Space):
    expire_after(space, 7)
    queue = {"QueueArn": QUEUE, "Events": ["s3:ObjectCreated:*"]}
    space.s3.put_bucket_notification_configuration(
        Bucket=space.bucket, NotificationConfiguration={"QueueConfigurations": [queue]}
    )
    space.s3.put_object(Bucket=space.bucket, Key=f"daily/{BIDI_KEY}", Body=b"text")
    page = space.open(console, "clock")
    page.get_by_role("button", name="+30 d", exact=True).click()
    expect(page.get_by_role("grid", name="Actions that are due")).to_contain_text(f"{space.bucket}/daily/{BIDI_SHOWN}")
    expect(page.get_by_role("grid", name="Events")).to_contain_text(f"{space.bucket}/daily/{BIDI_SHOWN}")
    assert console.hidden_characters() == []


def test_the_clock_is_frozen_set_and_restored(console: Console, space: Space):
    page = space.open(console, "clock")
    page.get_by_role("button", name="Freeze").click()
    expect(page.get_by_text("frozen", exact=True)).to_be_visible()
    page.get_by_label("Date and time, UTC").fill("2031-02-03T04:05:06")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.locator("time")).to_have_attribute("datetime", "2031-02-03T04:05:06.000Z")
    clock = space.admin("GET", "clock")
    assert clock["now"] == "2031-02-03T04:05:06.000Z"
    assert clock["frozen"]
    page.get_by_label("Amount, may be negative").fill("-2")
    page.get_by_label("Unit").select_option("hours")
    page.get_by_role("button", name="Advance", exact=True).click()
    expect(page.locator("time")).to_have_attribute("datetime", "2031-02-03T02:05:06.000Z")
    page.get_by_label("Date and time, UTC").fill("2300-01-01T00:00:00")
    page.get_by_role("button", name="Set", exact=True).click()
    expect_problem(page, "2261")
    page.get_by_role("button", name="Restore the machine's time").click()
    expect(page.get_by_text("running", exact=True)).to_be_visible()
    assert space.admin("GET", "clock")["offset_seconds"] == 0


def test_the_clock_runs_at_another_speed(console: Console, space: Space):
    page = space.open(console, "clock")
    page.get_by_label("Times the machine's clock").fill("1000")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1000 times")).to_be_visible()
    assert space.admin("GET", "clock")["rate"] == 1000
    shown = page.locator("time").get_attribute("datetime")
    ahead = datetime.fromtimestamp(time.time(), timezone.utc) + timedelta(seconds=60)
    page.wait_for_function("least => document.querySelector('time').dateTime > least", arg=ahead.strftime("%Y-%m-%dT%H:%M:%S"))
    assert page.locator("time").get_attribute("datetime") > shown
