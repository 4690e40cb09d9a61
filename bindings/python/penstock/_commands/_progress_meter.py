"""The progress of a command on a terminal: bytes, files, rate and time left."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from .._checkpoint_cli._output import size_text

DELAY_S = 1.0  # commands that end earlier show no progress
INTERVAL_S = 0.25
WINDOW_S = 10.0  # the rate is that of the last 10 s


class Display(Protocol):
    """Shows one line."""

    def update(self, text: str, done: int, total: int) -> None: ...
    def hide(self) -> None: ...
    def close(self) -> None: ...


class PlainDisplay:
    """Rewrites one line on standard error."""

    def __init__(self) -> None:
        import shutil

        self._width = shutil.get_terminal_size().columns - 1

    def update(self, text: str, done: int, total: int) -> None:
        del done, total
        sys.stderr.write(f"\r\x1b[K{text[: self._width]}")
        sys.stderr.flush()

    def hide(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    close = hide


class RichDisplay:
    """A bar of the package rich."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True)
        self._bar = Progress(
            BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}", markup=False),
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None)
        self._shown = False

    def update(self, text: str, done: int, total: int) -> None:
        if not self._shown:
            self._shown = True
            self._bar.start()
        self._bar.update(self._task, description=text, completed=done, total=total)
        self._bar.refresh()

    def hide(self) -> None:
        if self._shown:
            self._shown = False
            self._bar.stop()

    close = hide


def make_display() -> Display:
    try:
        return RichDisplay()
    except ImportError:
        return PlainDisplay()


def duration_text(seconds: float) -> str:
    """Formats a duration: "0:07", "12:30", "1:02:03"."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


class Meter:
    """Counts the bytes and files of a command, and shows them. Safe from any thread.

    Args:
        make: Makes the display when it is first needed.
        clock: Seconds of a monotonic clock.
    """

    def __init__(self, make: Callable[[], Display] = make_display, clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._lock = threading.RLock()
        self._display: Display | None = None
        self._start = self._due = clock()
        self._due += DELAY_S
        self._samples: deque[tuple[float, int]] = deque([(self._start, 0)])
        self._closed = False
        self.planned_files = self.planned_bytes = self.files = self.bytes = 0
        self.planning = True  # whether more files may come

    def plan(self, size: int) -> None:
        with self._lock:
            self.planned_files += 1
            self.planned_bytes += size

    def add(self, count: int) -> None:
        """Adds bytes; a negative number takes those of a failed transfer back."""
        with self._lock:
            self.bytes += count
            self.show()

    def end_file(self) -> None:
        with self._lock:
            self.files += 1
            self.show()

    def show(self) -> None:
        """Shows the progress if it is time to."""
        with self._lock:
            now = self._clock()
            if now < self._due or self._closed:
                return
            self._due = now + INTERVAL_S
            self._samples.append((now, self.bytes))
            while len(self._samples) > 2 and self._samples[1][0] < now - WINDOW_S:
                self._samples.popleft()
            if self._display is None:
                self._display = self._make()
            self._display.update(self.text(), self.bytes, max(self.planned_bytes, 1))

    def text(self) -> str:
        """Returns the progress as one line."""
        (begin, first), (end, last) = self._samples[0], self._samples[-1]
        rate = max(0.0, (last - first) / (end - begin)) if end > begin else 0.0
        more = "+" if self.planning else ""
        words = [
            f"{size_text(self.bytes)} of {size_text(self.planned_bytes)}{more}",
            f"{self.files:,} of {self.planned_files:,}{more} files",
            f"{size_text(rate)}/s",
        ]
        if rate > 0 and not self.planning:
            words.append(f"{duration_text((self.planned_bytes - self.bytes) / rate)} left")
        return ", ".join(words)

    def hide(self) -> None:
        """Removes the progress from the terminal before other output. A later `show` shows it again."""
        with self._lock:
            if self._display is not None:
                self._display.hide()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._display is not None:
                self._display.close()
