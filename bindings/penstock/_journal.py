"""What clients asked of an emulator: entries, questions, assertions. ``Emulator.journal()`` and ``Namespace.journal`` give it."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._journal_entry import Filter, JournalEntry, RangeReport, Retry, entry_of, filter_document

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SHOWN = 10  # entries in the text of a failed assertion
_SLICE_MS = 200  # of waiting, between which Ctrl-C is noticed


class Journal:
    """What clients asked of one namespace, in bounded memory: the oldest entries go first. Iteration gives what there is.

    Comes from ``Emulator.journal()`` and ``Namespace.journal``.

    Every question sees each request whose answer its client has; answers still on their way are waited for, up to 200 ms.
    Filters are keywords, see `Filter`:

        assert journal.count(operations="GetObject", key_prefix="train/") == 8
        journal.assert_max_concurrency(4, bucket="data")

    The assertions fail where entries that they ask about had to be dropped: what is left proves nothing about them. Give
    `Emulator(journal_bytes=...)` more, or ask about what is behind a number (`after`).

    Every method raises ValueError for a filter that cannot select anything (no operation of S3's, no status), and where the
    emulator keeps no journal, and S3NotFoundError where the namespace is gone.

    Thread safety: safe from any thread.
    """

    def __init__(self, core: _core.Emulator, namespace: str) -> None:
        self.namespace = namespace
        self._core = core

    def __iter__(self) -> Iterator[JournalEntry]:
        return iter(self.entries())

    def __len__(self) -> int:
        return int(self._ask("entries", {}, limit=0)["size"])

    @property
    def dropped(self) -> int:
        """Entries that had to go to stay within the journal's memory."""
        return int(self._ask("entries", {}, limit=0)["dropped"])

    @property
    def dropped_up_to(self) -> int:
        """Number of the last entry that had to go; behind it, as `after` in filters, everything is there."""
        answer = self._ask("entries", {}, limit=0)
        return int(answer["last"] - answer["size"])

    @property
    def last(self) -> int:
        """Number of the last entry ever written; 0: none. For `after` in filters."""
        return int(self._ask("entries", {}, limit=0)["last"])

    def entries(self, **filter: Unpack[Filter]) -> list[JournalEntry]:
        """Those that the filter selects, oldest first."""
        return [entry_of(document) for document in self._ask("entries", filter)["entries"]]

    def newest(self, count: int, **filter: Unpack[Filter]) -> list[JournalEntry]:
        """The latest `count` that the filter selects, oldest first."""
        return [entry_of(document) for document in self._ask("entries", filter, newest=count)["entries"]]

    def count(self, **filter: Unpack[Filter]) -> int:
        """How many requests there were."""
        return int(self._ask("count", filter)["count"])

    def ranges(self, bucket: str, key: str, wanted: Sequence[tuple[int, int]] = (), *, after: int = 0) -> RangeReport:
        """What successful reads of an object fetched, twice or at all, and against what was wanted.

        Args:
            bucket: The object's bucket.
            key: Its key.
            wanted: (begin, end) in bytes, in any order; they may overlap. Empty: nothing is missing or too much.
            after: Only entries behind this number.
        """
        object_filter: Filter = {"bucket": bucket, "key": key, "after": after}
        compared = {"wanted": [list(pair) for pair in wanted]} if wanted else {}
        answer = self._ask("ranges", object_filter, **compared)
        del answer["generation"]
        for name in ("fetched", "covered", "missing"):
            answer[name] = [(begin, end) for begin, end in answer[name]]
        return RangeReport(**answer)

    def max_concurrency(self, **filter: Unpack[Filter]) -> int:
        """The most of these requests that were under way at one time."""
        return int(self._ask("max_concurrency", filter)["max_concurrency"])

    def requests_per_second(self, **filter: Unpack[Filter]) -> list[int]:
        """How many began in each second since the first of them."""
        return list(self._ask("requests_per_second", filter)["requests_per_second"])

    def retries(self, **filter: Unpack[Filter]) -> list[Retry]:
        """Invocations of more than one request, as the SDKs number them."""
        return [Retry(**document) for document in self._ask("retries", filter)["retries"]]

    def in_order(self, first: Filter, then: Filter) -> bool:
        """Whether all of `first` had ended before any of `then` began, and there were both."""
        return bool(self._ask("in_order", first, then=filter_document(then))["in_order"])

    def requests_after(self, last: Filter, then: Filter | None = None) -> list[JournalEntry]:
        """Requests of `then` (None: any) that began after the last of `last` had ended."""
        numbers = set(self._ask("requests_after", last, then=filter_document(then or {}))["requests_after"])
        return [entry for entry in self.entries(**(then or {})) if entry.number in numbers]

    def export(self, path: str | os.PathLike[str], format: Literal["jsonl", "har"] = "jsonl", **filter: Unpack[Filter]) -> None:
        """Writes the entries to a file.

        Args:
            path: Is replaced where it exists.
            format: "jsonl": one JSON object a line, oldest first; "har": an HTTP Archive 1.2, for browsers' network panels.
            **filter: Only these.

        Raises:
            OSError: The file cannot be written.
        """
        text = self._core.export_journal(self.namespace, format, json.dumps(filter_document(filter)))
        Path(path).write_text(text, encoding="utf-8")

    def tail(
        self, *, behind: int | None = None, timeout_s: float | None = None, **filter: Unpack[Filter]
    ) -> Iterator[JournalEntry]:
        """Entries as they come. Goes on with the new journal after a reset.

        A reader that is slower than the requests for long loses the oldest, which the journal drops: a ``UserWarning`` says how
        many, before the entry that comes behind them. ``journal_bytes`` is how much of them may wait.

        Args:
            behind: Begin behind this entry's number; None: with the next one that is written.
            timeout_s: Ends when none that the filter selects came for so long; None: never.
            **filter: Only these.
        """
        # Not in the generator: it would begin, and refuse a filter, where its first entry is asked for.
        now = self._ask("entries", filter, limit=0)
        after = int(now["last"]) if behind is None else behind
        return self._tail(after, int(now["generation"]), timeout_s, filter_document(filter))

    def _tail(self, after: int, generation: int, timeout_s: float | None, filter: dict[str, Any]) -> Iterator[JournalEntry]:
        until = time.monotonic() + (timeout_s or 0)
        while True:
            question = {"question": "entries", "filter": filter | {"after": max(after, filter.get("after", 0))}}
            answer = json.loads(self._core.await_journal(self.namespace, after, _SLICE_MS, json.dumps(question)))
            if answer["generation"] != generation:  # a reset began another journal
                generation, after = answer["generation"], 0
                continue
            if dropped := answer["dropped_of_asked"]:
                warnings.warn(
                    f"tail of the journal of {self.namespace!r}: {dropped} entries behind number {after} were dropped before "
                    "they were read; read faster, or raise journal_bytes (Emulator(journal_bytes=...), --journal-bytes)",
                    UserWarning,
                    stacklevel=2,
                )
            after = answer["last"]
            for document in answer["entries"]:
                yield entry_of(document)
            if timeout_s is not None:
                if answer["entries"]:
                    until = time.monotonic() + timeout_s
                elif time.monotonic() >= until:
                    return

    def clear(self) -> None:
        """Forgets the entries; numbers go on."""
        self._core.clear_journal(self.namespace)

    def assert_count(self, expected: int, **filter: Unpack[Filter]) -> None:
        """Fails unless there were exactly `expected` requests."""
        answer = self._ask("count", filter)
        if answer["count"] != expected:
            self._fail(f"{answer['count']} requests instead of {expected}", filter)
        self._require_whole(answer["dropped"], filter)

    def assert_max_concurrency(self, most: int, **filter: Unpack[Filter]) -> None:
        """Fails if more than `most` were under way at one time."""
        answer = self._ask("max_concurrency", filter)
        if answer["max_concurrency"] > most:
            self._fail(f"{answer['max_concurrency']} requests at one time, more than {most}", filter)
        self._require_whole(answer["dropped"], filter)

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
        """Fails unless the object's reads fetched what was wanted, and no more of it twice or beside it than allowed.

        Args:
            bucket: The object's bucket.
            key: Its key.
            wanted: (begin, end) in bytes, at least one.
            most_overlap_bytes: Fetched twice.
            most_over_read_bytes: Fetched though nobody wanted them.
            after: Only entries behind this number.
        """
        if not wanted:
            raise ValueError(
                "wanted is empty, with which nothing is compared; give [(begin, end)], "
                "or assert_count(0, operations='GetObject', ...)"
            )
        report = self.ranges(bucket, key, wanted, after=after)
        wrong = []
        if report.missing:
            wrong.append(f"never fetched bytes {', '.join(f'{begin}-{end}' for begin, end in report.missing)}")
        if report.overlap_bytes > most_overlap_bytes:
            wrong.append(f"fetched {report.overlap_bytes} bytes twice, more than {most_overlap_bytes}")
        if report.over_read_bytes > most_over_read_bytes:
            wrong.append(f"fetched {report.over_read_bytes} bytes that nobody wanted, more than {most_over_read_bytes}")
        object_filter: Filter = {"bucket": bucket, "key": key, "after": after} if after else {"bucket": bucket, "key": key}
        if wrong:
            self._fail("; ".join(wrong), object_filter)
        self._require_whole(report.dropped, object_filter)

    def assert_in_order(self, first: Filter, then: Filter) -> None:
        """Fails unless all of `first` had ended before any of `then` began, and there were both."""
        answer = self._ask("in_order", first, then=filter_document(then))
        if not answer["in_order"]:
            counts = self.count(**first), self.count(**then)
            why = f"of the first there were {counts[0]}, of the others {counts[1]}"
            self._fail(f"not all of {_words(first)} ended before {_words(then)} began ({why})", {})
        self._require_whole(answer["dropped"], {})

    def assert_no_request_after(self, last: Filter, then: Filter | None = None) -> None:
        """Fails if a request of `then` (None: any) began after the last of `last` had ended, or there was none of `last`."""
        # Asked first: it refuses what either filter has wrong.
        answer = self._ask("requests_after", last, then=filter_document(then or {}))
        if self.count(**last) == 0:
            self._fail(f"there was no request of {_words(last)}", {})
        if answer["requests_after"]:
            numbers = set(answer["requests_after"])
            late = [entry for entry in self.entries(**(then or {})) if entry.number in numbers]
            self._fail(f"{len(late)} requests after the last of {_words(last)}, the first of them {late[0]}", then or {})
        self._require_whole(answer["dropped"], then or {})

    def describe(self, count: int = _SHOWN, **filter: Unpack[Filter]) -> str:
        """The latest `count` entries that the filter selects, one a line, for messages."""
        entries = self.newest(count, **filter)
        return "\n".join(map(str, entries)) if entries else "(no request)"

    def _require_whole(self, dropped: int, filter: Filter) -> None:
        if dropped == 0:
            return
        self._fail(
            f"{dropped} of the asked entries were dropped to stay within the journal's memory, so that nothing is proved by "
            f"those that are left: raise journal_bytes (Emulator(journal_bytes=...), --journal-bytes), clear() the journal "
            f"before, or ask about entries `after` number {self.dropped_up_to}",
            filter,
        )

    def _fail(self, problem: str, filter: Filter) -> None:
        of = f" of {_words(filter)}" if filter else ""
        shown = self.describe(_SHOWN, **filter)
        lost = f" ({self.dropped} older ones were dropped)" if self.dropped else ""
        raise AssertionError(f"journal of {self.namespace!r}: {problem}\nthe last requests{of}{lost}:\n{shown}")

    def _ask(self, question: str, filter: Filter, **more: Any) -> dict[str, Any]:
        document = {"question": question, "filter": filter_document(filter), **more}
        answer: dict[str, Any] = json.loads(self._core.ask_journal(self.namespace, json.dumps(document)))
        return answer


def _words(filter: Filter) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in filter.items()) or "any request"
