"""The view Faults: scenarios that a click starts, and what boto3 then gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from console_page import Console
from console_space import Space, check_page, error_code, expect_problem, new_space
from playwright.sync_api import Page, expect


@pytest.fixture
def space(standalone: Any) -> Iterator[Space]:
    with new_space(standalone) as space:
        for key in ["data/a", "other"]:
            space.s3.put_object(Bucket=space.bucket, Key=key, Body=b"text")
        yield space


def get(space: Space, key: str = "data/a") -> str:
    return error_code(space.s3.get_object, Bucket=space.bucket, Key=key)


def cells(page: Page, rule: str) -> list[str]:
    row = page.get_by_role("table", name="Rules of the running scenario").get_by_role("row").filter(has_text=rule)
    return row.get_by_role("cell").all_inner_texts()


def test_one_click_makes_the_next_get_fail(console: Console, space: Space):
    page = space.open(console, "faults")
    page.get_by_role("button", name="+ Add a rule").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("on", exact=True)).to_be_visible()
    assert get(space) == "InternalError"
    assert get(space) == "", "the rule fires once"
    expect(page.get_by_text("1 fault in 2 requests")).to_be_visible()
    # Matched, fired, under way, remaining, state.
    assert cells(page, "rule-1") == ["2", "1", "0", "0", "complete"]
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("No scenario runs. This one has ended")).to_be_visible()
    expect(page.get_by_text("1 fault in 2 requests")).to_be_visible()
    assert get(space) == ""
    space.admin("PUT", "faults", [{"id": "rare", "do": {"slow_down": {}}, "must_fire": False}])
    expect(page.get_by_text("0 faults in 0 requests")).to_be_visible()
    expect(page.locator(".faults-summary")).to_contain_text("nothing fired")


def test_a_named_scenario_starts_for_a_prefix(console: Console, space: Space):
    page = space.open(console, "faults")
    page.get_by_label("Key prefix").fill("data/")
    page.get_by_role("button", name="Start hot-prefix").click()
    expect(page.get_by_role("heading", name="What fired: hot-prefix")).to_be_visible()
    codes = [get(space) for _ in range(20)]
    assert codes.count("SlowDown") >= 5
    assert [get(space, "other") for _ in range(5)] == [""] * 5
    page.reload()
    expect(page.get_by_text(f"{codes.count('SlowDown')} faults in 25 requests")).to_be_visible()
    assert cells(page, "hot")[3] == "no limit"


def test_the_form_makes_a_rule_from_the_schema(console: Console, space: Space):
    page = space.open(console, "faults")
    page.get_by_role("button", name="+ Add a rule").click()
    form = page.get_by_role("group", name="Rule rule-1", exact=True)
    form.get_by_label("Add to when of Rule rule-1").select_option("key")
    form.get_by_label("Form of key of when of Rule rule-1").select_option(label="members")
    form.get_by_label("Add to key of when of Rule rule-1").select_option("prefix")
    form.get_by_label("prefix", exact=True).fill("data/")
    form.get_by_label("do", exact=True).select_option(label="slow_down")
    form.get_by_label("Add to slow_down").select_option("retry_after_ms")
    form.get_by_label("retry_after_ms", exact=True).fill("250")
    form.get_by_label("times", exact=True).fill("2")
    check_page(console)
    page.get_by_role("button", name="JSON").click()
    text = page.get_by_label("Scenario as JSON").input_value()
    assert '"prefix": "data/"' in text
    assert '"retry_after_ms": 250' in text
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("on", exact=True)).to_be_visible()
    assert [get(space, "other"), get(space), get(space), get(space)] == ["", "SlowDown", "SlowDown", ""]


def test_an_error_of_the_emulator_shows_at_its_rule(console: Console, space: Space):
    page = space.open(console, "faults")
    page.get_by_role("button", name="Edit chaos-light").click()
    page.locator(".rule-list").get_by_role("button", name="throttled").click()
    form = page.get_by_role("group", name="Rule throttled", exact=True)
    form.get_by_label("Add to when of Rule throttled").select_option("operation")
    form.get_by_label("operation", exact=True).fill("GetObjekt")
    page.get_by_role("button", name="Start", exact=True).click()
    expect_problem(page, "GetObjekt")
    expect(form.locator(".field-error")).to_contain_text("GetObjekt")
    assert get(space) == ""
    page.get_by_role("button", name="JSON").click()
    expect(page.get_by_label("Scenario as JSON")).to_have_attribute("aria-invalid", "true")


def test_a_scenario_of_another_client_shows(console: Console, space: Space):
    rules = [
        {"id": "theirs", "do": {"slow_down": {}}, "limit": {"times": 3}},
        {"id": "each", "do": {"fin": {}}, "limit": {"times": 4, "per": "key"}},
    ]
    space.admin("PUT", "faults", rules)
    page = space.open(console, "faults")
    assert get(space) == "SlowDown"
    expect(page.get_by_text("1 fault in 1 request", exact=True)).to_be_visible()
    assert [cells(page, name)[3] for name in ("theirs", "each")] == ["2", "4 per key"]
    page.get_by_role("button", name="Edit", exact=True).click()
    expect(page.locator(".rule-list li")).to_have_count(2)
    space.admin("PUT", "faults", [{"id": "next", "do": {"slow_down": {}}}])
    expect(page.get_by_text("1 earlier scenario ended before every rule had fired")).to_be_visible()
    page.get_by_role("button", name="Turn off and forget").click()
    expect(page.get_by_text("No scenario runs.")).to_be_visible()


def test_a_draft_outlives_a_change_of_view(console: Console, space: Space):
    page = space.open(console, "faults")
    page.get_by_role("button", name="+ Add a rule").click()
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_role("button", name="JSON").click()
    page.get_by_label("Scenario as JSON").fill('{"rules": [')
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("heading", name="Overview").wait_for()
    page.get_by_role("link", name="Faults", exact=True).click()
    expect(page.get_by_label("Scenario as JSON")).to_have_value('{"rules": [')
    expect(page.get_by_label("Scenario as JSON")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    page.get_by_role("button", name="JSON").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")
    expect(page.locator(".rule-list li")).to_have_count(1)
