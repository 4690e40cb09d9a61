"""S3's four listings of the reference model: the entries of a page, and the marker of the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from s3_reference import Bucket, Upload, Version

CAP = 1000


@dataclass
class Page:
    """A page: entries in order (the items, or common prefixes as text), and whether more follow."""

    entries: list[Any] = field(default_factory=list)
    truncated: bool = False

    @property
    def prefixes(self) -> list[str]:
        """The common prefixes."""
        return [entry for entry in self.entries if isinstance(entry, str)]

    @property
    def items(self) -> list[Any]:
        """Everything else."""
        return [entry for entry in self.entries if not isinstance(entry, str)]


@dataclass
class Query:
    """The parameters of a listing. `marker` is exclusive; `minor` (a version or upload id) belongs to the key `marker`."""

    prefix: str = ""
    delimiter: str = ""
    marker: str = ""
    minor: str = ""
    limit: int = CAP


def page(rows: list[tuple[str, str, Any]], query: Query) -> Page:
    """The page for `query`.

    Args:
        rows: (key, minor id, item) of everything, keys in UTF-8 order.
        query: The query.
    """
    found = Page()
    seen_minor = False
    for key, minor, item in rows:
        if not key.startswith(query.prefix):
            continue
        folded = _fold(key, query)
        if query.minor and folded is None and key == query.marker:
            if not seen_minor:
                seen_minor = minor == query.minor
                continue
        elif query.marker and (folded or key).encode() <= query.marker.encode():
            continue
        if folded is not None and found.entries and found.entries[-1] == folded:
            continue
        if len(found.entries) >= min(query.limit, CAP):
            found.truncated = query.limit > 0
            break
        found.entries.append(folded if folded is not None else item)
    return found


def objects(bucket: Bucket, query: Query) -> Page:
    """ListObjects and ListObjectsV2. Items: (key, version)."""
    rows: list[tuple[str, str, Any]] = []
    for key in _sorted(bucket):
        current = bucket.current(key)
        if current is not None:
            rows.append((key, "", (key, current)))
    return page(rows, query)


def versions(bucket: Bucket, query: Query) -> Page:
    """ListObjectVersions. Items: (key, version, whether it is the latest)."""
    rows: list[tuple[str, str, Any]] = []
    for key in _sorted(bucket):
        rows += [(key, version.id, (key, version, index == 0)) for index, version in enumerate(bucket.keys[key])]
    return page(rows, query)


def uploads(bucket: Bucket, query: Query) -> Page:
    """ListMultipartUploads. Items: uploads by key, then by initiation."""
    ordered: list[Upload] = sorted(bucket.uploads, key=lambda upload: upload.key.encode())
    return page([(upload.key, upload.id, upload) for upload in ordered], query)


def last(entry: str | tuple[str, Version, bool] | Upload) -> tuple[str, str]:
    """The markers that continue after `entry`: key and minor id."""
    if isinstance(entry, str):
        return entry, ""
    if isinstance(entry, Upload):
        return entry.key, entry.id
    return entry[0], entry[1].id


def _sorted(bucket: Bucket) -> list[str]:
    return sorted(bucket.keys, key=lambda key: key.encode())


def _fold(key: str, query: Query) -> str | None:
    if not query.delimiter:
        return None
    at = key.find(query.delimiter, len(query.prefix))
    return None if at < 0 else key[: at + len(query.delimiter)]
