"""Steps on objects: put, get, head, copy, delete, tags, versioning. Each acts on the endpoint and the model and compares them."""

from __future__ import annotations

from base64 import b64encode
from hashlib import md5 as _md5
from random import Random
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape

from s3_environment import KEYS, Environment, text, texts, xml
from s3_reference import Refused, Version, checksum, md5
from s3_wire import Response

ALGORITHMS = ["", "", "CRC32", "SHA256"]


def put(environment: Environment, random: Random) -> None:
    key, body = environment.key(random), random.randbytes(random.choice([0, 1, 10, 40]))
    version, headers = describe(random, Version("null", body, md5(body)))
    algorithm = random.choice(ALGORITHMS)
    if algorithm:
        version.algorithm = algorithm
        headers[f"x-amz-checksum-{algorithm.lower()}"] = checksum(algorithm, body) or ""
    match, none_match = conditions(environment, key, random, headers)
    response = environment.send("PUT", key, headers=headers, body=body)
    try:
        environment.bucket.check_write(key, match, none_match)
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    stored(environment, key, version, response)
    environment.same("header etag", f'"{version.etag}"', response.headers.get("etag"))
    name = f"x-amz-checksum-{version.algorithm.lower()}"
    environment.same(f"header {name}", checksum(version.algorithm, body), response.headers.get(name))


def get(environment: Environment, random: Random) -> None:
    key = environment.key(random)
    version_id = environment.version_id(key, random)
    query = {} if version_id is None else {"versionId": version_id}
    headers: dict[str, str] = {}
    wants_checksum = random.random() < 0.3
    if wants_checksum:
        headers["x-amz-checksum-mode"] = "ENABLED"
    how = random.random()
    method = random.choice(["GET", "GET", "HEAD"])
    try:
        version = environment.bucket.find(key, version_id)
    except Refused as refusal:
        environment.refused(environment.send(method, key, query, headers), refusal, head=method == "HEAD")
        return
    if how < 0.15:
        condition = random.choice(["if-match", "if-none-match"])
        equal = random.random() < 0.5
        response = environment.send(method, key, query, {condition: f'"{version.etag}"' if equal else '"other"'})
        if equal == (condition == "if-match"):
            read(environment, version, response, method, version.body, 200)
        else:
            refusal = Refused(412, "PreconditionFailed") if condition == "if-match" else Refused(304, "NotModified")
            environment.refused(response, refusal, head=method == "HEAD")
        return
    if how < 0.45:
        ranged(environment, random, key, version, query, method)
        return
    if how < 0.55 and version.body:
        numbered(environment, random, key, version, query, method)
        return
    response = environment.send(method, key, query, headers)
    read(environment, version, response, method, version.body, 200)
    if wants_checksum:
        name = f"x-amz-checksum-{version.algorithm.lower()}"
        expected = checksum(version.algorithm, version.body)
        environment.same(f"header {name}", expected or response.headers.get(name), response.headers.get(name))


def ranged(environment: Environment, random: Random, key: str, version: Version, query: dict[str, str], method: str) -> None:
    """A read with a Range header of any shape."""
    size = len(version.body)
    first, last = random.randrange(0, 50), random.randrange(0, 50)
    shapes = [(f"bytes={first}-{last}", first, last), (f"bytes={first}-", first, size - 1)]
    if size:
        shapes.append((f"bytes=-{last}", max(0, size - last), size - 1) if last else ("bytes=-0", size, size))
    shown, begin, end = random.choice(shapes)
    response = environment.send(method, key, query, {"range": shown})
    if end < begin < size and shown == f"bytes={first}-{last}":
        read(environment, version, response, method, version.body, 200)
    elif shown == f"bytes={first}-{last}" and last < first:
        # The last byte precedes the first, which is beyond the end: not a valid range, so S3 returns the whole object.
        read(environment, version, response, method, version.body, 200)
    elif begin >= size:
        environment.refused(response, Refused(416, "InvalidRange"), head=method == "HEAD")
    else:
        end = min(end, size - 1)
        read(environment, version, response, method, version.body[begin : end + 1], 206)
        environment.same("header content-range", f"bytes {begin}-{end}/{size}", response.headers.get("content-range"))


def numbered(environment: Environment, random: Random, key: str, version: Version, query: dict[str, str], method: str) -> None:
    """A read of one part by its number."""
    number = random.randrange(1, 4)
    sizes = version.part_sizes or [len(version.body)]
    response = environment.send(method, key, {**query, "partNumber": str(number)})
    if number > len(sizes):
        environment.refused(response, Refused(416, "InvalidPartNumber"), head=method == "HEAD")
        return
    begin = sum(sizes[: number - 1])
    read(environment, version, response, method, version.body[begin : begin + sizes[number - 1]], 206)
    count = str(len(version.part_sizes)) if version.part_sizes else None
    environment.same("header x-amz-mp-parts-count", count, response.headers.get("x-amz-mp-parts-count"))


def read(environment: Environment, version: Version, response: Response, method: str, body: bytes, status: int) -> None:
    """Checks that the response of a GET or HEAD is that of this version."""
    environment.same("status", status, response.status)
    if method == "GET":
        environment.same("body", body, response.body)
    expected = {
        "content-length": str(len(body)),
        "etag": f'"{version.etag}"',
        "content-type": version.content_type,
        "x-amz-version-id": environment.bucket.shown_id(version),
        "x-amz-tagging-count": str(len(version.tags)) if version.tags else None,
    }
    for name, value in expected.items():
        environment.same(f"header {name}", value, response.headers.get(name))
    found = {
        name.removeprefix("x-amz-meta-"): value for name, value in response.headers.items() if name.startswith("x-amz-meta-")
    }
    environment.same("metadata", version.metadata, found)


def copy(environment: Environment, random: Random) -> None:
    source, target = environment.key(random), environment.key(random)
    version_id = environment.version_id(source, random)
    named = f"/{environment.name}/{quote(source)}" + (f"?versionId={version_id}" if version_id else "")
    fresh, headers = describe(random, Version("null"))
    replace = random.random() < 0.4
    if replace:
        headers["x-amz-metadata-directive"] = "REPLACE"
    retag = random.random() < 0.3
    if retag:
        headers["x-amz-tagging-directive"] = "REPLACE"
    else:
        headers.pop("x-amz-tagging", None)
    headers["x-amz-copy-source"] = named
    source_match = environment.etag(source, random) if random.random() < 0.2 else None
    if source_match:
        headers["x-amz-copy-source-if-match"] = f'"{source_match}"'
    response = environment.send("PUT", target, headers=headers)
    try:
        found = find_source(environment, source, version_id)
        if source_match and found.etag != source_match:
            raise Refused(412, "PreconditionFailed")
        if source == target and version_id is None and not replace:
            raise Refused(400, "InvalidRequest")
    except Refused as refusal:
        environment.refused(response, refusal)
        return
    kept = fresh if replace else found
    made = Version(
        "null", found.body, md5(found.body), metadata=kept.metadata, content_type=kept.content_type,
        tags=fresh.tags if retag else found.tags, algorithm=found.algorithm,
    )  # fmt: skip
    # Recorded: while versioning is suspended, the response to a copy has the version id "null", that to a put has none.
    stored(environment, target, made, response, "null" if environment.bucket.versioning == "Suspended" else None)
    environment.same("element ETag", f'"{made.etag}"', text(xml(response.body), "ETag"))
    version = None if found.id == "null" else found.id  # Recorded: a null source version has no header.
    environment.same("header x-amz-copy-source-version-id", version, response.headers.get("x-amz-copy-source-version-id"))


def find_source(environment: Environment, key: str, version_id: str | None) -> Version:
    """The version that a copy reads. A delete marker by its id has its own error."""
    try:
        return environment.bucket.find(key, version_id)
    except Refused as refusal:
        raise Refused(400, "InvalidRequest") if refusal.code == "MethodNotAllowed" else Refused(404, refusal.code) from None


def delete(environment: Environment, random: Random) -> None:
    key = environment.key(random)
    version_id = environment.version_id(key, random)
    headers = {}
    match = environment.etag(key, random) if version_id is None and random.random() < 0.15 else None
    if match:
        headers["if-match"] = f'"{match}"'
    response = environment.send("DELETE", key, {} if version_id is None else {"versionId": version_id}, headers)
    if match:
        try:
            environment.bucket.check_write(key, match, None)
        except Refused as refusal:
            environment.refused(response, refusal)
            return
    environment.same("status", 204, response.status)
    expected_id, marker = environment.bucket.delete(key, version_id, response.headers.get("x-amz-version-id"))
    if environment.bucket.versioning:
        environment.same("header x-amz-version-id", expected_id, response.headers.get("x-amz-version-id"))
    environment.same("header x-amz-delete-marker", "true" if marker else None, response.headers.get("x-amz-delete-marker"))
    environment.check_state()


def delete_many(environment: Environment, random: Random) -> None:
    wanted = [(key, environment.version_id(key, random)) for key in random.sample(KEYS, random.randrange(1, 5))]
    entries = [
        f"<Object><Key>{escape(key)}</Key>" + (f"<VersionId>{version_id}</VersionId>" if version_id else "") + "</Object>"
        for key, version_id in wanted
    ]
    quiet = random.random() < 0.3
    body = f"<Delete>{'<Quiet>true</Quiet>' if quiet else ''}{''.join(entries)}</Delete>".encode()
    response = environment.send(
        "POST", query={"delete": ""}, headers={"content-md5": b64encode(_md5(body).digest()).decode()}, body=body
    )
    environment.same("status", 200, response.status)
    nodes = {text(node, "Key"): node for node in xml(response.body)}
    environment.same("keys answered", set() if quiet else {key for key, _ in wanted}, set(nodes))
    for key, version_id in wanted:
        node = nodes.get(key)
        new_id = text(node, "DeleteMarkerVersionId") if node is not None else None
        if node is None and environment.bucket.versioning == "Enabled" and version_id is None:
            new_id = text(xml(environment.send("GET", query={"versions": "", "prefix": key}).body), "DeleteMarker/VersionId")
        expected_id, marker = environment.bucket.delete(key, version_id, new_id)
        if node is not None:
            environment.same("element DeleteMarker", "true" if marker else None, text(node, "DeleteMarker"))
            environment.same("element VersionId", version_id, text(node, "VersionId"))
            environment.same(
                "element DeleteMarkerVersionId", expected_id if marker else None, text(node, "DeleteMarkerVersionId")
            )
    environment.check_state()


def tags(environment: Environment, random: Random) -> None:
    key = environment.key(random)
    version_id = environment.version_id(key, random)
    query = {"tagging": "", **({} if version_id is None else {"versionId": version_id})}
    method = random.choice(["GET", "PUT", "DELETE"])
    new = _tags(random)
    body = b""
    headers = {}
    if method == "PUT":
        body = ("<Tagging><TagSet>" + "".join(f"<Tag><Key>{k}</Key><Value>{v}</Value></Tag>" for k, v in new.items())).encode()
        body += b"</TagSet></Tagging>"
        headers["content-md5"] = b64encode(_md5(body).digest()).decode()
    response = environment.send(method, key, query, headers, body)
    try:
        version = environment.bucket.find(key, version_id)
    except Refused as refusal:
        under_a_marker = "x-amz-delete-marker" in refusal.headers  # recorded: a 405 even if the request names no version
        environment.same("status", 405 if under_a_marker else refusal.status, response.status)
        return
    environment.same("status", 204 if method == "DELETE" else 200, response.status)
    if method == "GET":
        document = xml(response.body)
        found = dict(zip(texts(document, "TagSet/Tag/Key"), texts(document, "TagSet/Tag/Value"), strict=True))
        environment.same("tags", version.tags, found)
    else:
        version.tags = new if method == "PUT" else {}


def versioning(environment: Environment, random: Random) -> None:
    state = random.choice(["Enabled", "Enabled", "Suspended"])
    body = f"<VersioningConfiguration><Status>{state}</Status></VersioningConfiguration>".encode()
    response = environment.send(
        "PUT", query={"versioning": ""}, headers={"content-md5": b64encode(_md5(body).digest()).decode()}, body=body
    )
    environment.same("status", 200, response.status)
    environment.bucket.versioning = state
    environment.same("state", state, text(xml(environment.send("GET", query={"versioning": ""}).body), "Status"))


def remove_bucket(environment: Environment, random: Random) -> None:
    """DeleteBucket, only of a bucket that is not empty: the sequence continues in it."""
    if not environment.bucket.is_empty():
        environment.refused(environment.send("DELETE"), Refused(409, "BucketNotEmpty"))


def stored(environment: Environment, key: str, version: Version, response: Response, unversioned_id: str | None = None) -> None:
    """Checks that a write succeeded, and adds the version to the model, with the endpoint's id.

    Args:
        environment: The model and the endpoint.
        key: The key.
        version: What was written.
        response: The endpoint's response.
        unversioned_id: The id in the response if the write makes no new id.
    """
    environment.same("status", 200, response.status)
    given = response.headers.get("x-amz-version-id")
    if environment.bucket.versioning == "Enabled":
        taken = {old.id for versions in environment.bucket.keys.values() for old in versions}
        environment.same("a new version id", True, given is not None and given != "null" and given not in taken)
        version.id = given or ""
    else:
        environment.same("header x-amz-version-id", unversioned_id, given)
    environment.bucket.put(key, version)
    environment.check_state()


def describe(random: Random, version: Version) -> tuple[Version, dict[str, str]]:
    """Random metadata, type and tags for a version, and the headers for them."""
    headers = {}
    if random.random() < 0.4:
        version.metadata = {random.choice(["a", "b-c"]): random.choice(["1", "two words"])}
        headers |= {f"x-amz-meta-{name}": value for name, value in version.metadata.items()}
    if random.random() < 0.4:
        version.content_type = headers["content-type"] = random.choice(["text/plain", "application/x-tar"])
    if random.random() < 0.3:
        version.tags = _tags(random)
        headers["x-amz-tagging"] = urlencode(version.tags, quote_via=quote)
    return version, headers


def conditions(environment: Environment, key: str, random: Random, headers: dict[str, str]) -> tuple[str | None, str | None]:
    """Sometimes adds If-Match, or If-None-Match: *, to the headers. Returns both values."""
    how = random.random()
    if how < 0.1:
        headers["if-none-match"] = "*"
        return None, "*"
    if how < 0.25:
        etag = environment.etag(key, random)
        headers["if-match"] = f'"{etag}"'
        return etag, None
    return None, None


def _tags(random: Random) -> dict[str, str]:
    return {random.choice(["team", "tier 1"]): random.choice(["ml", ""]) for _ in range(random.randrange(1, 3))}


STEPS = {put: 10, get: 8, copy: 4, delete: 5, delete_many: 2, tags: 3, versioning: 1, remove_bucket: 0.5}
