"""S3 Express One Zone: which names make directory buckets, and what is different in them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._suite import Suite, Trial
from ..wire.expectation import parse, texts
from ._directory_bucket import Directory, Session, code_of, complete_body, directory

suite = Suite(
    "express",
    "S3 Express One Zone: names and semantics",
    "Names of directory buckets with their verdicts, sessions, listings without order, appends, renames, and what is refused.",
    judges="server",
    resource=directory,
)

DATA: dict[str, Any] = json.loads(Path(__file__).with_name("express.json").read_text(encoding="utf-8"))
SESSION_S = 300


def _supported(trial: Trial) -> Directory:
    """The suite's resource, where the endpoint makes directory buckets at all."""
    resource: Directory = trial.resource
    trial.bench.once("express/supported", resource.bucket)
    return resource


@suite.check("names-accepted", "names of base, zone and --x-s3 make directory buckets in their zone")
def names_accepted(trial: Trial) -> None:
    there = _supported(trial)
    for row in DATA["accepted"]:
        answer = there.create(row["name"], row["zone"])
        trial.expect(answer.status == 200, f"{row['name']}: {answer.status} {code_of(answer)}")
        if answer.status == 200:
            there.remove(row["name"])
    trial.evidence(names=len(DATA["accepted"]))


@suite.check("names-refused", "other names that end in --x-s3 are 400 InvalidBucketName")
def names_refused(trial: Trial) -> None:
    there = _supported(trial)
    for row in DATA["refused"]:
        answer = there.create(row["name"], "use1-az4")
        found = (answer.status, code_of(answer))
        trial.expect_equal(found, (400, "InvalidBucketName"), f"{row['name']} ({row['why']})")
        if answer.status == 200:
            there.remove(row["name"])
    trial.evidence(names=len(DATA["refused"]))


@suite.check("names-of-another-zone", "a name whose zone is not the location's is 400 InvalidBucketName")
def names_of_another_zone(trial: Trial) -> None:
    there = _supported(trial)
    for row in DATA["of another zone"]:
        answer = there.create(row["name"], row["location"])
        trial.expect_equal((answer.status, code_of(answer)), (400, "InvalidBucketName"), f"{row['name']} in {row['location']}")
        if answer.status == 200:
            there.remove(row["name"])


@suite.check("names-of-general-buckets", "names that only look like a directory bucket's make general-purpose buckets")
def names_of_general_buckets(trial: Trial) -> None:
    there: Directory = trial.resource
    for row in DATA["general"]:
        answer = there.ask("PUT", f"/{row['name']}", service="s3")
        owned = code_of(answer) in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists")  # a short name may be somebody's
        trial.expect(answer.status == 200 or owned, f"{row['name']}: {answer.status} {code_of(answer)}")
        if answer.status == 200:
            there.ask("DELETE", f"/{row['name']}", service="s3")


@suite.check("listed-apart", "ListDirectoryBuckets names directory buckets and no others")
def listed_apart(trial: Trial) -> None:
    there = _supported(trial)
    general, mine = trial.bucket(), there.bucket()
    names = texts(parse(there.ask("GET", "/", query="max-directory-buckets=1000").body), "Buckets/Bucket/Name")
    trial.expect(mine in names, f"{mine} is not listed")
    trial.expect(general not in names, f"{general}, a general-purpose bucket, is listed")


# ---- sessions


@suite.check("sessions", "CreateSession gives credentials of its bucket for five minutes; ReadOnly ones do not write")
def sessions(trial: Trial) -> None:
    there = _supported(trial)
    bucket, other = there.bucket(), there.bucket()
    session = there.session(bucket)
    path = f"/{bucket}/k"
    trial.expect_equal(there.ask("PUT", path, body="text", session=session).status, 200, "PutObject with a session")
    trial.expect_equal(there.ask("GET", path, session=session).body, b"text", "GetObject with a session")
    reading = there.session(bucket, "ReadOnly")
    trial.expect_equal(there.ask("GET", path, session=reading).status, 200, "GetObject with a ReadOnly session")
    refused = there.ask("PUT", path, body="x", session=reading)
    trial.expect_equal((refused.status, code_of(refused)), (403, "AccessDenied"), "PutObject with a ReadOnly session")
    elsewhere = there.ask("GET", f"/{other}", query="list-type=2", session=session)
    trial.expect(elsewhere.status == 403, f"another bucket with this one's session: {elsewhere.status}")
    forged = there.ask("GET", path, session=session.changed(session.token[:-4] + "AAAA"))
    trial.expect(forged.status in (400, 403), f"a token that was never given: {forged.status}")


@suite.check("session-ends", "a session is refused once its five minutes are over")
def session_ends(trial: Trial) -> None:
    admin, there = trial.admin_for("a clock"), _supported(trial)
    bucket = there.bucket()
    session = there.session(bucket)
    before = there.ask("GET", f"/{bucket}", query="list-type=2", session=session)
    trial.expect_equal(before.status, 200, "before")
    try:
        admin.advance_clock(SESSION_S + 5)
        after = there.ask("GET", f"/{bucket}", query="list-type=2", session=session)
    finally:
        admin.ask("DELETE", f"clock/{admin.namespace}")
    trial.expect(after.status in (400, 403), f"five minutes later: {after.status}")


@suite.check("session-of-nothing", "CreateSession of a bucket that is not there grants nothing that works there")
def session_of_nothing(trial: Trial) -> None:
    there = _supported(trial)
    missing = f"{trial.bench.new_name()}--use1-az4--x-s3"
    _nothing_works(trial, missing, there.session(there.bucket()), "another bucket's session")
    answer = there.ask_for_session(missing)
    trial.evidence(create_session=answer.status)
    if answer.status == 200:
        _nothing_works(trial, missing, there.session(missing), "its session")
    else:
        trial.expect_equal((answer.status, code_of(answer)), (404, "NoSuchBucket"), "CreateSession")


def _nothing_works(trial: Trial, missing: str, session: Session, whose: str) -> None:
    there: Directory = trial.resource
    for method in ("PUT", "GET"):
        answer = there.ask(method, f"/{missing}/k", body="x" if method == "PUT" else "", session=session)
        trial.expect(answer.status in (400, 403, 404), f"{method} in a missing bucket by {whose}: {answer.status}")
    if there.ask("GET", f"/{missing}", query="list-type=2").status == 200:
        trial.expect(False, f"the bucket is there after what was sent by {whose}")
        there.remove(missing)


# ---- objects


@suite.check("listing", "a listing is whole and without doubles over its pages, whatever its order; prefixes end in /")
def listing(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    wanted = {f"{folder}{i}" for folder in ("", "a/", "a/b/", "c/") for i in range(6)}
    for key in sorted(wanted):
        there.put(bucket, key, b"x")
    found: list[str] = []
    token = ""
    for _ in range(len(wanted) + 1):
        more = f"&continuation-token={quote(token, safe='')}" if token else ""
        keys, _, token = there.keys(bucket, f"list-type=2&max-keys=5{more}")
        found += keys
        if not token:
            break
    trial.expect_equal(sorted(found), sorted(wanted), "keys over all pages")
    keys, prefixes, _ = there.keys(bucket, "list-type=2&delimiter=%2F&prefix=a%2F")
    trial.expect_equal((sorted(keys), prefixes), ([f"a/{i}" for i in range(6)], ["a/b/"]), "below a/")
    refused = there.ask("GET", f"/{bucket}", query="list-type=2&prefix=a")
    trial.expect_equal((refused.status, code_of(refused)), (400, "InvalidRequest"), "a prefix that does not end in /")


@suite.check("listing-of-uploads", "a folder in which there is only an upload in progress is a common prefix")
def listing_of_uploads(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    there.ask("POST", f"/{bucket}/open/k", query="uploads")
    trial.expect_equal(there.keys(bucket, "list-type=2&delimiter=%2F")[:2], ([], ["open/"]), "keys and prefixes")
    gone = there.ask("DELETE", f"/{bucket}")
    trial.expect_equal((gone.status, code_of(gone)), (409, "BucketNotEmpty"), "DeleteBucket with an upload in it")


@suite.check("etags", "an ETag is no MD5 of the content")
def etags(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    etag = there.put(bucket, "k", b"text").header("ETag") or ""
    trial.expect(re.fullmatch('"[^"]+"', etag), f"the ETag is {etag}")
    trial.expect(hashlib.md5(b"text").hexdigest() not in etag, f"the ETag {etag} is the content's MD5")


@suite.check("part-numbers", "CompleteMultipartUpload takes part numbers from 1 on without gaps, and no others")
def part_numbers(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    for numbers, wanted in (((1,), (200, "")), ((2,), (400, "InvalidPartOrder")), ((1, 3), (400, "InvalidPartOrder"))):
        begun = parse(there.ask("POST", f"/{bucket}/k", query="uploads").body)
        upload = quote(texts(begun, "UploadId")[0], safe="")
        parts = []
        for number in numbers:
            size = 5 << 20 if number != numbers[-1] else 1
            sent = there.ask("PUT", f"/{bucket}/k", query=f"partNumber={number}&uploadId={upload}", body=b"x" * size)
            parts.append((number, sent.header("ETag") or ""))
        answer = there.ask("POST", f"/{bucket}/k", query=f"uploadId={upload}", body=complete_body(parts))
        trial.expect_equal((answer.status, code_of(answer)), wanted, f"parts {numbers}")
        if answer.status != 200:
            there.ask("DELETE", f"/{bucket}/k", query=f"uploadId={upload}")


@suite.check("append", "x-amz-write-offset-bytes appends at the object's end, and nowhere else")
def append(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    steps = (
        ("k", 5, b"x", (404, "NoSuchKey"), "behind the end of a missing object"),
        ("k", 0, b"first", (200, ""), "at 0 of a missing object"),
        ("k", 5, b" second", (200, ""), "at the end"),
        ("k", 5, b"x", (400, "InvalidWriteOffset"), "before the end"),
        ("k", 99, b"x", (400, "InvalidWriteOffset"), "behind the end"),
        ("k", 12, b"", (400, "InvalidRequest"), "nothing"),
        ("empty", 0, b"", (200, ""), "nothing to a missing object"),
    )
    for key, offset, data, wanted, where in steps:
        answer = there.put(bucket, key, data, write_offset_bytes=str(offset))
        trial.expect_equal((answer.status, code_of(answer)), wanted, where)
    trial.expect_equal(there.ask("GET", f"/{bucket}/k").body, b"first second", "content")
    answer = there.put(bucket, "k", b"!", write_offset_bytes="12")
    trial.expect_equal(answer.header("x-amz-object-size"), "13", "x-amz-object-size")


@suite.check("append-elsewhere", "in a general-purpose bucket an append is 501 NotImplemented")
def append_elsewhere(trial: Trial) -> None:
    there = _supported(trial)
    bucket = trial.bucket()
    headers = {"x-amz-write-offset-bytes": "0"}
    answer = there.ask("PUT", f"/{bucket}/k", body="x", headers=headers, service="s3")
    trial.expect_equal((answer.status, code_of(answer)), (501, "NotImplemented"), "append")


@suite.check("rename", "RenameObject moves an object whole, once, and only under its conditions")
def rename(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    etag = there.put(bucket, "a", b"content", meta_kind="kept").header("ETag")

    def move(source: str, target: str, **headers: str) -> tuple[int, str]:
        named = {f"x-amz-{name.replace('_', '-')}": value for name, value in headers.items() if name != "if_none_match"}
        if "if_none_match" in headers:
            named["If-None-Match"] = headers["if_none_match"]
        named["x-amz-rename-source"] = quote(source, safe="")
        answer = there.ask("PUT", f"/{bucket}/{target}", query="renameObject", headers=named)
        return answer.status, code_of(answer)

    trial.expect_equal(move("a", "b", client_token="token-1"), (200, ""), "rename")
    trial.expect_equal(move("a", "b", client_token="token-1"), (200, ""), "the same again, with its client token")
    trial.expect_equal(move("a", "c", client_token="token-1"), (400, "IdempotencyParameterMismatch"), "its token for another")
    moved = there.ask("GET", f"/{bucket}/b")
    found = (moved.body, moved.header("ETag"), moved.header("x-amz-meta-kind"))
    trial.expect_equal(found, (b"content", etag, "kept"), "content, ETag and metadata")
    trial.expect_equal(there.ask("GET", f"/{bucket}/a").status, 404, "the old key")
    trial.expect_equal(move("missing", "c"), (404, "NoSuchKey"), "a missing source")
    there.put(bucket, "there", b"other")
    trial.expect_equal(move("b", "there", if_none_match="*"), (412, "PreconditionFailed"), "onto an object, If-None-Match: *")
    trial.expect_equal(move("b", "c", rename_source_if_match='"else"'), (412, "PreconditionFailed"), "another source ETag")
    trial.expect(move("b", "folder/")[0] == 400, "a key that ends in / was taken")
    trial.expect_equal(move("b", "there"), (200, ""), "onto an object")
    trial.expect_equal(there.ask("GET", f"/{bucket}/there").body, b"content", "what it is then")


@suite.check("not-there", "what directory buckets do not have is refused, and nothing of it happens")
def not_there(trial: Trial) -> None:
    there = _supported(trial)
    bucket = there.bucket()
    etag = there.put(bucket, "k", b"x").header("ETag")
    for operation, (method, path, query, body) in _REFUSED.items():
        acl = {"x-amz-acl": "public-read"} if query == "acl" else {}
        answer = there.ask(method, f"/{bucket}{path}", query=query, body=body, headers=acl)
        trial.expect(answer.status in (400, 403, 404, 405, 501), f"{operation}: {answer.status}")
        now = there.ask("GET", f"/{bucket}/k")
        trial.expect_equal((now.status, now.body, now.header("ETag")), (200, b"x", etag), f"the object after {operation}")
        trial.expect_equal(now.header("x-amz-tagging-count"), None, f"its tags after {operation}")
        trial.expect_equal(there.keys(bucket)[0], ["k"], f"the bucket's objects after {operation}")
    again = there.put(bucket, "k", b"y")
    trial.expect_equal(again.header("x-amz-version-id"), None, "the version of a second write")
    trial.expect_equal(there.ask("GET", f"/{bucket}/k").body, b"y", "what a second write leaves")


_XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
# Whole requests, which a general-purpose bucket would take: what is refused is the operation, not its form.
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
