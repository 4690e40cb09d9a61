"""Builds the bytes of a case's request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import bodies, forms, signing
from .template import fill_all


@dataclass(frozen=True)
class Target:
    """The endpoint, and the credentials for requests to it.

    `second`: credentials of another account, for the cases that need them.
    """

    endpoint: str
    host: str
    region: str
    identity: signing.Identity
    second: signing.Identity | None = None


def build(spec: Mapping[str, Any], values: Mapping[str, str], target: Target) -> tuple[str, bytes, bytes]:
    """Returns method, head and body of a request.

    Args:
        spec: A `request` of the case format, with its `${name}` references.
        values: Values of the references.
        target: The endpoint.
    """
    spec = dict(spec)
    body_spec = fill_all(spec.pop("body", None), {**values, "filename": "${filename}"})  # S3 replaces ${filename}
    chunked = bodies.is_signed_chunks(body_spec)
    if forms.is_form(body_spec):
        body = forms.form(body_spec["form"], target.identity, target.region)
    else:
        body = b"" if chunked else bodies.plain(body_spec)
    filled = fill_all(spec, {**values, **bodies.digests(body)})
    auth = {"region": target.region, **filled.get("auth", {})}
    identity = target.second if auth.get("as") == "second" and target.second else target.identity
    headers = [("Host", filled.get("host", target.host)), *pairs(filled.get("headers", {}))]
    length = bodies.signed_chunks_size(body_spec) if chunked else len(body)
    _add_framing(filled, headers, length)
    query = filled.get("query")
    wire_target: str = filled["path"] + ("" if query is None else "?" + query)
    payload = auth.get("payload", hashlib.sha256(body).hexdigest())
    signed = signing.sign(filled["method"], target.endpoint, wire_target, headers, payload, auth, identity)
    if chunked:
        if signed.chunks is None:
            raise ValueError("signed_chunks need header authentication")
        body = bodies.signed_chunks(body_spec, signed.chunks)
    wire_target, sent, body = _tamper(filled.get("tamper", []), signed.target, signed.headers, body)
    if filled.get("transfer") == "chunked":
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
    lines = [f"{filled['method']} {wire_target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent)]
    return filled["method"], "\r\n".join(lines).encode() + b"\r\n\r\n", body


def pairs(headers: Any) -> list[tuple[str, str]]:
    """Returns headers as pairs. A case has them as an object or as a list of pairs."""
    return [(name, value) for name, value in (headers.items() if isinstance(headers, dict) else headers)]


def _add_framing(spec: Mapping[str, Any], headers: list[tuple[str, str]], length: int) -> None:
    if spec.get("transfer") == "chunked":
        headers.append(("Transfer-Encoding", "chunked"))
        return
    declared = spec.get("content_length", length if length or spec["method"] in ("PUT", "POST") else None)
    if declared is not None:
        headers.append(("Content-Length", str(declared)))


def _tamper(
    changes: list[Mapping[str, Any]], target: str, headers: list[tuple[str, str]], body: bytes
) -> tuple[str, list[tuple[str, str]], bytes]:
    """Applies changes to a signed request.

    `in` of a change is "target", "body" or "header NAME". The change has `find` (a regular expression) and `replace`; for a
    header it may have `"remove": true` or `add` (a value) instead.
    """
    for change in changes:
        place = change["in"]
        if place == "target":
            target = re.sub(change["find"], change["replace"], target, count=1)
        elif place == "body":
            body = re.sub(change["find"].encode(), change["replace"].encode(), body, count=1)
        else:
            name = place.removeprefix("header ").lower()
            if change.get("remove"):
                headers = [pair for pair in headers if pair[0].lower() != name]
            elif "add" in change:
                headers = [*headers, (place.removeprefix("header "), change["add"])]
            else:
                headers = [
                    (key, re.sub(change["find"], change["replace"], value, count=1) if key.lower() == name else value)
                    for key, value in headers
                ]
    return target, headers, body
