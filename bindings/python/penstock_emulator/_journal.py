"""The journal: queries and assertions about the requests that an emulator received."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._clock import EPOCH
from ._journal_entry import (
    Filter,
    JournalEntry,
    ObjectUse,
    RangeGroup,
    RangeReport,
    Retry,
    entry_of,
    filter_document,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MAX_SHOWN = 10  # entries in the message of a failed assertion
_POLL_MS = 200  # longest wait in the core; Ctrl-C is handled between waits


class Journal:
    """The requests that one namespace received, in bounded memory: the oldest entries are dropped first. Iterable.

    Comes from ``Emulator.journal()`` and ``Namespace.journal``.

    Every query sees all requests whose responses the clients have received. It waits up to 200 ms for responses that are being
    sent. Filters are keyword arguments, see `Filter`:

        assert journal.count(operations="GetObject", key_prefix="train/") == 8
        journal.assert_max_concurrency(4, bucket="data")

    An assertion fails if the journal has dropped entries that it needs, since the remaining ones prove nothing. In that case,
    increase `Emulator(journal_size=...)`, or restrict the assertion to later entries (`after`).

    Every method raises ValueError if a filter cannot select anything (an unknown operation or status) or the emulator keeps no
    journal, and NotFoundError if the namespace does not exist.

    Thread safety: safe from any thread.
    """

    def __init__(self, core: _core.Emulator, namespace: str) -> None:
        self.namespace = namespace
        self._core = core

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self.entries())

    def __len__(self) -> int:
        return int(self._query("entries", {}, limit=0)["size"])

    @property
    def dropped(self) -> int:
        """The number of entries dropped to stay within the journal's memory."""
        return int(self._query("entries", {}, limit=0)["dropped"])

    @property
    def dropped_up_to(self) -> int:
        """The number of the last dropped entry. Used as `after` in a filter, it selects a range without gaps."""
        result = self._query("entries", {}, limit=0)
        return int(result["last"] - result["size"])

    @property
    def last(self) -> int:
        """The number of the last entry written; 0: none. For `after` in filters."""
        return int(self._query("entries", {}, limit=0)["last"])

    def entries(self, **filter: Unpack[Filter]) -> list[JournalEntry]:
        """Returns the entries that the filter selects, oldest first."""
        return [entry_of(document) for document in self._query("entries", filter)["entries"]]

    def newest(self, count: int, **filter: Unpack[Filter]) -> list[JournalEntry]:
        """Returns the latest `count` entries that the filter selects, oldest first."""
        return [entry_of(document) for document in self._query("entries", filter, newest=count)["entries"]]

    def count(self, **filter: Unpack[Filter]) -> int:
        """Returns the number of requests that the filter selects."""
        return int(self._query("count", filter)["count"])

    def ranges(
        self,
        bucket: str,
        key: str,
        wanted: Sequence[tuple[int, int]] = (),
        *,
        after: int = 0,
        by: Literal["connection", "peer", "access_key", "user_agent", "rank"] | None = None,
    ) -> RangeReport:
        """Returns the bytes that successful reads of an object fetched, compared with the wanted ones.

        Args:
            bucket: The object's bucket.
            key: The object's key.
            wanted: Ranges (begin, end) in bytes, in any order; they may overlap. Empty: no comparison.
            after: Only entries with a larger number.
            by: Also report the reads by group in `RangeReport.groups`; None: no groups.
        """
        object_filter: Filter = {"bucket": bucket, "key": key, "after": after}
        compared: dict[str, Any] = {"wanted": [list(pair) for pair in wanted]} if wanted else {}
        if by is not None:
            compared["by"] = by
        result = self._query("ranges", object_filter, **compared)
        del result["generation"]
        groups = result.get("groups", [])
        for owner, name in [(result, each) for each in ("fetched", "covered", "missing")] + [(g, "ranges") for g in groups]:
            owner[name] = [(begin, end) for begin, end in owner[name]]
        return RangeReport(**result | {"groups": [RangeGroup(**group) for group in groups]})

    def objects(self, **filter: Unpack[Filter]) -> list[ObjectUse]:
        """Returns the reads, writes, bytes and errors of each object that requests name, most requests first, at most 1000."""
        return [ObjectUse(**document) for document in self._query("objects", filter)["objects"]]

    def max_concurrency(self, **filter: Unpack[Filter]) -> int:
        """Returns the largest number of the selected requests that were in progress at the same time."""
        return int(self._query("max_concurrency", filter)["max_concurrency"])

    def requests_per_second(self, **filter: Unpack[Filter]) -> list[int]:
        """Returns the number of selected requests that began in each second, counted from the first of them."""
        return list(self._query("requests_per_second", filter)["requests_per_second"])

    def retries(self, **filter: Unpack[Filter]) -> list[Retry]:
        """Returns the invocations with more than one request, identified by the SDKs' invocation ids."""
        return [Retry(**document) for document in self._query("retries", filter)["retries"]]

    def in_order(self, first: Filter, then: Filter) -> bool:
        """Whether all requests of `first` ended before any of `then` began. False if either selects no request."""
        return bool(self._query("in_order", first, then=filter_document(then))["in_order"])

    def requests_after(self, last: Filter, then: Filter | None = None) -> list[JournalEntry]:
        """Returns the requests of `then` (None: any) that began after the last request of `last` had ended."""
        numbers = set(self._query("requests_after", last, then=filter_document(then or {}))["requests_after"])
        return [entry for entry in self.entries(**(then or {})) if entry.number in numbers]

    def export(self, path: str | os.PathLike[str], format: Literal["jsonl", "har"] = "jsonl", **filter: Unpack[Filter]) -> None:
        """Writes the entries to a file.

        Args:
            path: The file; an existing one is replaced.
            format: "jsonl": one JSON object per line, oldest first. "har": HTTP Archive 1.2, which browsers can display.
            **filter: Only the entries that this selects.

        Raises:
            OSError: The file cannot be written.
        """
        text = self._core.export_journal(self.namespace, format, json.dumps(filter_document(filter)))
        Path(path).write_text(text, encoding="utf-8")

    def tail(
        self, *, behind: int | None = None, timeout_s: float | None = None, **filter: Unpack[Filter]
    ) -> Iterator[JournalEntry]:
        """Yields entries as they are written. Continues with the new journal after a reset.

        If requests arrive faster than they are read here, the journal drops the oldest entries beyond ``journal_size``. A
        ``UserWarning`` then gives their number, before the next entry is yielded.

        Args:
            behind: Start after the entry with this number; None: with the next entry written.
            timeout_s: Stop when the filter has selected no entry for this many seconds; None: never.
            **filter: Only the entries that this selects.
        """
        # Outside the generator, so that the start position and errors of the filter do not wait for the first next().
        now = self._query("entries", filter, limit=0)
        after = int(now["last"]) if behind is None else behind
        return self._tail(after, int(now["generation"]), timeout_s, filter_document(filter))

    def _tail(self, after: int, generation: int, timeout_s: float | None, filter: dict[str, Any]) -> Iterator[JournalEntry]:
        until = time.monotonic() + (timeout_s or 0)
        while True:
            question = {"question": "entries", "filter": filter | {"after": max(after, filter.get("after", 0))}}
            result = json.loads(self._core.await_journal(self.namespace, after, _POLL_MS, json.dumps(question)))
            if result["generation"] != generation:  # a reset started a new journal
                generation, after = result["generation"], 0
                continue
            if dropped := result["dropped_of_asked"]:
                warnings.warn(
                    f"tail of the journal of {self.namespace!r}: {dropped} entries after number {after} were dropped before "
                    "they were read; read faster, or raise journal_size (Emulator(journal_size=...), --journal-size)",
                    UserWarning,
                    stacklevel=2,
                )
            after = max(after, result["last"])  # behind= may be a number in the future
            for document in result["entries"]:
                yield entry_of(document)
            if timeout_s is not None:
                if result["entries"]:
                    until = time.monotonic() + timeout_s
                elif time.monotonic() >= until:
                    return

    def capture_headers(self, seconds: int) -> datetime | None:
        """Lets the entries of requests that end in the next `seconds` have the headers of the request and the response.

        A reset ends the capture.

        Args:
            seconds: 1 to 3600; 0 ends the capture.

        Returns:
            The end of the capture by the machine's clock; None: it has ended.

        Raises:
            ValueError: `seconds` is out of range.
        """
        return _time_of(self._core.capture_headers(self.namespace, seconds))

    @property
    def header_capture(self) -> datetime | None:
        """The end of the current capture of headers; None: there is none."""
        return _time_of(self._core.header_capture(self.namespace))

    def clear(self) -> None:
        """Removes all entries. A request that began before gets no entry when it ends. The numbering continues."""
        self._core.clear_journal(self.namespace)

    def assert_count(self, expected: int, **filter: Unpack[Filter]) -> None:
        """Raises AssertionError unless the filter selects exactly `expected` requests."""
        result = self._query("count", filter)
        if result["count"] != expected:
            self._fail(f"{result['count']} requests instead of {expected}", filter)
        self._require_complete(result["dropped"], filter)

    def assert_max_concurrency(self, most: int, **filter: Unpack[Filter]) -> None:
        """Raises AssertionError if more than `most` of the selected requests were in progress at the same time."""
        result = self._query("max_concurrency", filter)
        if result["max_concurrency"] > most:
            self._fail(f"{result['max_concurrency']} requests at one time, more than {most}", filter)
        self._require_complete(result["dropped"], filter)

    def assert_ranges(
        self,
        bucket: str,
        key: str,
        wanted: Sequence[tuple[int, int]],
        *,
        most_overlap_bytes: int = 0,
        most_over_read_bytes: int = 0,
        after: int = 0,
    ) -> None:
        """Raises AssertionError unless reads of the object fetched all wanted bytes, and few enough others.

        Args:
            bucket: The object's bucket.
            key: The object's key.
            wanted: Ranges (begin, end) in bytes, at least one.
            most_overlap_bytes: The most bytes that may be fetched again.
            most_over_read_bytes: The most bytes that may be fetched outside the wanted ranges.
            after: Only entries with a larger number.

        Raises:
            ValueError: `wanted` is empty.
        """
        if not wanted:
            raise ValueError(
                "wanted is empty, so there is nothing to compare; give [(begin, end)], "
                "or use assert_count(0, operations='GetObject', ...)"
            )
        report = self.ranges(bucket, key, wanted, after=after)
        wrong = []
        if report.missing:
            wrong.append(f"never fetched bytes {', '.join(f'{begin}-{end}' for begin, end in report.missing)}")
        if report.overlap_bytes > most_overlap_bytes:
            wrong.append(f"fetched {report.overlap_bytes} bytes twice, more than {most_overlap_bytes}")
        if report.over_read_bytes > most_over_read_bytes:
            wrong.append(f"fetched {report.over_read_bytes} bytes outside `wanted`, more than {most_over_read_bytes}")
        object_filter: Filter = {"bucket": bucket, "key": key, "after": after} if after else {"bucket": bucket, "key": key}
        if wrong:
            self._fail("; ".join(wrong), object_filter)
        self._require_complete(report.dropped, object_filter)

    def assert_in_order(self, first: Filter, then: Filter) -> None:
        """Raises AssertionError unless all requests of `first` ended before any of `then` began, and there were both."""
        result = self._query("in_order", first, then=filter_document(then))
        if not result["in_order"]:
            counts = self.count(**first), self.count(**then)
            why = f"the first filter selects {counts[0]} requests, the second {counts[1]}"
            self._fail(f"not all of {_filter_text(first)} ended before {_filter_text(then)} began ({why})", {})
        self._require_complete(result["dropped"], {})

    def assert_no_request_after(self, last: Filter, then: Filter | None = None) -> None:
        """Raises AssertionError if a request of `then` (None: any) began after the last of `last` ended, or `last` has none."""
        # This query comes first because it checks both filters.
        result = self._query("requests_after", last, then=filter_document(then or {}))
        if self.count(**last) == 0:
            self._fail(f"there was no request of {_filter_text(last)}", {})
        if result["requests_after"]:
            numbers = set(result["requests_after"])
            late = [entry for entry in self.entries(**(then or {})) if entry.number in numbers]
            self._fail(f"{len(late)} requests after the last of {_filter_text(last)}, the first of them {late[0]}", then or {})
        self._require_complete(result["dropped"], then or {})

    def describe(self, count: int = _MAX_SHOWN, **filter: Unpack[Filter]) -> str:
        """Returns the latest `count` entries that the filter selects, one per line, for use in messages."""
        entries = self.newest(count, **filter)
        return "\n".join(map(str, entries)) if entries else "(no request)"

    def _require_complete(self, dropped: int, filter: Filter) -> None:
        if dropped == 0:
            return
        self._fail(
            f"{dropped} of the selected entries were dropped to stay within the journal's memory, so the remaining entries prove "
            f"nothing: raise journal_size (Emulator(journal_size=...), --journal-size), clear() the journal earlier, or "
            f"select entries `after` number {self.dropped_up_to}",
            filter,
        )

    def _fail(self, problem: str, filter: Filter) -> None:
        of = f" of {_filter_text(filter)}" if filter else ""
        shown = self.describe(_MAX_SHOWN, **filter)
        lost = f" ({self.dropped} older ones were dropped)" if self.dropped else ""
        raise AssertionError(f"journal of {self.namespace!r}: {problem}\nthe last requests{of}{lost}:\n{shown}")

    def _query(self, question: str, filter: Filter, **more: Any) -> dict[str, Any]:
        document = {"question": question, "filter": filter_document(filter), **more}
        result: dict[str, Any] = json.loads(self._core.ask_journal(self.namespace, json.dumps(document)))
        return result


def _time_of(ns: int | None) -> datetime | None:
    return None if ns is None else EPOCH + timedelta(microseconds=ns // 1000)


def _filter_text(filter: Filter) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in filter.items()) or "any request"
