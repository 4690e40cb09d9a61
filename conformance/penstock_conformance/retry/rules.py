"""The table: for each kind of verb and of failure whether a client asks again, and what must come of it.

From S3's documentation and the SDKs' (their standard retry mode). "must": a failure that is over at the second request is mended,
and the caller hears nothing of it. "must not": there is one request, and the caller hears of the failure. "may": either.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

Retry = Literal["must", "may", "must not"]

# What a repetition of the verb does.
READ = "read"  # nothing
REPEATABLE = "repeatable"  # the same again
CONDITIONAL = "conditional"  # is refused where the first one was done: who asks again has to find out which it was
BEGINNING = "beginning"  # begins a second upload

# What a failure says.
NOT_DONE = "not done"
UNKNOWN = "done, and not said"
CUT = "said by half"
REFUSED = "refused"
UNDECIDED = "clients differ"


@dataclasses.dataclass(frozen=True)
class Verb:
    """A request of S3.

    Attributes:
        name: As in the table.
        operation: S3's name of it.
        kind: What its repetition does.
        body: It has one. answer: its answer has one.
        late: S3 may say 200 first and then that it failed.
        directory: Of directory buckets alone.
    """

    name: str
    operation: str
    kind: str
    body: bool = False
    answer: bool = False
    late: bool = False
    directory: bool = False


@dataclasses.dataclass(frozen=True)
class Failure:
    """What S3 does to a request, once."""

    name: str
    says: str
    do: dict[str, Any]
    about: str


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a client does about it.

    Attributes:
        retry: Whether it asks again.
        done: The caller is told that it is done. None: that, or the failure.
        why: Where that follows from.
    """

    retry: Retry
    done: bool | None
    why: str


VERBS = (
    Verb("GetObject", "GetObject", READ, answer=True),
    Verb("HeadObject", "HeadObject", READ),
    Verb("ListObjectsV2", "ListObjectsV2", READ, answer=True),
    Verb("PutObject", "PutObject", REPEATABLE, body=True),
    Verb("PutObject, If-None-Match", "PutObject", CONDITIONAL, body=True),
    Verb("PutObject, If-Match", "PutObject", CONDITIONAL, body=True),
    Verb("DeleteObject", "DeleteObject", REPEATABLE),
    Verb("DeleteObjects", "DeleteObjects", REPEATABLE, body=True, answer=True),
    Verb("CopyObject", "CopyObject", REPEATABLE, answer=True, late=True),
    Verb("CreateMultipartUpload", "CreateMultipartUpload", BEGINNING, answer=True),
    Verb("UploadPart", "UploadPart", REPEATABLE, body=True),
    Verb("UploadPartCopy", "UploadPartCopy", REPEATABLE, answer=True, late=True),
    Verb("CompleteMultipartUpload", "CompleteMultipartUpload", CONDITIONAL, body=True, answer=True, late=True),
    Verb("AbortMultipartUpload", "AbortMultipartUpload", CONDITIONAL),
    Verb("CreateSession", "CreateSession", READ, answer=True, directory=True),
    Verb("PutObject, append", "PutObject", CONDITIONAL, body=True, directory=True),
    Verb("RenameObject", "RenameObject", REPEATABLE, directory=True),
)


def _error(code: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, **more}}


FAILURES = (
    Failure("slow-down", NOT_DONE, {"slow_down": {}}, "503 SlowDown"),
    Failure("internal-error", NOT_DONE, _error("InternalError"), "500 InternalError"),
    Failure("service-unavailable", NOT_DONE, _error("ServiceUnavailable"), "503 ServiceUnavailable"),
    Failure("bad-gateway", NOT_DONE, _error("BadGateway", status=502, body="html"), "502 with a page of a proxy"),
    Failure("gateway-timeout", NOT_DONE, _error("GatewayTimeout", status=504, body="empty"), "504 without a body"),
    Failure("request-timeout", NOT_DONE, _error("RequestTimeout"), "400 RequestTimeout"),
    Failure("reset", NOT_DONE, {"reset": {}, "at": "headers"}, "RST before an answer"),
    Failure("reset-in-body", NOT_DONE, {"reset": {}, "at": "body_in@4"}, "RST in the request's body"),
    Failure("late-error", NOT_DONE, {"late_error": {"code": "InternalError"}}, "200, and InternalError in its body"),
    Failure("error-after", UNKNOWN, {**_error("InternalError"), "at": "after_commit"}, "done, and 500 InternalError"),
    Failure("ack-lost", UNKNOWN, {"reset": {}, "at": "after_commit"}, "done, and RST in place of an answer"),
    Failure("cut-answer", CUT, {"truncate": {"mode": "fin"}, "at": "body_out@5"}, "done, and FIN in the answer's body"),
    Failure("access-denied", REFUSED, _error("AccessDenied"), "403 AccessDenied"),
    Failure("no-such-bucket", REFUSED, _error("NoSuchBucket"), "404 NoSuchBucket"),
    Failure("invalid-argument", REFUSED, _error("InvalidArgument"), "400 InvalidArgument"),
    Failure("invalid-key", REFUSED, {"credentials": {"mode": "invalid-key"}}, "403 InvalidAccessKeyId"),
    Failure("too-many", UNDECIDED, _error("TooManyRequests", status=429), "429 TooManyRequests"),
    Failure("bad-digest", UNDECIDED, _error("BadDigest"), "400 BadDigest"),
    Failure("conflict", UNDECIDED, _error("OperationAborted"), "409 OperationAborted"),
    Failure("expired-token", UNDECIDED, {"credentials": {"mode": "expired"}}, "400 ExpiredToken"),
)

_TRANSIENT = "every SDK's standard mode retries 500, 502, 503, 504, RequestTimeout, throttling and lost connections"
_SAME_AGAIN = "as where nothing was done: the second request does the same again"
_LOOK = "the repetition may be refused (412, NoSuchUpload) because the first request was done: told as done, or as not known"
_SECOND = "a second upload begins; the first is nobody's, and a lifecycle rule's"
_BODY = "the SDKs' standard mode does not cover bodies that are streamed to the caller; a document is one of its own"
_NAMELESS = "an answer to HEAD has no body, and so a 400 no name: it may be another region's"
_SESSION = "the key is a session's: another session may be had, and what is asked with that is another request"
_FINAL = "the same request is refused again"
_DIFFER = "legacy modes retry BadDigest and 429, standard ones do not; tokens may be renewed; a conflict may be over"


def applies(verb: Verb, failure: Failure) -> bool:
    """Whether such a request can meet it."""
    if failure.name == "reset-in-body":
        return verb.body
    if failure.name == "late-error":
        return verb.late
    return failure.name != "cut-answer" or verb.answer


def rule(verb: Verb, failure: Failure) -> Rule:
    """What a client has to do where `failure` meets `verb` once."""
    if verb.name == "HeadObject" and failure.about.startswith("400"):
        return Rule("may", None, _NAMELESS)
    if verb.directory and verb.name != "CreateSession" and failure.name == "invalid-key":
        return Rule("may", None, _SESSION)
    if failure.says == NOT_DONE:
        return Rule("must", True, _TRANSIENT)
    if failure.says == REFUSED:
        return Rule("must not", False, _FINAL)
    if failure.says == UNDECIDED:
        return Rule("may", None, _DIFFER)
    if verb.kind == CONDITIONAL:
        return Rule("may", None, _LOOK)
    if failure.says == CUT:
        return Rule("may" if verb.name == "GetObject" else "must", None if verb.name == "GetObject" else True, _BODY)
    return Rule("must", True, _SECOND if verb.kind == BEGINNING else _SAME_AGAIN)


def words(expected: Rule) -> str:
    """As the published table has it."""
    return {"must": "must", "may": "may", "must not": "**not**"}[expected.retry]


def table() -> str:
    """The table in Markdown, as docs/retries.md has it: failures down, verbs across."""
    lines = [
        f"| Failure | {' | '.join(f'`{verb.name}`' for verb in VERBS)} |",
        "| --- |" + " --- |" * len(VERBS),
    ]
    for failure in FAILURES:
        cells = [words(rule(verb, failure)) if applies(verb, failure) else "" for verb in VERBS]
        lines.append(f"| {failure.about} | {' | '.join(cells)} |")
    return "\n".join(lines)
