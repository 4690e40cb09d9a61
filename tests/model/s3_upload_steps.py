"""Steps on multipart uploads: create, parts sent and copied, complete, abort, ListParts."""

from __future__ import annotations

from random import Random
from urllib.parse import quote

from s3_environment import Environment, text, texts, xml
from s3_object_steps import conditions, describe, find_source, stored
from s3_reference import MIN_PART, Refused, Upload, Version, md5


def create(environment: Environment, random: Random) -> None:
    key = environment.key(random)
    described, headers = describe(random, Version("null"))
    response = environment.send("POST", key, {"uploads": ""}, headers)
    environment.same("status", 200, response.status)
    upload_id = text(xml(response.body), "UploadId") or ""
    environment.same(
        "a new upload id",
        True,
        upload_id not in {upload.id for upload in environment.bucket.uploads} | set(environment.bucket.completed),
    )
    upload = Upload(upload_id, key, described.metadata, described.content_type, described.tags)
    environment.bucket.uploads.append(upload)


def part(environment: Environment, random: Random) -> None:
    upload_part(environment, random, _pick(environment, random))


def upload_part(environment: Environment, random: Random, upload: Upload) -> None:
    """UploadPart of a small part."""
    number, body = random.randrange(1, 5), random.randbytes(random.choice([0, 1, 30]))
    response = environment.send("PUT", upload.key, {"uploadId": upload.id, "partNumber": str(number)}, body=body)
    try:
        environment.bucket.upload(upload.key, upload.id)
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    environment.same("status", 200, response.status)
    environment.same("header etag", f'"{md5(body)}"', response.headers.get("etag"))
    upload.parts[number] = body


def copy_part(environment: Environment, random: Random) -> None:
    upload = _pick(environment, random)
    source = environment.key(random)
    version_id = environment.version_id(source, random)
    number = random.randrange(1, 5)
    headers = {"x-amz-copy-source": f"/{environment.name}/{quote(source)}" + (f"?versionId={version_id}" if version_id else "")}
    first, last = random.randrange(0, 30), random.randrange(0, 30)
    use_range = random.random() < 0.5
    if use_range:
        headers["x-amz-copy-source-range"] = f"bytes={first}-{last}"
    response = environment.send("PUT", upload.key, {"uploadId": upload.id, "partNumber": str(number)}, headers)
    try:
        environment.bucket.upload(upload.key, upload.id)
        body = find_source(environment, source, version_id).body
        if use_range:
            if last < first:
                raise Refused(400, "InvalidArgument")
            if first >= len(body):
                raise Refused(400, "InvalidRequest")
            if last >= len(body):
                raise Refused(400, "InvalidArgument")
            body = body[first : last + 1]
    except Refused as refusal:
        environment.same("status", refusal.status, response.status)  # with several errors S3 does not document which it reports
        return
    environment.same("status", 200, response.status)
    environment.same("element ETag", f'"{md5(body)}"', text(xml(response.body), "ETag"))
    upload.parts[number] = body


def big_part(environment: Environment, random: Random) -> None:
    """A part of the smallest size that may be followed by another, copied from an object that all sequences share."""
    upload = _pick(environment, random)
    number = random.randrange(1, 4)
    query = {"uploadId": upload.id, "partNumber": str(number)}
    response = environment.send("PUT", upload.key, query, {"x-amz-copy-source": environment.big})
    try:
        environment.bucket.upload(upload.key, upload.id)
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    environment.same("status", 200, response.status)
    upload.parts[number] = environment.big_body


def complete(environment: Environment, random: Random) -> None:
    upload = _pick(environment, random)
    if not upload.parts and upload in environment.bucket.uploads and random.random() < 0.8:
        upload_part(environment, random, upload)
    numbers = sorted(upload.parts)
    chosen = [number for number in numbers if random.random() < 0.8] or numbers[:1]
    parts = [(number, md5(upload.parts[number])) for number in chosen]
    how = random.random()
    if not parts and random.random() < 0.8:
        parts = [(1, "0" * 32)]
    if how < 0.05 and len(parts) > 1:
        parts.reverse()
    elif how < 0.1 and parts:
        parts = [(parts[0][0], "0" * 32)]
    elif how < 0.15:
        parts = [(9, "0" * 32)]
    elif how < 0.8 and not any(len(upload.parts.get(number, b"")) >= MIN_PART for number, _ in parts):
        parts = parts[:1]  # an upload of small parts can have only one
    headers: dict[str, str] = {}
    match, none_match = conditions(environment, upload.key, random, headers) if not upload.writes_seen else (None, None)
    body = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>&quot;{etag}&quot;</ETag></Part>" for number, etag in parts)
    document = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>".encode()
    response = environment.send("POST", upload.key, {"uploadId": upload.id}, headers, document)
    try:
        found = environment.bucket.upload(upload.key, upload.id)
        made = environment.bucket.assemble(found, parts)
        environment.bucket.check_write(upload.key, match, none_match)
    except Refused as refusal:
        if match or none_match or upload.id in environment.bucket.completed:
            environment.same("refused", True, response.status >= 400 or upload.id in environment.bucket.completed)
        else:
            environment.refused(response, refusal)
        return
    stored(environment, upload.key, made, response)
    environment.bucket.uploads.remove(found)
    environment.bucket.completed[upload.id] = (upload.key, parts, made.etag)
    environment.same("element ETag", f'"{made.etag}"', text(xml(response.body), "ETag"))


def abort(environment: Environment, random: Random) -> None:
    upload = _pick(environment, random)
    response = environment.send("DELETE", upload.key, {"uploadId": upload.id})
    try:
        environment.bucket.uploads.remove(environment.bucket.upload(upload.key, upload.id))
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    environment.same("status", 204, response.status)


def list_parts(environment: Environment, random: Random) -> None:
    upload = _pick(environment, random)
    marker, limit = random.choice([0, 0, 1, 2]), random.choice([1, 2, 1000])
    query = {"uploadId": upload.id, "max-parts": str(limit), "part-number-marker": str(marker)}
    response = environment.send("GET", upload.key, query)
    try:
        environment.bucket.upload(upload.key, upload.id)
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    environment.same("status", 200, response.status)
    document = xml(response.body)
    after = [number for number in sorted(upload.parts) if number > marker]
    shown = after[:limit]
    environment.same("part numbers", [str(number) for number in shown], texts(document, "Part/PartNumber"))
    environment.same("part ETags", [f'"{md5(upload.parts[number])}"' for number in shown], texts(document, "Part/ETag"))
    environment.same("part sizes", [str(len(upload.parts[number])) for number in shown], texts(document, "Part/Size"))
    environment.same("IsTruncated", "true" if len(after) > limit else "false", text(document, "IsTruncated"))
    if shown:
        environment.same("NextPartNumberMarker", str(shown[-1]), text(document, "NextPartNumberMarker"))


def _pick(environment: Environment, random: Random) -> Upload:
    """An upload, mostly one in progress. If there is none, mostly a new one."""
    if not environment.bucket.uploads and random.random() < 0.9:
        create(environment, random)
    if environment.bucket.uploads and random.random() < 0.95:
        return random.choice(environment.bucket.uploads)
    gone = [Upload(upload_id, key, {}, "", {}) for upload_id, (key, _, _) in environment.bucket.completed.items()]
    return random.choice([*gone, Upload("no-such-upload", "a", {}, "", {})])


STEPS = {create: 4, part: 6, copy_part: 3, big_part: 0.2, complete: 4, abort: 1, list_parts: 2}
