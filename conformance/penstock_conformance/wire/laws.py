"""What every answer of S3 obeys, whatever was asked. Each law is checked on the answer of every case.

Sources: recordings of AWS (error envelope, request ids, absent bodies) and RFC 9110/9112 (Date, 204, 304, HEAD).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

from .connection import Answer
from .expectation import NAMESPACE, parse, texts


@dataclass(frozen=True)
class Law:
    """A rule for all answers. `broken_by` says how an answer breaks it; empty: it does not."""

    name: str
    provenance: str
    broken_by: Callable[[str, Answer], str]


def _date(_method: str, answer: Answer) -> str:
    date = answer.header("Date")
    return "" if date and re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", date) else f"Date is {date}"


def _request_ids(_method: str, answer: Answer) -> str:
    short, long = answer.header("x-amz-request-id"), answer.header("x-amz-id-2")
    if not short or not re.fullmatch("[0-9A-Z]{16}", short):
        return f"x-amz-request-id is {short}"
    return "" if long and re.fullmatch("[A-Za-z0-9+/=]{76,108}", long) else f"x-amz-id-2 is {long}"


def _server(_method: str, answer: Answer) -> str:
    return "" if answer.header("Server") == "AmazonS3" else f"Server is {answer.header('Server')}"


def _no_body(method: str, answer: Answer) -> str:
    if method != "HEAD" and answer.status not in (204, 304):
        return ""
    if answer.body:
        return f"{len(answer.body)} bytes of body"
    if answer.status == 204 and (answer.header("Content-Length") or answer.header("Content-Type")):
        return "a 204 with Content-Length or Content-Type"
    return ""


def _error_envelope(method: str, answer: Answer) -> str:
    if (answer.status < 400 and answer.status != 301) or method == "HEAD":
        return ""
    if answer.header("Content-Type") != "application/xml":
        return f"Content-Type is {answer.header('Content-Type')}"
    try:
        root = parse(answer.body)
    except ElementTree.ParseError:
        return f"the body is not XML: {answer.body[:80]!r}"
    names = [child.tag for child in root]
    if root.tag != "Error" or names[:2] != ["Code", "Message"] or names[-2:] != ["RequestId", "HostId"]:
        return f"<{root.tag}> with {names}"
    if "Resource" in names:
        return "a Resource element, which S3 no longer sends"
    if texts(root, "RequestId") != [answer.header("x-amz-request-id")] or texts(root, "HostId") != [answer.header("x-amz-id-2")]:
        return "RequestId or HostId differ from the headers"
    return ""


def _document(method: str, answer: Answer) -> str:
    if method == "HEAD" or answer.status != 200 or not answer.body.startswith(b"<?xml"):
        return ""
    if answer.header("Content-Type") != "application/xml":
        return ""  # an object that happens to be XML
    if not answer.body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n'):
        return f"the prolog is {answer.body[:60]!r}"
    root = parse(answer.body.strip())
    if root.tag == "Error":
        return ""  # 200 with an error inside
    return "" if root.tag.startswith(f"{{{NAMESPACE}}}") else f"the root is {root.tag}"


def _etags(_method: str, answer: Answer) -> str:
    etag = answer.header("ETag")
    return "" if etag is None or re.fullmatch(r'"[^"]+"', etag) else f"ETag is {etag}"


LAWS = (
    Law("every answer is dated", "rfc", _date),
    Law("every answer carries both request ids", "recorded", _request_ids),
    Law("Server is AmazonS3", "recorded", _server),
    Law("HEAD, 204 and 304 have no body", "rfc", _no_body),
    Law("errors have S3's envelope", "recorded", _error_envelope),
    Law("documents have S3's prolog and namespace", "documented", _document),
    Law("ETags are quoted", "documented", _etags),
)
