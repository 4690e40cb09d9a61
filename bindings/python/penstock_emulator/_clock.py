"""The clock of an emulator namespace."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from . import _core

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MAX_ADVANCE_S = 9_000_000_000


def nanoseconds_of(time: datetime) -> int:
    """Returns the nanoseconds since 1970, in steps of 1000.

    Raises:
        ValueError: `time` has no time zone or is not in the years 1970 to 2261.
    """
    if time.tzinfo is None:
        raise ValueError(f"the datetime {time} has no time zone; give it one, such as tzinfo=timezone.utc")
    microseconds = (time - EPOCH) // timedelta(microseconds=1)
    if not 0 <= microseconds < 2**63 // 1000:
        raise ValueError(f"the datetime {time} is out of range; set one in the years 1970 to 2261")
    return microseconds * 1000


class Clock:
    """The clock of a namespace. It determines dates, signature ages, expiry and limits in that namespace.

    Comes from ``Emulator.clock()`` and ``Namespace.clock``.

    Clients sign with the machine's time. If the two clocks differ by more than 15 minutes, the emulator refuses requests that
    are signed in headers (RequestTimeTooSkewed), unless the client corrects for the difference, as Penstock does. Presigned
    URLs only expire.

    Every method raises NotFoundError if the namespace does not exist, and ValueError if the clock would leave the years
    1970 to 2261.

    Thread safety: safe from any thread; each change is one step.
    """

    def __init__(self, core: _core.Emulator, namespace: str) -> None:
        self.namespace = namespace
        self._core = core

    @property
    def now(self) -> datetime:
        """The current time of the clock in UTC, in microsecond resolution."""
        return EPOCH + timedelta(microseconds=self._core.clock(self.namespace)["now_ns"] // 1000)

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""
        return bool(self._core.clock(self.namespace)["frozen"])

    @property
    def offset(self) -> timedelta:
        """The time by which the clock is ahead of the machine's clock, in microsecond resolution; negative: behind it."""
        return timedelta(microseconds=self._core.clock(self.namespace)["offset_ns"] // 1000)

    @property
    def rate(self) -> float:
        """Seconds by which the clock advances per second of the machine's clock, while it runs."""
        return float(self._core.clock(self.namespace)["rate"])

    def run(self, rate: float) -> None:
        """Runs the clock from its current time, `rate` times as fast as the machine's clock. It does not jump.

        Args:
            rate: 0.001 to 1000, in steps of one millionth.

        Raises:
            ValueError: `rate` is out of range.
        """
        self._core.change_clock(self.namespace, frozen=False, rate=rate)

    def advance(self, seconds: float) -> None:
        """Moves the clock forward by `seconds`, running or frozen; a negative number moves it back.

        Raises:
            ValueError: `seconds` is out of range.
        """
        if not abs(seconds) <= _MAX_ADVANCE_S:
            raise ValueError(f"seconds must be -{_MAX_ADVANCE_S} to {_MAX_ADVANCE_S}, not {seconds}")
        self._core.change_clock(self.namespace, advance_ns=round(seconds * 1_000_000_000))

    def set(self, now: datetime) -> None:
        """Sets the clock to `now`. A running clock keeps running; a frozen one stays frozen.

        Args:
            now: A datetime with a time zone, in the years 1970 to 2261.

        Raises:
            ValueError: `now` has no time zone or is out of range.
        """
        self._core.change_clock(self.namespace, now_ns=nanoseconds_of(now))

    def freeze(self) -> None:
        """Stops the clock at its current time."""
        self._core.change_clock(self.namespace, frozen=True)

    def resume(self) -> None:
        """Runs the clock from its current time."""
        self._core.change_clock(self.namespace, frozen=False)

    def restore(self) -> None:
        """Sets the clock back to the machine's time, running."""
        self._core.restore_clock(self.namespace)
