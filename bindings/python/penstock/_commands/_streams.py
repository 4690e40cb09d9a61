"""Standard input to an object, and objects to standard output."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ._transfers import Settings
from ._urls import S3Url

if TYPE_CHECKING:
    from .._client import S3Client

BLOCK = 1024**2
KEY_BLOCK = 16 * 1024**2  # bytes per request for objects with SSE-C
_OF_WRITER = {"storage_class", "content_type", "metadata"}  # attributes that streaming uploads have


def to_stdout(client: S3Client, url: S3Url, version_id: str | None = None, sse_customer_key: bytes | None = None) -> None:
    """Writes an object to standard output, in parallel parts of one version.

    The last bytes are written only if the whole object matches its checksum.
    """
    from .._streams import GetObjectStream, ObjectSource

    out = sys.stdout.buffer
    if sse_customer_key is not None:
        _to_stdout_with_key(client, url, version_id, sse_customer_key)
        return
    source = ObjectSource(url.bucket, url.key, version_id or "")
    for block in GetObjectStream(client.core, source, None, None, client.part_size, client.parallel_parts):
        out.write(block)
    out.flush()


def _to_stdout_with_key(client: S3Client, url: S3Url, version_id: str | None, key: bytes) -> None:
    head = client.head(url.bucket, url.key, version_id=version_id, sse_customer_key=key)
    for begin in range(0, head.size, KEY_BLOCK):
        got = client.get(
            url.bucket, url.key, range=(begin, min(begin + KEY_BLOCK, head.size)), version_id=version_id, if_match=head.etag,
            sse_customer_key=key,
        )  # fmt: skip
        sys.stdout.buffer.write(got.body)
    sys.stdout.buffer.flush()


def from_stdin(client: S3Client, url: S3Url, settings: Settings, expected_size: int | None) -> int:
    """Uploads standard input. Returns its size. The object is published at the end of the input, or not at all.

    Attributes that a streaming upload lacks need the input in a temporary file first.
    """
    attributes = settings.attributes
    if not attributes.keys() <= _OF_WRITER:
        return _from_file(client, url, settings)
    from .._put_stream import PutObjectStream
    from .._writer import S3Writer

    stream = PutObjectStream(
        client.core, url.bucket, url.key, attributes.get("storage_class"), client.part_size, None, client.parallel_parts,
        content_type=attributes.get("content_type"), metadata=attributes.get("metadata", ()),
        if_none_match=not settings.overwrite, size_hint=expected_size,
    )  # fmt: skip
    with S3Writer(stream) as writer:
        while block := os.read(sys.stdin.fileno(), BLOCK):
            writer.write(block)
        return writer.tell()


def _from_file(client: S3Client, url: S3Url, settings: Settings) -> int:
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="penstock-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, BLOCK)
        file.flush()
        done = client.upload_file(file.name, url.bucket, url.key, if_none_match=not settings.overwrite, **settings.attributes)
        return done.size
