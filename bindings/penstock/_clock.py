"""The clock of an emulator's namespace."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from . import _core

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LONGEST_ADVANCE_S = 9_000_000_000


class Clock:
    """The clock of a namespace, which drives dates, the age of signatures, every expiry and the limits in it.

    Comes from ``Emulator.clock()`` and ``Namespace.clock``.

    Clients sign with the machine's time: a clock more than 15 minutes away refuses what is signed in headers
    (RequestTimeTooSkewed), unless the client corrects its own clock, as Penstock's does. Presigned URLs only expire.

    Every method raises S3NotFoundError when there is no such namespace, and ValueError when the clock would leave the
    years 1970 to 2261.

    Thread safety: safe from any thread; each change is one step.
    """

    def __init__(self, core: _core.Emulator, namespace: str) -> None:
        self.namespace = namespace
        self._core = core

    @property
    def now(self) -> datetime:
        """Its time, in UTC, to the microsecond."""
        return _EPOCH + timedelta(microseconds=self._core.clock(self.namespace)["now_ns"] // 1000)

    @property
    def frozen(self) -> bool:
        """Whether it stands still."""
        return bool(self._core.clock(self.namespace)["frozen"])

    @property
    def offset(self) -> timedelta:
        """How far it is ahead of the machine's clock, to the microsecond; negative: behind it."""
        return timedelta(microseconds=self._core.clock(self.namespace)["offset_ns"] // 1000)

    @property
    def rate(self) -> float:
        """Seconds of it that pass in one of the machine's, while it runs."""
        return float(self._core.clock(self.namespace)["rate"])

    def run(self, rate: float) -> None:
        """Lets it run from where it stands, `rate` times as fast as the machine's; it never jumps or runs backwards.

        Args:
            rate: 0.001 to 1000, to the millionth.

        Raises:
            ValueError: `rate` is out of range.
        """
        self._core.change_clock(self.namespace, frozen=False, rate=rate)

    def advance(self, seconds: float) -> None:
        """Moves it by so many `seconds` of its own, running or frozen; a negative number moves it back."""
        if not abs(seconds) <= _LONGEST_ADVANCE_S:
            raise ValueError(f"seconds is {seconds}; it takes at most {_LONGEST_ADVANCE_S} either way")
        self._core.change_clock(self.namespace, advance_ns=round(seconds * 1_000_000_000))

    def set(self, now: datetime) -> None:
        """Makes it show `now`, which must have a time zone; it goes on running or standing still.

        Raises:
            ValueError: `now` has no time zone.
        """
        if now.tzinfo is None:
            raise ValueError(f"the datetime {now} has no time zone; give it one, such as tzinfo=timezone.utc")
        microseconds = (now - _EPOCH) // timedelta(microseconds=1)
        if not 0 <= microseconds < 2**63 // 1000:
            raise ValueError(f"the datetime {now} is outside the years 1970 to 2261; set one within")
        self._core.change_clock(self.namespace, now_ns=microseconds * 1000)

    def freeze(self) -> None:
        """Stops it where it is."""
        self._core.change_clock(self.namespace, frozen=True)

    def resume(self) -> None:
        """Lets it run from where it stands."""
        self._core.change_clock(self.namespace, frozen=False)

    def restore(self) -> None:
        """Gives it the machine's time back, running."""
        self._core.restore_clock(self.namespace)
