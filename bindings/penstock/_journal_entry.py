"""What a journal gives: requests, and answers about them; and the filters that choose."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict


class Filter(TypedDict, total=False):
    """Which entries. What is given must all hold; nothing given: every entry."""

    #: Any of these, such as "GetObject".
    operations: str | Sequence[str]
    bucket: str
    key: str
    key_prefix: str
    method: str
    access_key: str
    #: The SDKs' amz-sdk-invocation-id.
    invocation: str
    #: Id of a fault rule that fired.
    fault: str
    connection: int
    #: 503; a class: 5 for 500 to 599; 0: no answer was made.
    status: int
    #: Attempts beyond the first, or (False) first ones.
    retried: bool
    #: Entries behind this number.
    after: int


@dataclasses.dataclass(frozen=True)
class JournalEntry:
    """One request. Times in seconds, sizes in bytes."""

    #: From 1 on, in the order in which requests ended.
    number: int
    #: When its head was there, by the namespace's clock.
    received: datetime
    #: Since the journal began, by the machine's monotonic clock.
    began_s: float
    #: Until its answer had left.
    lasted_s: float
    connection: int
    #: On the same connection, before this one.
    requests_before: int
    tls: bool
    #: The client's address, "127.0.0.1:54321".
    peer: str
    method: str
    #: As on the request line; "***" in place of signatures and tokens.
    target: str
    #: "GetObject"; empty: none of S3's.
    operation: str
    bucket: str
    key: str
    status: int
    #: "broken": the connection ended before the whole answer had left.
    ending: Literal["answered", "broken"]
    #: Of the bodies, as they were on the wire. A refusal may leave before its request's body was read: what was by then.
    bytes_in: int
    bytes_out: int
    #: Empty: unsigned, or refused before it was known.
    access_key: str
    request_id: str
    #: As the client says; 1 where it says nothing.
    attempt: int = 1
    #: Bytes of the object that the answer carries, the end behind the last one; None: not a read of an object's bytes.
    range: tuple[int, int] | None = None
    invocation: str = ""
    user_agent: str = ""
    #: "NoSuchKey".
    error_code: str = ""
    #: Ids of the rules that fired.
    faults: tuple[str, ...] = ()
    #: What the request sent: name of the header or trailer to its value.
    checksums: dict[str, str] = dataclasses.field(default_factory=dict)
    #: "signed", "unsigned" or "STREAMING-..."; empty: the request does not say.
    payload: str = ""

    def __str__(self) -> str:
        said = [f"#{self.number} at {self.began_s:.3f} s:", self.method, self.target, "->", str(self.status)]
        said += [self.error_code] if self.error_code else []
        said += [f"bytes {self.range[0]}-{self.range[1]}"] if self.range else []
        said.append(f"({self.operation or 'no operation'}, attempt {self.attempt}, {self.lasted_s * 1e3:.1f} ms")
        said[-1] += f", in {self.bytes_in} B, out {self.bytes_out} B, connection {self.connection}"
        said[-1] += f", faults {', '.join(self.faults)}" if self.faults else ""
        said[-1] += ", broken)" if self.ending == "broken" else ")"
        return " ".join(said)


@dataclasses.dataclass(frozen=True)
class RangeReport:
    """What successful reads of one object fetched. Ranges are (begin, end), the end behind the last byte."""

    #: Each, in order of their beginnings; of a broken answer what had left.
    fetched: list[tuple[int, int]]
    #: Their union.
    covered: list[tuple[int, int]]
    #: Bytes fetched twice count twice.
    fetched_bytes: int
    covered_bytes: int
    #: `fetched_bytes` less `covered_bytes`.
    overlap_bytes: int
    #: Wanted and not covered; empty where nothing was said to be wanted.
    missing: list[tuple[int, int]]
    #: Covered and not wanted; 0 where nothing was said to be wanted.
    over_read_bytes: int
    #: Entries of the asked span that the journal had to drop: reads of the object may have been among them.
    dropped: int = 0


@dataclasses.dataclass(frozen=True)
class Retry:
    """An invocation of more than one request; of each of these its number, status and beginning, as they ended."""

    invocation: str
    entries: list[int]
    statuses: list[int]
    #: As `JournalEntry.began_s`.
    began_s: list[float]


def entry_of(document: dict[str, Any]) -> JournalEntry:
    fields = dict(document)
    fields["received"] = datetime.fromisoformat(fields["received"].replace("Z", "+00:00"))
    if "range" in fields:
        fields["range"] = tuple(fields["range"])
    fields["faults"] = tuple(filter(None, fields.get("faults", "").split(",")))
    pairs = (pair.partition("=") for pair in fields.get("checksums", "").split(",") if pair)
    fields["checksums"] = {name: value for name, _, value in pairs}
    return JournalEntry(**fields)


def filter_document(given: Filter) -> dict[str, Any]:
    document: dict[str, Any] = dict(given)
    if "operations" in document:
        operations = document["operations"]
        document["operations"] = [operations] if isinstance(operations, str) else list(operations)
    return document
