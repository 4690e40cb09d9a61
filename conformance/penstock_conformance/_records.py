"""What a client asked, as a proxy saw it: requests, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Range = tuple[int, int]  # [begin, end)


@dataclass
class Record:
    """One request and what it was answered. Times in seconds of a monotonic clock.

    Attributes:
        number: From 1 on, by its arrival.
        operation: S3's name of it, such as "GetObject"; empty where it is none that these suites know.
        key: Decoded; empty for a bucket's own operations.
        query: Its parameters, decoded.
        headers: Of the request, names in lower case.
        status: 0: there was no answer, or it was cut off.
        fetched: The object's bytes that a successful read brought, or None.
        etag: Of the answer, as it was sent.
        bytes_out: Of the answer's body.
        error_code: S3's, such as "NoSuchKey"; a 200 may have one, too, in its body.
    """

    number: int
    method: str
    target: str
    operation: str
    bucket: str
    key: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    began_s: float
    ended_s: float = 0.0
    status: int = 0
    fetched: Range | None = None
    etag: str = ""
    bytes_in: int = 0
    bytes_out: int = 0
    error_code: str = ""
    answer_headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def if_match(self) -> str:
        """The ETag that the request insists on; empty: none."""
        return self.headers.get("if-match", "")

    def __str__(self) -> str:
        ranges = f" bytes {self.fetched[0]}-{self.fetched[1]}" if self.fetched else ""
        return f"#{self.number} {self.method} {self.target} -> {self.status}{ranges}"


class Records(Sequence[Record]):
    """Requests in the order of their arrival."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = list(records)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __getitem__(self, i: Any) -> Any:
        return Records(self._records[i]) if isinstance(i, slice) else self._records[i]

    def of(self, *operations: str, key: str | None = None, status: int | None = None) -> Records:
        """Those of these operations, of this key, with this status."""
        return Records(
            record
            for record in self._records
            if (not operations or record.operation in operations)
            and (key is None or record.key == key)
            and (status is None or record.status == status)
        )

    def keys(self) -> list[str]:
        """Keys that were asked about, each once, in the order of the first request."""
        return list(dict.fromkeys(record.key for record in self._records if record.key))

    def fetched(self, key: str) -> list[Range]:
        """What successful reads of an object brought, each of them."""
        return [
            record.fetched for record in self.of("GetObject", key=key) if record.fetched and record.fetched[0] < record.fetched[1]
        ]

    def most_at_once(self) -> int:
        """How many were under way at one time, at most."""
        edges = [(record.began_s, 1) for record in self._records] + [(record.ended_s, -1) for record in self._records]
        most = now = 0
        for _, step in sorted(edges):
            now += step
            most = max(most, now)
        return most


def union(ranges: Iterable[Range]) -> list[Range]:
    """Their union, ascending and apart."""
    found: list[Range] = []
    for begin, end in sorted(ranges):
        if begin >= end:
            continue
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def without(ranges: Iterable[Range], others: Iterable[Range]) -> list[Range]:
    """What is in `ranges` and not in `others`."""
    left = []
    taken = union(others)
    for begin, end in union(ranges):
        at = begin
        for other_begin, other_end in taken:
            if other_end <= at or other_begin >= end:
                continue
            if at < other_begin:
                left.append((at, other_begin))
            at = max(at, other_end)
        if at < end:
            left.append((at, end))
    return left


def length(ranges: Iterable[Range]) -> int:
    """Bytes, each as often as it comes."""
    return sum(end - begin for begin, end in ranges)


def coalesced(ranges: Iterable[Range], most_gap: float) -> list[Range]:
    """Ranges with at most `most_gap` bytes between them, joined with what lies between."""
    found: list[Range] = []
    for begin, end in union(ranges):
        if found and begin - found[-1][1] <= most_gap:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found
