"""Signs requests with botocore's signer, incorrectly if a case asks for it."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from .bodies import ChunkSigner

DAY = 86_400


@dataclass(frozen=True)
class Identity:
    """An access key ID and its secret key."""

    access_key: str
    secret_key: str = field(repr=False)


@dataclass
class Signed:
    """A signed request: target and headers to send, and the signer for its chunks."""

    target: str
    headers: list[tuple[str, str]]
    chunks: ChunkSigner | None = None


class _HeaderAuth(S3SigV4Auth):  # type: ignore[misc]  # botocore has no types
    """botocore's signer with a given payload hash and some headers excluded from the signature."""

    def __init__(self, credentials: Credentials, service: str, region: str, payload: str, unsigned: frozenset[str]) -> None:
        super().__init__(credentials, service, region)
        self._payload, self._unsigned = payload, unsigned

    def payload(self, request: AWSRequest) -> str:
        return self._payload

    def headers_to_sign(self, request: AWSRequest) -> Any:
        headers = super().headers_to_sign(request)
        for name in self._unsigned:
            del headers[name]
        return headers


def sign(
    method: str,
    endpoint: str,
    target: str,
    headers: list[tuple[str, str]],
    payload: str,
    auth: Mapping[str, Any],
    identity: Identity,
) -> Signed:
    """Signs a request.

    Args:
        method: HTTP method.
        endpoint: `http://host:port`.
        target: Path and query as sent.
        headers: Headers as sent, without authentication.
        payload: The value of `x-amz-content-sha256`.
        auth: The case's `auth`: `kind` (header, query, anonymous), `access_key`, `secret_key`, `region`, `service`, `token`,
            `date_offset_s`, `expires`, `unsigned` (header names), `signed_target`.
        identity: Credentials, unless `auth` has its own.
    """
    kind = auth.get("kind", "header")
    if kind == "anonymous":
        return Signed(target, headers)
    secret = auth.get("secret_key", identity.secret_key)
    credentials = Credentials(auth.get("access_key", identity.access_key), secret, auth.get("token"))
    region, service = auth["region"], auth.get("service", "s3")
    timestamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + auth.get("date_offset_s", 0)))
    request = AWSRequest(method, endpoint + auth.get("signed_target", target), {}, b"")
    for name, value in headers:
        if kind == "header" or name.lower() not in ("content-length", "expect"):
            request.headers.add_header(name, value)
    request.context["timestamp"] = timestamp
    signer: S3SigV4Auth | S3SigV4QueryAuth
    if kind == "query":
        signer = S3SigV4QueryAuth(credentials, service, region, expires=auth.get("expires", 3600))
    else:
        signer = _HeaderAuth(credentials, service, region, payload, frozenset(auth.get("unsigned", ["content-length"])))
    signer._modify_request_before_signing(request)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signature = signer.signature(text, request)
    signer._inject_signature_to_request(request, signature)
    if kind == "query":
        return Signed(_target_of(request.url), headers)
    authentication = ("x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "authorization")
    added = [(name, value) for name, value in request.headers.items() if name.lower() in authentication]
    sent = [pair for pair in headers if pair[0].lower() not in authentication]
    key = _signing_key(secret, timestamp[:8], region, service)
    scope = f"{timestamp[:8]}/{region}/{service}/aws4_request"
    return Signed(target, sent + added, ChunkSigner(key, timestamp, scope, signature))


def _target_of(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + ("?" + parts.query if parts.query else "")


def _signing_key(secret: str, *scope: str) -> bytes:
    key = ("AWS4" + secret).encode()
    for word in (*scope, "aws4_request"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    return key
