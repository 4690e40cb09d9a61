"""Entries and reports of a journal, and the filters that select entries."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict


class Filter(TypedDict, total=False):
    """Selects entries that match all given members; without members, every entry."""

    #: One of these operations, such as "GetObject".
    operations: str | Sequence[str]
    bucket: str
    key: str
    key_prefix: str
    method: str
    access_key: str
    #: The SDKs' amz-sdk-invocation-id.
    invocation: str
    #: The id of a fault rule that fired.
    fault: str
    connection: int
    #: The rank that the client sent.
    rank: int
    #: A status such as 503, a class such as 5 for 500 to 599, or 0: there was no response.
    status: int
    #: True: attempts after the first. False: first attempts.
    retried: bool
    #: Entries with a larger number.
    after: int


@dataclasses.dataclass(frozen=True)
class Decision:
    """A decision about one action of a request."""

    #: For example "s3:GetObject".
    action: str
    #: An ARN.
    resource: str
    allowed: bool
    #: "account-root", "identity-policy", "resource-policy", "acl", "initiator", "permissions-boundary", "session-policy" or
    #: "none".
    decided_by: str
    #: Of the statement that decided: "Allow" or "Deny". Empty: no statement did.
    effect: str = ""
    #: The name of the statement's policy.
    policy: str = ""
    #: The index of the statement, from 0; None: no statement decided.
    statement: int | None = None
    sid: str = ""
    #: Of a denial without a statement, as in S3's error message.
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Signature:
    """How a request was signed."""

    #: "v4" (header), "v4-query" (presigned URL), "v4-chunked" (the chunks of the body too), "v4-form", "v2", "v2-query" or
    #: "v2-form".
    version: str
    #: "invalid": authentication refused the request. "unverified": the emulator does not check signatures (`auth`).
    verdict: Literal["valid", "invalid", "unverified"]


@dataclasses.dataclass(frozen=True)
class JournalEntry:
    """One request. Times in seconds, sizes in bytes."""

    #: 1, 2, ... in the order in which requests ended.
    number: int
    #: Time at which the request head was complete, by the namespace's clock.
    received: datetime
    #: Start in seconds since the journal began, by the machine's monotonic clock.
    began_s: float
    #: Seconds from the start until the response was sent.
    lasted_s: float
    connection: int
    #: Earlier requests on the same connection.
    requests_before: int
    tls: bool
    #: The client's address, "127.0.0.1:54321".
    peer: str
    method: str
    #: The target of the request line; signatures and tokens are replaced by "***".
    target: str
    #: For example "GetObject"; empty: not an S3 operation.
    operation: str
    bucket: str
    key: str
    status: int
    #: "broken": the connection ended before the complete response was sent.
    ending: Literal["answered", "broken"]
    #: Body bytes on the wire. If an error response was sent before the request body was read: the bytes received by then.
    bytes_in: int
    bytes_out: int
    #: Empty: unsigned, or refused before the access key was known.
    access_key: str
    request_id: str
    #: The attempt number that the client sent; 1 if it sent none.
    attempt: int = 1
    #: The object's bytes [begin, end) in the response; None: not a read of an object's bytes.
    range: tuple[int, int] | None = None
    #: Of the process in its job, as the client sent it: ``x-penstock-rank``, or ``rank/N`` in `user_agent`. None: not sent.
    rank: int | None = None
    invocation: str = ""
    user_agent: str = ""
    #: S3's error code, such as "NoSuchKey".
    error_code: str = ""
    #: The ids of the fault rules that fired.
    faults: tuple[str, ...] = ()
    #: Checksums that the request sent: values by the name of the header or trailer.
    checksums: dict[str, str] = dataclasses.field(default_factory=dict)
    #: "signed", "unsigned" or "STREAMING-..."; empty: not given in the request.
    payload: str = ""
    #: Decisions about the request's permissions. Empty: the account's root used a bucket without a policy and ACLs, the
    #: request was refused before, or authorization is off. Of many keys, the first decisions, and denials.
    decisions: tuple[Decision, ...] = ()
    #: None: unsigned, or refused before the signature was looked at.
    signature: Signature | None = None
    #: Names and values as sent, secrets replaced by "***". Only with `Journal.capture_headers`; at most 8 KiB of both.
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()
    #: Headers of both that did not fit.
    headers_left_out: int = 0

    def __str__(self) -> str:
        parts = [f"#{self.number} at {self.began_s:.3f} s:", self.method, self.target, "->", str(self.status)]
        parts += [self.error_code] if self.error_code else []
        parts += [f"bytes {self.range[0]}-{self.range[1]}"] if self.range else []
        parts.append(f"({self.operation or 'no operation'}, attempt {self.attempt}, {self.lasted_s * 1e3:.1f} ms")
        parts[-1] += f", in {self.bytes_in} B, out {self.bytes_out} B, connection {self.connection}"
        parts[-1] += f", faults {', '.join(self.faults)}" if self.faults else ""
        denials = [f"{each.action} by {each.decided_by}" for each in self.decisions if not each.allowed]
        parts[-1] += f", denied {', '.join(denials)}" if denials else ""
        parts[-1] += ", broken)" if self.ending == "broken" else ")"
        return " ".join(parts)


@dataclasses.dataclass(frozen=True)
class RangeGroup:
    """The successful reads of one object by one connection, peer, access key, user agent or rank."""

    #: The connection's number, the peer's address without its port, the access key id, the user agent or the rank.
    value: str
    requests: int
    #: The union of the ranges of the group's reads.
    ranges: list[tuple[int, int]]
    #: Bytes fetched twice count twice.
    fetched_bytes: int
    #: Bytes that the group fetched again.
    overlap_bytes: int
    #: The start of the first read and the end of the last one, as `JournalEntry.began_s`.
    first_s: float
    last_s: float


@dataclasses.dataclass(frozen=True)
class ObjectUse:
    """The requests for one object, with any outcome."""

    bucket: str
    key: str
    reads: int
    writes: int
    #: Bytes of bodies on the wire.
    bytes_out: int
    bytes_in: int
    #: Requests with status 400 or above, or without a complete response.
    errors: int


@dataclasses.dataclass(frozen=True)
class RangeReport:
    """The bytes of one object that successful reads fetched. Ranges are half-open: (begin, end)."""

    #: The range of each read, sorted by begin; for a broken response, the part that was sent.
    fetched: list[tuple[int, int]]
    #: The union of `fetched`.
    covered: list[tuple[int, int]]
    #: Bytes fetched twice count twice.
    fetched_bytes: int
    covered_bytes: int
    #: `fetched_bytes` minus `covered_bytes`.
    overlap_bytes: int
    #: Wanted ranges that were not fetched; empty if no wanted ranges were given.
    missing: list[tuple[int, int]]
    #: Bytes fetched outside the wanted ranges; 0 if no wanted ranges were given.
    over_read_bytes: int
    #: Dropped entries in the queried span; they may have included reads of the object.
    dropped: int = 0
    #: With `by`: the same reads by group, most fetched bytes first, at most 1000 groups.
    groups: list[RangeGroup] = dataclasses.field(default_factory=list)
    #: Groups above that limit.
    groups_dropped: int = 0


@dataclasses.dataclass(frozen=True)
class Retry:
    """An invocation with more than one request: the number, status and start of each, in the order in which they ended."""

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
    fields["decisions"] = tuple(Decision(**decision) for decision in fields.get("decisions", ()))
    if "signature" in fields:
        fields["signature"] = Signature(**fields["signature"])
    for name in ("request_headers", "response_headers"):
        fields[name] = tuple((header, value) for header, value in fields.get(name, ()))
    return JournalEntry(**fields)


def filter_document(given: Filter) -> dict[str, Any]:
    document: dict[str, Any] = dict(given)
    if "operations" in document:
        operations = document["operations"]
        document["operations"] = [operations] if isinstance(operations, str) else list(operations)
    return document
