"""Properties of all S3 responses. Each law is checked on the response of every case.

Sources: recordings of AWS (error envelope, request ids, absent bodies) and RFC 9110/9112 (Date, 204, 304, HEAD).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

from .connection import Response
from .expectation import NAMESPACE, parse, texts


@dataclass(frozen=True)
class Law:
    """A property of all responses. `broken_by` returns how a response violates it; empty if it does not."""

    name: str
    provenance: str
    broken_by: Callable[[str, Response], str]


def _date(_method: str, response: Response) -> str:
    date = response.header("Date")
    return "" if date and re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", date) else f"Date is {date}"


def _request_ids(_method: str, response: Response) -> str:
    short, long = response.header("x-amz-request-id"), response.header("x-amz-id-2")
    if not short or not re.fullmatch("[0-9A-Z]{16}", short):
        return f"x-amz-request-id is {short}"
    return "" if long and re.fullmatch("[A-Za-z0-9+/=]{76,108}", long) else f"x-amz-id-2 is {long}"


def _server(_method: str, response: Response) -> str:
    return "" if response.header("Server") == "AmazonS3" else f"Server is {response.header('Server')}"


def _no_body(method: str, response: Response) -> str:
    if method != "HEAD" and response.status not in (204, 304):
        return ""
    if response.body:
        return f"{len(response.body)} bytes of body"
    if response.status == 204 and (response.header("Content-Length") or response.header("Content-Type")):
        return "a 204 with Content-Length or Content-Type"
    return ""


def _error_envelope(method: str, response: Response) -> str:
    if (response.status < 400 and response.status != 301) or method == "HEAD":
        return ""
    if response.header("Content-Type") != "application/xml":
        return f"Content-Type is {response.header('Content-Type')}"
    try:
        root = parse(response.body)
    except ElementTree.ParseError:
        return f"the body is not XML: {response.body[:80]!r}"
    names = [child.tag for child in root]
    if root.tag != "Error" or names[:2] != ["Code", "Message"] or names[-2:] != ["RequestId", "HostId"]:
        return f"<{root.tag}> with {names}"
    if "Resource" in names:
        return "a Resource element, which S3 no longer sends"
    if texts(root, "RequestId") != [response.header("x-amz-request-id")] or texts(root, "HostId") != [
        response.header("x-amz-id-2")
    ]:
        return "RequestId or HostId differ from the headers"
    return ""


def _document(method: str, response: Response) -> str:
    if method == "HEAD" or response.status != 200 or not response.body.startswith(b"<?xml"):
        return ""
    if response.header("Content-Type") != "application/xml":
        return ""  # an object whose content is XML
    if not response.body.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n'):
        return f"the prolog is {response.body[:60]!r}"
    root = parse(response.body.strip())
    if root.tag == "Error":
        return ""  # status 200 with an error in the body
    return "" if root.tag.startswith(f"{{{NAMESPACE}}}") else f"the root is {root.tag}"


def _etags(_method: str, response: Response) -> str:
    etag = response.header("ETag")
    return "" if etag is None or re.fullmatch(r'"[^"]+"', etag) else f"ETag is {etag}"


LAWS = (
    Law("every response has a Date", "rfc", _date),
    Law("every response has both request ids", "recorded", _request_ids),
    Law("Server is AmazonS3", "recorded", _server),
    Law("HEAD, 204 and 304 have no body", "rfc", _no_body),
    Law("errors have S3's envelope", "recorded", _error_envelope),
    Law("documents have S3's prolog and namespace", "documented", _document),
    Law("ETags are quoted", "documented", _etags),
)
