"""The retry table: for each verb and failure, whether a client retries, and what it reports to the caller.

Source: the documentation of S3 and of the standard retry mode of the AWS SDKs. "must": the client retries, and the call succeeds
if the second request does. "must not": the client sends one request and reports the failure. "may": either.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

Retry = Literal["must", "may", "must not"]

# The effect of repeating a request.
READ = "read"  # none
REPEATABLE = "repeatable"  # the same result
CONDITIONAL = "conditional"  # the repetition fails if the first request succeeded; the client must find out which it was
CREATING = "creating"  # a second upload

# What a failure means.
NOT_DONE = "not executed"
UNKNOWN = "executed, not acknowledged"
CUT = "executed, response truncated"
REFUSED = "rejected"
UNDECIDED = "clients differ"


@dataclasses.dataclass(frozen=True)
class Verb:
    """A kind of request.

    Attributes:
        name: Name in the table.
        operation: S3 operation.
        kind: Effect of repeating the request.
        request_body: Whether the request has a body.
        response_body: Whether the response has a body.
        late: Whether S3 can return status 200 with an error in the body.
        directory: Whether the request is for directory buckets only.
    """

    name: str
    operation: str
    kind: str
    request_body: bool = False
    response_body: bool = False
    late: bool = False
    directory: bool = False


@dataclasses.dataclass(frozen=True)
class Failure:
    """A failure that the emulator injects once.

    Attributes:
        name: Id of the fault rule.
        means: What the failure means for the request.
        do: Action of the fault rule (docs/reference/faults.md).
        about: Name in the table.
    """

    name: str
    means: str
    do: dict[str, Any]
    about: str


@dataclasses.dataclass(frozen=True)
class Rule:
    """The required behaviour of a client.

    Attributes:
        retry: Whether the client retries.
        done: Whether the call succeeds. None: either.
        why: The reason.
    """

    retry: Retry
    done: bool | None
    why: str


VERBS = (
    Verb("GetObject", "GetObject", READ, response_body=True),
    Verb("HeadObject", "HeadObject", READ),
    Verb("ListObjectsV2", "ListObjectsV2", READ, response_body=True),
    Verb("PutObject", "PutObject", REPEATABLE, request_body=True),
    Verb("PutObject, If-None-Match", "PutObject", CONDITIONAL, request_body=True),
    Verb("PutObject, If-Match", "PutObject", CONDITIONAL, request_body=True),
    Verb("DeleteObject", "DeleteObject", REPEATABLE),
    Verb("DeleteObjects", "DeleteObjects", REPEATABLE, request_body=True, response_body=True),
    Verb("CopyObject", "CopyObject", REPEATABLE, response_body=True, late=True),
    Verb("CreateMultipartUpload", "CreateMultipartUpload", CREATING, response_body=True),
    Verb("UploadPart", "UploadPart", REPEATABLE, request_body=True),
    Verb("UploadPartCopy", "UploadPartCopy", REPEATABLE, response_body=True, late=True),
    Verb("CompleteMultipartUpload", "CompleteMultipartUpload", CONDITIONAL, request_body=True, response_body=True, late=True),
    Verb("AbortMultipartUpload", "AbortMultipartUpload", CONDITIONAL),
    Verb("CreateSession", "CreateSession", READ, response_body=True, directory=True),
    Verb("PutObject, append", "PutObject", CONDITIONAL, request_body=True, directory=True),
    Verb("RenameObject", "RenameObject", REPEATABLE, directory=True),
)


def _error(code: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, **more}}


FAILURES = (
    Failure("slow-down", NOT_DONE, {"slow_down": {}}, "503 SlowDown"),
    Failure("internal-error", NOT_DONE, _error("InternalError"), "500 InternalError"),
    Failure("service-unavailable", NOT_DONE, _error("ServiceUnavailable"), "503 ServiceUnavailable"),
    Failure("bad-gateway", NOT_DONE, _error("BadGateway", status=502, body="html"), "502 with HTML body"),
    Failure("gateway-timeout", NOT_DONE, _error("GatewayTimeout", status=504, body="empty"), "504 without body"),
    Failure("request-timeout", NOT_DONE, _error("RequestTimeout"), "400 RequestTimeout"),
    Failure("reset", NOT_DONE, {"reset": {}, "at": "headers"}, "RST before the response"),
    Failure("reset-in-body", NOT_DONE, {"reset": {}, "at": "body_in@4"}, "RST in the request body"),
    Failure("late-error", NOT_DONE, {"late_error": {"code": "InternalError"}}, "200 with InternalError in the body"),
    Failure("error-after", UNKNOWN, {**_error("InternalError"), "at": "after_commit"}, "executed, 500 InternalError"),
    Failure("ack-lost", UNKNOWN, {"reset": {}, "at": "after_commit"}, "executed, RST before the response"),
    Failure("cut-answer", CUT, {"truncate": {"mode": "fin"}, "at": "body_out@5"}, "executed, FIN in the response body"),
    Failure("access-denied", REFUSED, _error("AccessDenied"), "403 AccessDenied"),
    Failure("no-such-bucket", REFUSED, _error("NoSuchBucket"), "404 NoSuchBucket"),
    Failure("invalid-argument", REFUSED, _error("InvalidArgument"), "400 InvalidArgument"),
    Failure("invalid-key", REFUSED, {"credentials": {"mode": "invalid-key"}}, "403 InvalidAccessKeyId"),
    Failure("too-many", UNDECIDED, _error("TooManyRequests", status=429), "429 TooManyRequests"),
    Failure("bad-digest", UNDECIDED, _error("BadDigest"), "400 BadDigest"),
    Failure("conflict", UNDECIDED, _error("OperationAborted"), "409 OperationAborted"),
    Failure("expired-token", UNDECIDED, {"credentials": {"mode": "expired"}}, "400 ExpiredToken"),
)

_TRANSIENT = "the standard retry mode retries 500, 502, 503, 504, RequestTimeout, throttling and lost connections"
_SAME_AGAIN = "repeating the request has the same result"
_LOOK = "the repetition fails (412, NoSuchUpload) if the first request was executed; the result is success or unknown"
_SECOND = "the repetition creates a second upload; a lifecycle rule removes the first"
_BODY = "the standard retry mode covers XML responses, but not bodies that are streamed to the caller"
_NAMELESS = "a response to HEAD has no error code: a 400 can mean that the bucket is in another region"
_SESSION = "the credentials belong to a session; a request with those of a new session can succeed"
_FINAL = "the repetition is rejected too"
_DIFFER = "legacy retry modes retry BadDigest and 429, standard modes do not; tokens can be renewed; conflicts can end"


def applies(verb: Verb, failure: Failure) -> bool:
    """Whether the failure can occur with such a request."""
    if failure.name == "reset-in-body":
        return verb.request_body
    if failure.name == "late-error":
        return verb.late
    return failure.name != "cut-answer" or verb.response_body


def rule(verb: Verb, failure: Failure) -> Rule:
    """The required behaviour when `failure` occurs once at a request `verb`."""
    if verb.name == "HeadObject" and failure.about.startswith("400"):
        return Rule("may", None, _NAMELESS)
    if verb.directory and verb.name != "CreateSession" and failure.name == "invalid-key":
        return Rule("may", None, _SESSION)
    if failure.means == NOT_DONE:
        return Rule("must", True, _TRANSIENT)
    if failure.means == REFUSED:
        return Rule("must not", False, _FINAL)
    if failure.means == UNDECIDED:
        return Rule("may", None, _DIFFER)
    if verb.kind == CONDITIONAL:
        return Rule("may", None, _LOOK)
    if failure.means == CUT:
        return Rule("may" if verb.name == "GetObject" else "must", None if verb.name == "GetObject" else True, _BODY)
    return Rule("must", True, _SECOND if verb.kind == CREATING else _SAME_AGAIN)


def words(expected: Rule) -> str:
    """The cell of the published table."""
    return {"must": "must", "may": "may", "must not": "**not**"}[expected.retry]


def table() -> str:
    """The Markdown table of docs/reference/retries.md: a row per failure, a column per verb."""
    lines = [
        f"| Failure | {' | '.join(f'`{verb.name}`' for verb in VERBS)} |",
        "| --- |" + " --- |" * len(VERBS),
    ]
    for failure in FAILURES:
        cells = [words(rule(verb, failure)) if applies(verb, failure) else "" for verb in VERBS]
        lines.append(f"| {failure.about} | {' | '.join(cells)} |")
    return "\n".join(lines)
