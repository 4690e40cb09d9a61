"""The frame of the web console: assets, sign-in, connection, keyboard, accessibility."""

from __future__ import annotations

import gzip
import re
import subprocess
import uuid
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from console_page import DIST
from console_space import new_space
from playwright.sync_api import expect

LIMIT_BYTES = 400_000
FIRST_VIEW_BYTES = 25_000  # without the library of charts
NARROW, WIDE = 360, 1440


def test_assets_are_small():
    files = [path for path in DIST.rglob("*") if path.is_file()]
    assert any(path.suffix == ".js" for path in files), "the console is not built; run ./dev console"
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= LIMIT_BYTES


def test_the_first_view_needs_few_bytes():
    names = re.findall(r"(?:src|href)=\"\./(assets/[^\"]+)\"", (DIST / "index.html").read_text())
    assert any(name.endswith(".js") for name in names)
    assert sum(len(gzip.compress((DIST / name).read_bytes())) for name in names) <= FIRST_VIEW_BYTES


def test_the_page_has_nothing_inline():
    html = (DIST / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", html)
    assert not re.search(r"https?://", html)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_views_are_accessible(open_console: Any, standalone: Any, s3: Any, width: int, scheme: str):
    bucket = f"views-{uuid.uuid4().hex[:8]}"
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="a/key", Body=b"text")
    s3.get_object(Bucket=bucket, Key="a/key")
    with open_console(standalone, width=width, scheme=scheme) as console:
        console.open()
        views = console.views()
        assert views[:2] == ["overview", "requests"]
        for view in views:
            page = console.open(view)
            if view == "overview":
                page.locator("canvas").first.wait_for()
            assert console.violations() == [], view
            widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{view} is wider than the window"


# Elements of the view that are outside the window, and cannot be scrolled into it.
OUTSIDE = """() => [...document.querySelectorAll('main :is(h1, h2, button, input, select, a)')].filter((element) => {
    if (!element.checkVisibility() || element.closest('.visually-hidden')) return false;
    const { left, right } = element.getBoundingClientRect();
    if (left >= 0 && right <= innerWidth) return false;
    for (let box = element.parentElement; box; box = box.parentElement) {
        if (box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)) return false;
    }
    return true;
}).map((element) => element.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize(("width", "height"), [(360, 640), (768, 1024), (1920, 1080), (3840, 2160)])
def test_views_fit_windows_from_phones_to_4k(open_console: Any, standalone: Any, s3: Any, width: int, height: int):
    bucket = f"sizes-{uuid.uuid4().hex[:8]}"
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key="a/key", Body=b"text")
    with open_console(standalone, width=width, height=height) as console:
        console.open()
        for view in console.views():
            page = console.open(view)
            expect(page.get_by_text("Loading …")).to_have_count(0)
            assert page.evaluate(OUTSIDE) == [], view
            used, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert used <= window, f"{view} is wider than the window"
            main = page.locator("main").bounding_box()
            assert main["width"] >= 0.9 * min(width, 1280), f"{view} leaves the window empty"


def test_keyboard_reaches_content_and_views(console: Any):
    page = console.open("requests")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    expect(page).to_have_title("Overview | Penstock emulator")


def test_theme_is_kept(console: Any):
    page = console.open()
    page.get_by_label("Colours").select_option("Dark")
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.reload()
    expect(page.get_by_label("Colours")).to_have_value("dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark
    page.get_by_label("Colours").select_option("Light")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark


def test_unknown_view_says_so(console: Any):
    console.page.goto(f"{console.emulator.admin}/console/#/nothing")
    expect(console.page.get_by_role("alert")).to_contain_text("There is no view “nothing”.")


def test_sign_in(open_console: Any, start_emulator: Any):
    with start_emulator("--admin-token", "right-token") as emulator, open_console(emulator) as console:
        page = console.open(live=False)
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert console.violations() == []
        page.get_by_label("Admin token").fill("wrong-token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("The emulator refused this token.")).to_be_visible()
        page.get_by_label("Admin token").fill("right-token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
        page.locator('.connection[data-phase="open"]').wait_for()
        assert "right-token" not in page.url
        assert page.evaluate("JSON.stringify(localStorage)").find("right-token") == -1
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert page.evaluate("sessionStorage.getItem('penstock-admin-token')") is None


def test_a_token_that_no_header_can_have(open_console: Any, start_emulator: Any):
    with start_emulator("--admin-token", "right-token") as emulator, open_console(emulator) as console:
        page = console.open(live=False)
        page.get_by_label("Admin token").fill("right\u2013token")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("character outside Latin-1")
        page.evaluate("sessionStorage.setItem('penstock-admin-token', 'right\u2013token\\n')")
        page.reload()
        page.get_by_label("Admin token").fill("right-token")
        page.get_by_role("button", name="Sign in").click()
        page.locator('.connection[data-phase="open"]').wait_for()


def test_the_current_tab_is_in_view(open_console: Any, standalone: Any):
    with open_console(standalone, width=NARROW) as console:
        for view in ("faults", "overview", "access"):
            page = console.open(view)
            expect(page.locator('.tabs [aria-current="page"]')).to_be_in_viewport(ratio=0.95)


def test_a_view_opened_while_the_emulator_is_down_is_loaded_later(open_console: Any, start_emulator: Any):
    with ExitStack() as stack:
        first = stack.enter_context(ExitStack())
        emulator = first.enter_context(start_emulator())
        console = stack.enter_context(open_console(emulator))
        page = console.open()
        first.close()
        expect(page.locator(".connection")).to_have_text("Not connected")
        page.get_by_role("link", name="Throttle").click()
        expect(page.get_by_text("The page reloads when the emulator responds again.")).to_be_visible()
        stack.enter_context(start_emulator("--admin-port", str(urlsplit(emulator.admin).port)))
        expect(page.get_by_role("heading", name="Throttle", level=1)).to_be_visible()


def test_reconnects_to_a_restarted_emulator(open_console: Any, start_emulator: Any):
    with ExitStack() as stack:
        first = stack.enter_context(ExitStack())
        emulator = first.enter_context(start_emulator())
        console = stack.enter_context(open_console(emulator))
        page = console.open()
        first.close()
        expect(page.get_by_role("alert")).to_contain_text("The emulator")
        expect(page.locator(".connection")).to_have_text("Not connected")
        assert console.violations() == []
        stack.enter_context(start_emulator("--admin-port", str(urlsplit(emulator.admin).port)))
        expect(page.locator(".connection")).to_have_text("Live")
        expect(page.get_by_role("alert")).to_have_count(0)


def test_namespaces(open_console: Any, start_emulator: Any):
    with start_emulator() as emulator, open_console(emulator) as console:
        subprocess.run(["curl", "-sSf", f"{emulator.admin}/_penstock/namespaces", "-d", '{"name": "worker-1"}'], check=True)
        page = console.open("requests")
        page.get_by_label("Namespace").select_option("worker-1")
        expect(page.get_by_text("No requests yet.")).to_be_visible()
        assert page.url.endswith("#/requests?namespace=worker-1")
        page.reload()
        expect(page.get_by_label("Namespace")).to_have_value("worker-1")
        # A view of the default namespace, without its filters, and the address without a namespace.
        console.open("requests?namespace=worker-1&bucket=data")
        page.get_by_label("Namespace").select_option("default")
        expect(page).to_have_url(re.compile("#/requests$"))
        page.go_back()
        expect(page.get_by_label("Namespace")).to_have_value("worker-1")
        console.open("requests?namespace=gone")
        expect(page.get_by_text("There is no namespace “gone”.")).to_be_visible()
        expect(page.get_by_label("Namespace")).to_have_value("default")


def test_an_address_contains_its_namespace(open_console: Any, standalone: Any):
    with new_space(standalone) as space, open_console(standalone) as console:
        space.s3.put_object(Bucket=space.bucket, Key="data/key", Body=b"13 bytes long")
        page = space.open(console, f"buckets/{space.bucket}?prefix=data/")
        page.get_by_role("row").filter(has_text="key").get_by_role("gridcell").nth(1).click()
        expect(page).to_have_url(re.compile("key=data"))
        address = page.url
        with open_console(standalone) as other:
            other.page.goto(address)
            expect(other.page.locator(".object-name")).to_have_text("data/key")
            expect(other.page.get_by_role("link", name="Ranges", exact=True)).to_have_attribute(
                "href", f"#/ranges?namespace={space.name}"
            )
        missing = console.open(f"buckets/{space.bucket}")
        expect(missing.get_by_text("The namespace “default” has no bucket")).to_be_visible()
        expect(missing.get_by_role("button", name="Delete the bucket")).to_have_count(0)
        assert console.violations() == []
