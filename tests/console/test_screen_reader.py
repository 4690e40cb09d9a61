"""What a screen reader gets of each view: the accessibility tree of Chromium, and changes of live regions."""

from __future__ import annotations

from typing import Any

from console_page import Console
from console_space import Space, new_space
from playwright.sync_api import Page

CONTROLS = {
    *("button", "checkbox", "combobox", "grid", "link", "listbox", "menuitem", "radio", "searchbox", "slider"),
    *("spinbutton", "switch", "tab", "textbox"),
}
LIVE = "[aria-live], [role=alert], [role=log], [role=status]"
# Counts the live events that the page has received, and notes what changes in its live regions.
COUNT_EVENTS = """() => {
  window.liveEvents = 0;
  const parse = JSON.parse;
  JSON.parse = (...given) => {
    const value = parse(...given);
    if (value && value.uptime_s !== undefined) window.liveEvents++;
    return value;
  };
}"""
WATCH = """selector => {
  window.spoken = [];
  const textOf = ({ target }) => (target.textContent || target.nodeName).slice(0, 80);
  const note = (records) => window.spoken.push(...records.map(textOf));
  for (const region of document.querySelectorAll(selector)) {
    new MutationObserver(note).observe(region, { subtree: true, childList: true, characterData: true });
  }
}"""
EVENTS = 3


def tree_of(page: Page) -> dict[str, dict[str, Any]]:
    """The accessibility tree, by id, with `role` and `name` as texts."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return {
        node["nodeId"]: {**node, **{name: node.get(name, {}).get("value", "") for name in ("role", "name")}} for node in nodes
    }


def without_name(page: Page) -> list[str]:
    """Roles of controls, tables and pictures that have no name."""
    named = CONTROLS | {"image", "table"}
    return [node["role"] for node in tree_of(page).values() if node["role"] in named and not node["name"].strip()]


def tables_without_headers(page: Page) -> list[str]:
    """Names of tables and grids that have no column header."""
    tree = tree_of(page)
    headed = set()
    for header in [key for key, node in tree.items() if node["role"] == "columnheader"]:
        key = header
        while tree[key]["role"] not in ("grid", "table"):
            key = tree[key]["parentId"]
        headed.add(key)
    return [node["name"] for key, node in tree.items() if node["role"] in ("grid", "table") and key not in headed]


def changes_of_live_regions(page: Page, space: Space) -> list[str]:
    """What live regions announce while requests arrive and the user does nothing."""
    page.evaluate(WATCH, LIVE)
    first = page.evaluate("window.liveEvents")
    for number in range(EVENTS):
        space.s3.put_object(Bucket=space.bucket, Key=f"later/{number}", Body=b"text")
        page.wait_for_function("least => window.liveEvents >= least", arg=first + number + 1)
    return page.evaluate("window.spoken")


def test_views_have_names_and_headers_and_announce_only_results(console: Console, standalone: Any):
    console.page.add_init_script(f"({COUNT_EVENTS})()")
    with new_space(standalone) as space:
        space.admin("PUT", "limits", {"preset": "aws-standard"})
        space.s3.put_object(Bucket=space.bucket, Key="a/key", Body=b"text")
        space.s3.get_object(Bucket=space.bucket, Key="a/key")["Body"].read()
        space.open(console, "overview")
        routes = [view.partition("?")[0] for view in console.views()]
        routes += [f"buckets/{space.bucket}?key=a/key", f"ranges/{space.bucket}?key=a/key"]
        for route in routes:
            page = space.open(console, route)
            if route == "overview":
                page.locator("canvas").first.wait_for()
            assert without_name(page) == [], route
            assert tables_without_headers(page) == [], route
            assert changes_of_live_regions(page, space) == [], route
