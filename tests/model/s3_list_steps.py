"""Steps that list: both versions of ListObjects, versions and uploads, one page or all of them."""

from __future__ import annotations

from random import Random
from urllib.parse import unquote_plus
from xml.etree import ElementTree

import s3_listing
from s3_environment import DELIMITERS, KEYS, NAMESPACE, Environment, row, text, texts, xml
from s3_listing import Page, Query
from s3_reference import Upload, Version

MAX_PAGES = 60


def objects_v1(environment: Environment, random: Random) -> None:
    query, encoded = _query(random), random.random() < 0.3
    if random.random() < 0.5:
        query.marker = _marker(random)
    sent = _common(query, encoded) | ({"marker": query.marker} if query.marker else {})
    for _ in range(MAX_PAGES):
        document = _send(environment, sent)
        expected = s3_listing.objects(environment.bucket, query)
        _same_objects(environment, document, expected, encoded)
        environment.same("element KeyCount", None, text(document, "KeyCount"))
        has_next = expected.truncated and bool(query.delimiter)
        after = _key_of(expected.entries[-1]) if expected.entries else ""
        environment.same("element NextMarker", after if has_next else None, _decoded(text(document, "NextMarker"), encoded))
        if not expected.truncated:
            return
        query.marker = sent["marker"] = after


def objects_v2(environment: Environment, random: Random) -> None:
    query, encoded = _query(random), random.random() < 0.3
    sent = {"list-type": "2", **_common(query, encoded)}
    owner = random.random() < 0.2
    if owner:
        sent["fetch-owner"] = "true"
    if random.random() < 0.5:
        query.marker = sent["start-after"] = _marker(random)
    for _ in range(MAX_PAGES):
        document = _send(environment, sent)
        expected = s3_listing.objects(environment.bucket, query)
        _same_objects(environment, document, expected, encoded)
        environment.same("element KeyCount", str(len(expected.entries)), text(document, "KeyCount"))
        environment.same("owners", len(expected.items) if owner else 0, len(texts(document, "Contents/Owner/ID")))
        token = text(document, "NextContinuationToken")
        environment.same("a next token", expected.truncated, token is not None)
        if token is None:
            return
        sent["continuation-token"] = token
        query.marker = _key_of(expected.entries[-1])


def versions(environment: Environment, random: Random) -> None:
    query, encoded = _query(random), random.random() < 0.3
    if random.random() < 0.5:
        query.marker = _marker(random)
        known = environment.bucket.keys.get(query.marker, [])
        if known and not query.delimiter and random.random() < 0.6:
            query.minor = random.choice(known).id
    sent = {"versions": "", **_common(query, encoded)}
    for _ in range(MAX_PAGES):
        for name, value in (("key-marker", query.marker), ("version-id-marker", query.minor)):
            sent.pop(name, None)
            if value:
                sent[name] = value
        document = _send(environment, sent)
        expected = s3_listing.versions(environment.bucket, query)
        _same_versions(environment, document, expected, encoded)
        key, minor = s3_listing.last(expected.entries[-1]) if expected.truncated else ("", "")
        environment.same("element NextKeyMarker", key or None, _decoded(text(document, "NextKeyMarker"), encoded))
        environment.same("element NextVersionIdMarker", minor or None, text(document, "NextVersionIdMarker"))
        if not expected.truncated:
            return
        query.marker, query.minor = key, minor


def uploads(environment: Environment, random: Random) -> None:
    query, encoded = _query(random), random.random() < 0.3
    query.limit = max(1, query.limit)
    sent = {"uploads": "", **_common(query, encoded)}
    sent["max-uploads"] = sent.pop("max-keys", "1000")
    for _ in range(MAX_PAGES):
        for name, value in (("key-marker", query.marker), ("upload-id-marker", query.minor)):
            sent.pop(name, None)
            if value:
                sent[name] = value
        document = _send(environment, sent)
        expected = s3_listing.uploads(environment.bucket, query)
        items: list[Upload] = expected.items
        environment.same("upload ids", [upload.id for upload in items], texts(document, "Upload/UploadId"))
        environment.same(
            "upload keys", [upload.key for upload in items], [_decoded(key, encoded) for key in texts(document, "Upload/Key")]
        )
        environment.same(
            "prefixes", expected.prefixes, [_decoded(key, encoded) for key in texts(document, "CommonPrefixes/Prefix")]
        )
        environment.same("IsTruncated", "true" if expected.truncated else "false", text(document, "IsTruncated"))
        if not expected.entries or isinstance(expected.entries[-1], str):
            return  # S3 returns an empty NextKeyMarker for a page that ends in a prefix: the listing cannot be continued
        key, minor = s3_listing.last(expected.entries[-1])
        environment.same("element NextKeyMarker", key, _decoded(text(document, "NextKeyMarker"), encoded))
        environment.same("element NextUploadIdMarker", minor, text(document, "NextUploadIdMarker"))
        if not expected.truncated:
            return
        query.marker, query.minor = key, minor


def _same_objects(environment: Environment, document: ElementTree.Element, expected: Page, encoded: bool) -> None:
    items: list[tuple[str, Version]] = expected.items
    environment.same("keys", [key for key, _ in items], [_decoded(key, encoded) for key in texts(document, "Contents/Key")])
    environment.same("ETags", [f'"{version.etag}"' for _, version in items], texts(document, "Contents/ETag"))
    environment.same("sizes", [str(len(version.body)) for _, version in items], texts(document, "Contents/Size"))
    environment.same("algorithms", [version.algorithm for _, version in items], texts(document, "Contents/ChecksumAlgorithm"))
    environment.same("prefixes", expected.prefixes, [_decoded(key, encoded) for key in texts(document, "CommonPrefixes/Prefix")])
    environment.same("IsTruncated", "true" if expected.truncated else "false", text(document, "IsTruncated"))


def _same_versions(environment: Environment, document: ElementTree.Element, expected: Page, encoded: bool) -> None:
    found = []
    for node in document:
        kind = node.tag.removeprefix(NAMESPACE)
        if kind in ("Version", "DeleteMarker"):
            key = _decoded(text(node, "Key"), encoded)
            found.append(
                (kind, key, text(node, "VersionId"), text(node, "IsLatest"), text(node, "ETag") or "", text(node, "Size") or "")
            )
    environment.same("versions", [row(*item) for item in expected.items], found)
    environment.same("prefixes", expected.prefixes, [_decoded(key, encoded) for key in texts(document, "CommonPrefixes/Prefix")])
    environment.same("IsTruncated", "true" if expected.truncated else "false", text(document, "IsTruncated"))


def _send(environment: Environment, sent: dict[str, str]) -> ElementTree.Element:
    response = environment.send("GET", query=sent)
    environment.same("status", 200, response.status)
    return xml(response.body)


def _query(random: Random) -> Query:
    prefix = random.choice(["", "", "a", "a/", "b", "b/", "z"])
    delimiter = random.choice(DELIMITERS) if random.random() < 0.6 else ""
    return Query(prefix=prefix, delimiter=delimiter, limit=random.choice([0, 1, 2, 3, 1000, 1000]))


def _marker(random: Random) -> str:
    return random.choice([*KEYS, "a/b/", "a/z", "b/", "c"])


def _common(query: Query, encoded: bool) -> dict[str, str]:
    sent = {"max-keys": str(query.limit)} if query.limit != s3_listing.CAP else {}
    if query.prefix:
        sent["prefix"] = query.prefix
    if query.delimiter:
        sent["delimiter"] = query.delimiter
    if encoded:
        sent["encoding-type"] = "url"
    return sent


def _key_of(entry: str | tuple[str, Version]) -> str:
    return entry if isinstance(entry, str) else entry[0]


def _decoded(value: str | None, encoded: bool) -> str | None:
    return unquote_plus(value) if encoded and value is not None else value


STEPS = {objects_v1: 4, objects_v2: 4, versions: 4, uploads: 3}
