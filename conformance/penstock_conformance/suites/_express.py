"""S3 Express One Zone from the server's side: directory bucket names and how their operations differ."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._suite import Suite, Trial
from ..wire.expectation import parse, texts
from ._directory_bucket import DirectoryBuckets, Session, code_of, complete_body, directory

suite = Suite(
    "express",
    "S3 Express One Zone: names and semantics",
    "Valid and invalid directory bucket names, sessions, unordered listings, appends, renames, and unsupported operations.",
    judges="server",
    resource=directory,
)

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("express.json").read_text(encoding="utf-8"))
SESSION_S = 300


def _supported(trial: Trial) -> DirectoryBuckets:
    """The suite's resource. Raises NotRun if the endpoint has no directory buckets."""
    resource: DirectoryBuckets = trial.resource
    trial.bench.once("express/supported", resource.new_bucket)
    return resource


@suite.check("names-accepted", "names of the form base--zone--x-s3 create directory buckets in that zone")
def names_accepted(trial: Trial) -> None:
    buckets = _supported(trial)
    for row in DATA["accepted"]:
        response = buckets.create(row["name"], row["zone"])
        trial.expect(response.status == 200, f"{row['name']}: {response.status} {code_of(response)}")
        if response.status == 200:
            buckets.remove(row["name"])
    trial.evidence(names=len(DATA["accepted"]))


@suite.check("names-refused", "other names that end in --x-s3 are rejected with 400 InvalidBucketName")
def names_refused(trial: Trial) -> None:
    buckets = _supported(trial)
    for row in DATA["refused"]:
        response = buckets.create(row["name"], "use1-az4")
        found = (response.status, code_of(response))
        trial.expect_equal(found, (400, "InvalidBucketName"), f"{row['name']} ({row['why']})")
        if response.status == 200:
            buckets.remove(row["name"])
    trial.evidence(names=len(DATA["refused"]))


@suite.check("names-of-another-zone", "a name with another zone than the location is rejected with 400 InvalidBucketName")
def names_of_another_zone(trial: Trial) -> None:
    buckets = _supported(trial)
    for row in DATA["of another zone"]:
        response = buckets.create(row["name"], row["location"])
        trial.expect_equal(
            (response.status, code_of(response)), (400, "InvalidBucketName"), f"{row['name']} in {row['location']}"
        )
        if response.status == 200:
            buckets.remove(row["name"])


@suite.check("names-of-general-buckets", "names that only resemble directory bucket names create general-purpose buckets")
def names_of_general_buckets(trial: Trial) -> None:
    buckets: DirectoryBuckets = trial.resource
    for row in DATA["general"]:
        response = buckets.request("PUT", f"/{row['name']}", service="s3")
        owned = code_of(response) in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists")  # another account may own a short name
        trial.expect(response.status == 200 or owned, f"{row['name']}: {response.status} {code_of(response)}")
        if response.status == 200:
            buckets.request("DELETE", f"/{row['name']}", service="s3")


@suite.check("listed-apart", "ListDirectoryBuckets lists directory buckets only")
def listed_apart(trial: Trial) -> None:
    buckets = _supported(trial)
    general, mine = trial.bucket(), buckets.new_bucket()
    names = texts(parse(buckets.request("GET", "/", query="max-directory-buckets=1000").body), "Buckets/Bucket/Name")
    trial.expect(mine in names, f"{mine} is not listed")
    trial.expect(general not in names, f"{general}, a general-purpose bucket, is listed")


# ---- sessions


@suite.check("sessions", "CreateSession returns credentials for its bucket; ReadOnly credentials cannot write")
def sessions(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket, other = buckets.new_bucket(), buckets.new_bucket()
    session = buckets.session(bucket)
    path = f"/{bucket}/k"
    trial.expect_equal(buckets.request("PUT", path, body="text", session=session).status, 200, "PutObject with a session")
    trial.expect_equal(buckets.request("GET", path, session=session).body, b"text", "GetObject with a session")
    reading = buckets.session(bucket, "ReadOnly")
    trial.expect_equal(buckets.request("GET", path, session=reading).status, 200, "GetObject with a ReadOnly session")
    refused = buckets.request("PUT", path, body="x", session=reading)
    trial.expect_equal((refused.status, code_of(refused)), (403, "AccessDenied"), "PutObject with a ReadOnly session")
    elsewhere = buckets.request("GET", f"/{other}", query="list-type=2", session=session)
    trial.expect(elsewhere.status == 403, f"session of one bucket used for another: {elsewhere.status}")
    forged = buckets.request("GET", path, session=session.changed(session.token[:-4] + "AAAA"))
    trial.expect(forged.status in (400, 403), f"forged session token: {forged.status}")


@suite.check("session-ends", "a session is rejected after it expires, five minutes after its creation")
def session_ends(trial: Trial) -> None:
    admin, buckets = trial.admin_for("the clock"), _supported(trial)
    bucket = buckets.new_bucket()
    session = buckets.session(bucket)
    before = buckets.request("GET", f"/{bucket}", query="list-type=2", session=session)
    trial.expect_equal(before.status, 200, "before the expiration")
    try:
        admin.advance_clock(SESSION_S + 5)
        after = buckets.request("GET", f"/{bucket}", query="list-type=2", session=session)
    finally:
        admin.request("DELETE", f"clock/{admin.namespace}")
    trial.expect(after.status in (400, 403), f"after the expiration: {after.status}")


@suite.check("session-of-nothing", "no session gives access to a bucket that does not exist")
def session_of_nothing(trial: Trial) -> None:
    buckets = _supported(trial)
    missing = f"{trial.bench.new_name()}--use1-az4--x-s3"
    _expect_no_access(trial, missing, buckets.session(buckets.new_bucket()), "a session of another bucket")
    response = buckets.request_session(missing)
    trial.evidence(create_session=response.status)
    if response.status == 200:
        _expect_no_access(trial, missing, buckets.session(missing), "a session of the missing bucket")
    else:
        trial.expect_equal((response.status, code_of(response)), (404, "NoSuchBucket"), "CreateSession")


def _expect_no_access(trial: Trial, missing: str, session: Session, which: str) -> None:
    buckets: DirectoryBuckets = trial.resource
    for method in ("PUT", "GET"):
        response = buckets.request(method, f"/{missing}/k", body="x" if method == "PUT" else "", session=session)
        trial.expect(response.status in (400, 403, 404), f"{method} in a missing bucket with {which}: {response.status}")
    if buckets.request("GET", f"/{missing}", query="list-type=2").status == 200:
        trial.expect(False, f"a request with {which} created the bucket")
        buckets.remove(missing)


# ---- objects


@suite.check("listing", "the pages of a listing have each key once, in any order; prefixes must end in /")
def listing(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    wanted = {f"{folder}{i}" for folder in ("", "a/", "a/b/", "c/") for i in range(6)}
    for key in sorted(wanted):
        buckets.put(bucket, key, b"x")
    found: list[str] = []
    token = ""
    for _ in range(len(wanted) + 1):
        more = f"&continuation-token={quote(token, safe='')}" if token else ""
        keys, _, token = buckets.keys(bucket, f"list-type=2&max-keys=5{more}")
        found += keys
        if not token:
            break
    trial.expect_equal(sorted(found), sorted(wanted), "keys on all pages")
    keys, prefixes, _ = buckets.keys(bucket, "list-type=2&delimiter=%2F&prefix=a%2F")
    trial.expect_equal((sorted(keys), prefixes), ([f"a/{i}" for i in range(6)], ["a/b/"]), "listing of a/")
    refused = buckets.request("GET", f"/{bucket}", query="list-type=2&prefix=a")
    trial.expect_equal((refused.status, code_of(refused)), (400, "InvalidRequest"), "prefix that does not end in /")


@suite.check("listing-of-uploads", "a prefix with only an upload in progress is a common prefix")
def listing_of_uploads(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    buckets.request("POST", f"/{bucket}/open/k", query="uploads")
    trial.expect_equal(buckets.keys(bucket, "list-type=2&delimiter=%2F")[:2], ([], ["open/"]), "keys and prefixes")
    gone = buckets.request("DELETE", f"/{bucket}")
    trial.expect_equal((gone.status, code_of(gone)), (409, "BucketNotEmpty"), "DeleteBucket with an upload in progress")


@suite.check("etags", "an ETag is not the MD5 of the content")
def etags(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    etag = buckets.put(bucket, "k", b"text").header("ETag") or ""
    trial.expect(re.fullmatch('"[^"]+"', etag), f"the ETag is {etag}")
    trial.expect(hashlib.md5(b"text").hexdigest() not in etag, f"the ETag {etag} is the content's MD5")


@suite.check("part-numbers", "CompleteMultipartUpload accepts only consecutive part numbers from 1")
def part_numbers(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    for numbers, wanted in (((1,), (200, "")), ((2,), (400, "InvalidPartOrder")), ((1, 3), (400, "InvalidPartOrder"))):
        begun = parse(buckets.request("POST", f"/{bucket}/k", query="uploads").body)
        upload = quote(texts(begun, "UploadId")[0], safe="")
        parts = []
        for number in numbers:
            size = 5 << 20 if number != numbers[-1] else 1
            sent = buckets.request("PUT", f"/{bucket}/k", query=f"partNumber={number}&uploadId={upload}", body=b"x" * size)
            parts.append((number, sent.header("ETag") or ""))
        response = buckets.request("POST", f"/{bucket}/k", query=f"uploadId={upload}", body=complete_body(parts))
        trial.expect_equal((response.status, code_of(response)), wanted, f"parts {numbers}")
        if response.status != 200:
            buckets.request("DELETE", f"/{bucket}/k", query=f"uploadId={upload}")


@suite.check("append", "x-amz-write-offset-bytes appends only at the end of the object")
def append(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    steps = (
        ("k", 5, b"x", (404, "NoSuchKey"), "offset 5 of a missing object"),
        ("k", 0, b"first", (200, ""), "offset 0 of a missing object"),
        ("k", 5, b" second", (200, ""), "offset at the end"),
        ("k", 5, b"x", (400, "InvalidWriteOffset"), "offset before the end"),
        ("k", 99, b"x", (400, "InvalidWriteOffset"), "offset beyond the end"),
        ("k", 12, b"", (400, "InvalidRequest"), "empty body"),
        ("empty", 0, b"", (200, ""), "empty body, missing object"),
    )
    for key, offset, data, wanted, what in steps:
        response = buckets.put(bucket, key, data, write_offset_bytes=str(offset))
        trial.expect_equal((response.status, code_of(response)), wanted, what)
    trial.expect_equal(buckets.request("GET", f"/{bucket}/k").body, b"first second", "content")
    response = buckets.put(bucket, "k", b"!", write_offset_bytes="12")
    trial.expect_equal(response.header("x-amz-object-size"), "13", "x-amz-object-size")


@suite.check("append-elsewhere", "an append in a general-purpose bucket is rejected with 501 NotImplemented")
def append_elsewhere(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = trial.bucket()
    headers = {"x-amz-write-offset-bytes": "0"}
    response = buckets.request("PUT", f"/{bucket}/k", body="x", headers=headers, service="s3")
    trial.expect_equal((response.status, code_of(response)), (501, "NotImplemented"), "append")


@suite.check("rename", "RenameObject keeps metadata, is idempotent by client token, and honours its conditions")
def rename(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    etag = buckets.put(bucket, "a", b"content", meta_kind="kept").header("ETag")

    precondition_failed = (412, "PreconditionFailed")

    def move(source: str, target: str, **headers: str) -> tuple[int, str]:
        named = {f"x-amz-{name.replace('_', '-')}": value for name, value in headers.items() if name != "if_none_match"}
        if "if_none_match" in headers:
            named["If-None-Match"] = headers["if_none_match"]
        named["x-amz-rename-source"] = quote(source, safe="")
        response = buckets.request("PUT", f"/{bucket}/{target}", query="renameObject", headers=named)
        return response.status, code_of(response)

    trial.expect_equal(move("a", "b", client_token="token-1"), (200, ""), "rename")
    trial.expect_equal(move("a", "b", client_token="token-1"), (200, ""), "repeated with the same client token")
    trial.expect_equal(
        move("a", "c", client_token="token-1"), (400, "IdempotencyParameterMismatch"), "client token of another rename"
    )
    moved = buckets.request("GET", f"/{bucket}/b")
    found = (moved.body, moved.header("ETag"), moved.header("x-amz-meta-kind"))
    trial.expect_equal(found, (b"content", etag, "kept"), "content, ETag and metadata")
    trial.expect_equal(buckets.request("GET", f"/{bucket}/a").status, 404, "GetObject of the old key")
    trial.expect_equal(move("missing", "c"), (404, "NoSuchKey"), "missing source")
    buckets.put(bucket, "there", b"other")
    trial.expect_equal(move("b", "there", if_none_match="*"), precondition_failed, "existing target, If-None-Match: *")
    trial.expect_equal(move("b", "c", rename_source_if_match='"else"'), precondition_failed, "source ETag that does not match")
    trial.expect(move("b", "folder/")[0] == 400, "a target key that ends in / was accepted")
    trial.expect_equal(move("b", "there"), (200, ""), "existing target")
    trial.expect_equal(buckets.request("GET", f"/{bucket}/there").body, b"content", "content of the target")


@suite.check("not-there", "operations that directory buckets do not support are rejected and have no effect")
def not_there(trial: Trial) -> None:
    buckets = _supported(trial)
    bucket = buckets.new_bucket()
    etag = buckets.put(bucket, "k", b"x").header("ETag")
    for operation, (method, path, query, body) in _REFUSED.items():
        acl = {"x-amz-acl": "public-read"} if query == "acl" else {}
        response = buckets.request(method, f"/{bucket}{path}", query=query, body=body, headers=acl)
        trial.expect(response.status in (400, 403, 404, 405, 501), f"{operation}: {response.status}")
        now = buckets.request("GET", f"/{bucket}/k")
        trial.expect_equal((now.status, now.body, now.header("ETag")), (200, b"x", etag), f"object after {operation}")
        trial.expect_equal(now.header("x-amz-tagging-count"), None, f"tags after {operation}")
        trial.expect_equal(buckets.keys(bucket)[0], ["k"], f"keys after {operation}")
    again = buckets.put(bucket, "k", b"y")
    trial.expect_equal(again.header("x-amz-version-id"), None, "version id of a second write")
    trial.expect_equal(buckets.request("GET", f"/{bucket}/k").body, b"y", "content after a second write")


_XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
# Valid requests for general-purpose buckets, so that the rejection is about the operation and not about its form.
_REFUSED = {
    "PutBucketVersioning": (
        *("PUT", "", "versioning"),
        f"<VersioningConfiguration {_XMLNS}><Status>Enabled</Status></VersioningConfiguration>",
    ),
    "PutObjectTagging": (
        *("PUT", "/k", "tagging"),
        f"<Tagging {_XMLNS}><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
    ),
    "PutObjectAcl": ("PUT", "/k", "acl", ""),
    "ListObjectVersions": ("GET", "", "versions", ""),
    "PutBucketWebsite": (
        *("PUT", "", "website"),
        f"<WebsiteConfiguration {_XMLNS}><IndexDocument><Suffix>i</Suffix></IndexDocument></WebsiteConfiguration>",
    ),
}
