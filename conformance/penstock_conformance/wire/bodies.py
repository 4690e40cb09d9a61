"""Request bodies of cases: text, repeated bytes, base64, and signed aws-chunked framing."""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class ChunkSigner:
    """The values of the request signature that chunk signatures depend on."""

    key: bytes
    timestamp: str
    scope: str
    seed: str


def plain(spec: Any) -> bytes:
    """Builds a body without chunk signatures.

    Args:
        spec: A string, None, `{"base64": text}`, `{"repeat": text, "times": n, "then": text}`, or a list of these.
    """
    if spec is None:
        return b""
    if isinstance(spec, str):
        return spec.encode()
    if isinstance(spec, list):
        return b"".join(map(plain, spec))
    if "base64" in spec:
        return base64.b64decode(spec["base64"])
    if "repeat" in spec:
        return bytes(spec["repeat"].encode() * spec["times"] + spec.get("then", "").encode())
    raise ValueError(f"invalid body {spec}: expected a string, null, a list, or an object with base64 or repeat")


def is_signed_chunks(spec: Any) -> bool:
    """Whether the body has chunk signatures, which depend on the request signature."""
    return isinstance(spec, dict) and "signed_chunks" in spec


def signed_chunks_size(spec: Mapping[str, Any]) -> int:
    """Length of the framed body in bytes. It does not depend on the signatures, which have a fixed length."""
    return len(signed_chunks(spec, ChunkSigner(b"", "", "", "0" * 64)))


def signed_chunks(spec: Mapping[str, Any], signer: ChunkSigner) -> bytes:
    """Builds an aws-chunked body with a signature per chunk.

    Args:
        spec: `signed_chunks`: the data of the chunks; `trailer`: lines `name:value` after the last chunk; `break`: the signature
            to corrupt, "chunk N" (from 1) or "trailer"; `sign_trailer`: false omits the signature of the trailer.
        signer: Signature and key of the request.
    """
    broken = spec.get("break", "")
    framed, previous = bytearray(), signer.seed
    for number, data in enumerate([*map(plain, spec["signed_chunks"]), b""], 1):
        text = [signer.timestamp, signer.scope, previous, EMPTY_SHA256, hashlib.sha256(data).hexdigest()]
        previous = _mac(signer.key, "AWS4-HMAC-SHA256-PAYLOAD", text)
        sent = _spoil(previous) if broken == f"chunk {number}" else previous
        framed += f"{len(data):x};chunk-signature={sent}\r\n".encode() + data
        if data or "trailer" not in spec:
            framed += b"\r\n"
    if "trailer" in spec:
        lines = spec["trailer"]
        block = "".join(f"{line}\n" for line in lines).encode()
        text = [signer.timestamp, signer.scope, previous, hashlib.sha256(block).hexdigest()]
        signature = _mac(signer.key, "AWS4-HMAC-SHA256-TRAILER", text)
        framed += b"".join(f"{line}\r\n".encode() for line in lines)
        if spec.get("sign_trailer", True):
            framed += f"x-amz-trailer-signature:{_spoil(signature) if broken == 'trailer' else signature}\r\n".encode()
        framed += b"\r\n"
    return bytes(framed)


def digests(body: bytes) -> dict[str, str]:
    """Digests of the body that a case can use in headers, such as `${body_md5}` (base64) and `${body_sha256}` (hex)."""
    return {
        "body_md5": base64.b64encode(hashlib.md5(body).digest()).decode(),
        "body_md5_hex": hashlib.md5(body).hexdigest(),
        "body_sha1": base64.b64encode(hashlib.sha1(body).digest()).decode(),
        "body_sha256": hashlib.sha256(body).hexdigest(),
        "body_sha256_base64": base64.b64encode(hashlib.sha256(body).digest()).decode(),
        "body_crc32": base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode(),
        "body_length": str(len(body)),
    }


def _mac(key: bytes, algorithm: str, lines: list[str]) -> str:
    return hmac.new(key, "\n".join([algorithm, *lines]).encode(), hashlib.sha256).hexdigest()


def _spoil(signature: str) -> str:
    return ("1" if signature[0] == "0" else "0") + signature[1:]
