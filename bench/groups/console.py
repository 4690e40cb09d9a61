"""Group `console`: the web console's first view, what an open page costs the emulator, and its frames while the emulator is busy.

Chromium runs without a window, on the same machine. The emulator's CPU time is that of its process only.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from groups.emulator import prepare, wrk
from groups.faults import LOAD, paired
from harness import Measurement, Row, interleave, rows
from playwright.sync_api import Browser, Page, sync_playwright
from servers import Server, penstock_emulator

OPENINGS = 10  # pages of which each round is the median
PAIRS = 5  # measurements per round: a ratio of short runs needs many
IDLE_SECONDS = 10
WIDTH, HEIGHT = 1280, 800
VIEWS = ("overview", "requests")
WITHOUT_PAGE, CONSOLE_OFF = "without a page", "--console off"

# Notes when the heading and the tiles of the first view have been painted: the task after the frame that has them.
NOTE_FIRST_VIEW = """() => {
  const look = () => {
    if (!document.querySelector('h1') || !document.querySelector('.tiles .tile')) return requestAnimationFrame(look);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { window.firstView = performance.now(); };
    requestAnimationFrame(() => channel.port2.postMessage(0));
  };
  requestAnimationFrame(look);
}"""

COUNT_FRAMES = """() => {
  window.frames_ = { count: 0, longest: 0, start: performance.now(), last: performance.now() };
  const tick = (now) => {
    window.frames_.count++;
    window.frames_.longest = Math.max(window.frames_.longest, now - window.frames_.last);
    window.frames_.last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not executable:
        raise SystemExit("bench: no Chromium on PATH; install Debian's package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def new_page(browser: Browser) -> Iterator[Page]:
    """A page with an empty cache."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    try:
        yield context.new_page()
    finally:
        context.close()


@contextlib.contextmanager
def console(browser: Browser, server: Server, view: str) -> Iterator[Page]:
    """A page with a view, when its first live event has arrived."""
    with new_page(browser) as page:
        page.goto(f"{server.admin}/console/#/{view}")
        page.locator('.connection[data-phase="open"]').wait_for()
        page.locator("h1").wait_for()
        yield page


def browser_cpu_seconds(browser: Browser) -> float:
    """CPU time of all processes of the browser."""
    session = browser.new_browser_cdp_session()
    try:
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        return sum(float(process["cpuTime"]) for process in found)
    finally:
        session.detach()


def exact_cpu_seconds(pid: int) -> float:
    """CPU time of the threads of a process that run now. Unlike the process's own, it is counted in nanoseconds."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def first_view(rounds: int) -> list[Row]:
    """From the start of the navigation until the heading and the tiles of the overview are painted, with an empty cache."""
    with penstock_emulator("--memory", journal=True) as server, chromium() as browser:

        def once() -> float:
            with new_page(browser) as page:
                page.add_init_script(f"({NOTE_FIRST_VIEW})()")
                page.goto(f"{server.admin}/console/")
                page.wait_for_function("() => window.firstView")
                return float(page.evaluate("window.firstView"))

        once()  # the browser's own start
        results = {"penstock": [{"ms": statistics.median(once() for _ in range(OPENINGS))} for _ in range(rounds)]}
        return rows(results, "penstock", {"ms": ("console.first_view", "ms")})


def with_page(browser: Browser, server: Server, url: str, view: str) -> Callable[[], Measurement]:
    """A measurement of GETs while a page shows a view."""

    def measure() -> Measurement:
        with console(browser, server, view):
            before = browser_cpu_seconds(browser)
            measured = wrk(server, url, *LOAD)
            return {**measured, "browser": browser_cpu_seconds(browser) - before}

    return measure


def open_page(rounds: int) -> list[Row]:
    """Server CPU time per verified GET of 1 KiB, with the journal, while a page is open, compared with none."""
    made = []
    with penstock_emulator("--memory", journal=True) as server, chromium() as browser:
        url = prepare(server, 1 << 10)
        wrk(server, url, *LOAD)  # fills the journal: from now on it drops its oldest entries
        cells: dict[str, Callable[[], Measurement]] = {view: with_page(browser, server, url, view) for view in VIEWS}
        cells[WITHOUT_PAGE] = lambda: wrk(server, url, *LOAD)
        results = interleave(cells, rounds * PAIRS)
    for view in VIEWS:
        compared = {"penstock": results[view], WITHOUT_PAGE: results[WITHOUT_PAGE]}
        made += paired(compared, "penstock", {"cpu_us": (f"console.open.{view}", "server CPU-us/request")})
        made += rows({"penstock": results[view]}, "penstock", {"browser": (f"console.open.{view}.browser", "CPU-s in 4 s")})
    return made


def idle_page(rounds: int) -> list[Row]:
    """Server CPU time per second that a page needs while there are no other requests."""
    with penstock_emulator("--memory", journal=True) as server, chromium() as browser:
        prepare(server, 1 << 10)

        def wait() -> Measurement:
            before, start = exact_cpu_seconds(server.pid), time.monotonic()
            time.sleep(IDLE_SECONDS)
            return {"cpu_ms": 1e3 * (exact_cpu_seconds(server.pid) - before) / (time.monotonic() - start)}

        def waiting(view: str) -> Measurement:
            with console(browser, server, view):
                return wait()

        cells: dict[str, Callable[[], Measurement]] = {view: (lambda view=view: waiting(view)) for view in VIEWS}
        cells[WITHOUT_PAGE] = wait
        results = interleave(cells, rounds)
    return [
        row
        for view in VIEWS
        for row in rows(
            {"penstock": results[view], WITHOUT_PAGE: results[WITHOUT_PAGE]},
            "penstock",
            {"cpu_ms": (f"console.idle.{view}", "server CPU-ms per s")},
        )
    ]


def closed_page(rounds: int) -> list[Row]:
    """Server CPU time per verified GET of 1 KiB without a page, compared with an emulator that has no console."""
    with (
        penstock_emulator("--memory", journal=True) as serving,
        penstock_emulator("--memory", "--console", "off", journal=True) as plain,
    ):
        servers = {"penstock": serving, CONSOLE_OFF: plain}
        urls = {label: prepare(server, 1 << 10) for label, server in servers.items()}
        for label, server in servers.items():
            wrk(server, urls[label], *LOAD)  # fills the journal
        cells = {label: (lambda label=label: wrk(servers[label], urls[label], *LOAD)) for label in servers}
        return paired(interleave(cells, rounds * PAIRS), "penstock", {"cpu_us": ("console.closed", "server CPU-us/request")})


def task_seconds(session: Any) -> dict[str, float]:
    """Time of the page's main thread since it was opened, by kind of work."""
    metrics = {one["name"]: float(one["value"]) for one in session.send("Performance.getMetrics")["metrics"]}
    return {name: metrics[name] for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")}


def busy_page(browser: Browser, server: Server, url: str, view: str) -> Measurement:
    """Frames and main-thread time of a page during a load, and the rate of the load."""
    with console(browser, server, view) as page:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        page.evaluate(COUNT_FRAMES)
        before = task_seconds(session)
        load = wrk(server, url, *LOAD)
        after = task_seconds(session)
        seconds = page.evaluate("(performance.now() - window.frames_.start) / 1000")
        frames = page.evaluate("window.frames_")
        return {
            "frames": frames["count"] / seconds,
            "longest_ms": frames["longest"],
            "main_ms": 1e3 * (after["TaskDuration"] - before["TaskDuration"]) / seconds,
            "requests": load["requests"],
        }


def frames(rounds: int) -> list[Row]:
    """Frames of a page while the emulator serves as many unsigned GETs of 1 KiB as the machine allows beside the browser."""
    with penstock_emulator("--memory", "--auth=off", journal=True) as server, chromium() as browser:
        url = prepare(server, 1 << 10).partition("?")[0]
        wrk(server, url, *LOAD)  # fills the journal
        cells = {view: (lambda view=view: busy_page(browser, server, url, view)) for view in VIEWS}
        results = interleave(cells, rounds)
    made = []
    for view in VIEWS:
        quantities = {
            "frames": (f"console.frames.{view}", "frames/s"),
            "longest_ms": (f"console.frames.{view}.longest", "ms"),
            "main_ms": (f"console.frames.{view}.main", "main-thread ms per s"),
            "requests": (f"console.frames.{view}.load", "requests/s"),
        }
        made += rows({"penstock": results[view]}, "penstock", quantities)
    return made


SCENARIOS = [first_view, idle_page, open_page, closed_page, frames]
