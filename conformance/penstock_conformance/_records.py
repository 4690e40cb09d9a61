"""Requests that a proxy recorded, and queries over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Range = tuple[int, int]  # half-open: [begin, end)


@dataclass
class Record:
    """One request and its response. Times are seconds of the monotonic clock.

    Attributes:
        number: Sequence number by arrival, from 1.
        operation: S3 operation, such as "GetObject"; empty if unknown.
        key: Object key, decoded; empty for bucket operations.
        query: Query parameters, decoded.
        headers: Request headers, names in lower case.
        status: HTTP status; 0 if there was no complete response.
        fetched: The range of the object in a successful GetObject response, or None.
        etag: ETag header of the response.
        bytes_in: Length of the request body.
        bytes_out: Length of the response body.
        error_code: S3 error code, such as "NoSuchKey"; a response with status 200 can contain one in its body.
        response_headers: Names in lower case.
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
    response_headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def if_match(self) -> str:
        """Value of the If-Match header; empty if absent."""
        return self.headers.get("if-match", "")

    def __str__(self) -> str:
        ranges = f" bytes {self.fetched[0]}-{self.fetched[1]}" if self.fetched else ""
        return f"#{self.number} {self.method} {self.target} -> {self.status}{ranges}"


class Records(Sequence[Record]):
    """Requests in order of arrival."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = list(records)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __getitem__(self, i: Any) -> Any:
        return Records(self._records[i]) if isinstance(i, slice) else self._records[i]

    def of(self, *operations: str, key: str | None = None, status: int | None = None) -> Records:
        """The requests that match all given conditions."""
        return Records(
            record
            for record in self._records
            if (not operations or record.operation in operations)
            and (key is None or record.key == key)
            and (status is None or record.status == status)
        )

    def keys(self) -> list[str]:
        """Distinct keys, in order of the first request for each."""
        return list(dict.fromkeys(record.key for record in self._records if record.key))

    def fetched(self, key: str) -> list[Range]:
        """The non-empty ranges that successful reads of an object returned, one per read."""
        return [
            record.fetched for record in self.of("GetObject", key=key) if record.fetched and record.fetched[0] < record.fetched[1]
        ]

    def max_concurrent(self) -> int:
        """The maximum number of requests that were in progress at the same time."""
        edges = [(record.began_s, 1) for record in self._records] + [(record.ended_s, -1) for record in self._records]
        highest = now = 0
        for _, step in sorted(edges):
            now += step
            highest = max(highest, now)
        return highest


def union(ranges: Iterable[Range]) -> list[Range]:
    """The union as disjoint ranges in ascending order."""
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
    """The bytes that are in `ranges` and not in `others`."""
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
    """Total length in bytes; overlaps count repeatedly."""
    return sum(end - begin for begin, end in ranges)


def coalesced(ranges: Iterable[Range], max_gap: float) -> list[Range]:
    """Merges ranges that are at most `max_gap` bytes apart, including the gaps."""
    found: list[Range] = []
    for begin, end in union(ranges):
        if found and begin - found[-1][1] <= max_gap:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found
