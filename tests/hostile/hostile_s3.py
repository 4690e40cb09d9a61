"""Responses that are correct HTTP but that S3 does not send: ranges, checksums, redirects, documents, errors."""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Iterator, Sequence

from hostile_case import (
    BODY,
    CLOSED,
    EITHER,
    GUIDE,
    ITEM,
    MIB,
    MORE,
    REUSED,
    S3,
    Case,
    Raises,
    data_loss,
    error,
    fails,
    head,
    in_turn,
    listing,
    ok,
    page,
    timed_out,
    unavailable,
)
from raw_server import Action, Fin, Pause, Repeat, Request, Script

# fmt: off
LARGE = bytes(range(256)) * (7 * MIB // 256)  # two parts of up to 5 MiB


def _ranged(request: Request, body: bytes, content_range: bytes | None = None, etag: bytes = b'"e"') -> bytes:
    """A correct response to a GET with or without Range, but for `content_range`."""
    if "range" not in request.headers:
        return ok(body, etag=etag)
    first, last = request.range
    last = min(last, len(body) - 1)
    named = content_range if content_range is not None else b"bytes %d-%d/%d" % (first, last, len(body))
    lines = [b"Content-Range: " + named] if named else []
    return ok(body[first : last + 1], *lines, status=b"206 Partial Content", etag=etag)


def _ranges() -> Iterator[Case]:
    whole = b"0123456789abcdef"
    source = "RFC 9110 14.4"
    yield Case("range", source, "range", lambda request, _: [_ranged(request, whole)], whole[4:8], REUSED)
    for value in [b"", b"bytes */16", b"bytes 4-7", b"bytes 7-4/16", b"bytes 4-7/6", b"bytes 4-8/16", b"bytes 5-8/16",
        b"bytes 0-3/16", b"bytes 4-6/16",
                  b"items 4-7/16", b"bytes 4-7/99999999999999999999", b"bytes -4-7/16", b"bytes x", b"4-7/16"]:
        yield Case(f"206 with Content-Range {value!r}", source, "range", lambda request, _, value=value: [_ranged(request,
                   whole, value)],
                   fails("[Rr]ange|bytes"), EITHER)
    yield Case("206 without its range in a read of the whole", source, "get",
               [ok(BODY, b"Content-Range: bytes 0-3/9", status=b"206 Partial Content")], data_loss("received bytes \\[0, 4\\)"),
               EITHER)
    yield Case("200 to a range", "RFC 9110 14.2", "range", [ok(whole)], fails("."), EITHER)
    yield Case("two Content-Range headers", source, "range",
               [ok(whole[4:8], b"Content-Range: bytes 4-7/16", b"Content-Range: bytes 0-3/16", status=b"206 Partial Content")],
               unavailable("two different headers Content-Range"), CLOSED)
    yield Case("multipart/byteranges", "RFC 9110 14.6", "range",
               [ok(b"--x\r\nContent-Range: bytes 4-7/16\r\n\r\n4567\r\n--x--\r\n",
               b"Content-Type: multipart/byteranges; boundary=x",
                           status=b"206 Partial Content")], fails("."), EITHER)
    yield Case("416 with a size that contains the range", "RFC 9110 15.5.17", "range",
               [ok(b"", b"Content-Range: bytes */16", status=b"416 Range Not Satisfiable", etag=b"")], fails("416"), EITHER)
    yield Case("two parts", S3 + "GetObject", "get_parts", lambda request, _: [_ranged(request, LARGE)], LARGE, EITHER)
    yield Case("ETag that changes between parts", "RFC 9110 13.1.1", "get_parts",
               lambda request, index: [_ranged(request, LARGE, etag=b'"%d"' % index)], fails("[Cc]hanged|ETag|version"), EITHER)
    yield Case("size that changes between parts", source, "get_parts",
               lambda request, index: [_ranged(request, LARGE, b"bytes %d-%d/%d" % (*_clipped(request), len(LARGE) + index))],
               fails("."), EITHER)
    yield Case("no ETag", S3 + "GetObject", "get", [ok(etag=b"")], fails("ETag"), EITHER)
    yield Case("two ETags", "RFC 9110 8.8.3", "get", [ok(BODY, b'ETag: "other"')],
               unavailable("two different headers ETag"), CLOSED)
    yield Case("weak ETag", "RFC 9110 8.8.1", "get", [ok(etag=b'W/"e"')], BODY, EITHER)
    yield Case("read resumed at another byte", "RFC 9110 14.2", "get",
               in_turn([head(b"Content-Length: 9") + BODY, Fin()],
                        [ok(b"0123", b"Content-Range: bytes 0-3/9", status=b"206 Partial Content")]), fails("[Rr]ange|bytes"),
                        EITHER)
    yield Case("read resumed with the whole object", "RFC 9110 14.2", "get",
               in_turn([head(b"Content-Length: 9") + BODY, Fin()], [ok(b"abcdefghi")]), fails("."), EITHER)
    yield Case("read resumed with another version", "RFC 9110 13.1.1", "get",
               in_turn([head(b"Content-Length: 9") + BODY, Fin()],
                        [ok(b"EFGHI", b"Content-Range: bytes 4-8/9", status=b"206 Partial Content", etag=b'"other"')]),
                        fails("."), EITHER)
    yield Case("read resumed as asked", "RFC 9110 14.2", "get",
               in_turn([head(b"Content-Length: 9") + BODY, Fin()],
                        [ok(b"efghi", b"Content-Range: bytes 4-8/9", status=b"206 Partial Content")]), b"abcdefghi", EITHER)


def _clipped(request: Request) -> tuple[int, int]:
    first, last = request.range
    return first, min(last, len(LARGE) - 1)


def _checksums() -> Iterator[Case]:
    source = GUIDE + "Checking object integrity"
    crc32 = base64.b64encode(zlib.crc32(BODY).to_bytes(4, "big"))
    yield Case("right CRC32", source, "get", [ok(BODY, b"x-amz-checksum-crc32: " + crc32)], BODY, REUSED)
    for name, size in ((b"crc32", 4), (b"crc32c", 4), (b"crc64nvme", 8)):
        wrong = base64.b64encode(b"\x5a" * size)
        yield Case(f"wrong {name.decode()}", source, "get", [ok(BODY, b"x-amz-checksum-" + name + b": " + wrong)],
                   data_loss("received bytes have " + name.decode().upper()), EITHER)
    for name, size in ((b"sha256", 32), (b"sha1", 20)):  # docs/explanation/client/reading.md: the client verifies CRCs only
        wrong = base64.b64encode(b"\x5a" * size)
        yield Case(f"wrong {name.decode()}", source, "get", [ok(BODY, b"x-amz-checksum-" + name + b": " + wrong)], BODY, EITHER)
    for value in (b"!!!!", b"AAAA", b"", b"A" * 5000):
        yield Case(f"CRC32 {value[:8]!r} of {len(value)} characters", source, "get", [ok(BODY,
                   b"x-amz-checksum-crc32: " + value)],
                   data_loss("received bytes have CRC32"), EITHER)
    yield Case("one right and one wrong checksum", source, "get",
               [ok(BODY, b"x-amz-checksum-crc32: " + crc32, b"x-amz-checksum-crc32c: AAAAAA==")],
               data_loss("received bytes have CRC32C"), EITHER)
    yield Case("composite checksum", source, "get", [ok(BODY, b"x-amz-checksum-crc32: AAAAAA==-2",
               b"x-amz-checksum-type: COMPOSITE")], BODY, EITHER)
    yield Case("composite checksum without its type", source, "get", [ok(BODY, b"x-amz-checksum-crc32: AAAAAA==-2")], BODY,
               EITHER)
    yield Case("wrong MD5 as ETag", "Amazon S3: an ETag need not be an MD5", "get", [ok(etag=b'"' + b"0" * 32 + b'"')], BODY,
               EITHER)
    yield Case("gzip that was not asked for", "RFC 9110 8.4", "get", [ok(gzip.compress(BODY, mtime=0),
               b"Content-Encoding: gzip")],
               gzip.compress(BODY, mtime=0), EITHER)
    yield Case("gzip bomb", "RFC 9110 8.4", "get", [ok(BOMB, b"Content-Encoding: gzip")], BOMB, EITHER)


BOMB = gzip.compress(bytes(64 * MIB), mtime=0)


def _redirects() -> Iterator[Case]:
    source = "RFC 9110 15.4"
    for status in (b"301 Moved Permanently", b"302 Found", b"303 See Other", b"307 Temporary Redirect",
        b"308 Permanent Redirect", b"300 Multiple Choices"):
        yield Case(f"{status[:3].decode()} without Location", source, "get", [ok(b"", status=status, etag=b"")],
                   fails(status[:3].decode()), EITHER)
        for place, name in ((b"http://127.0.0.1:{port}/bucket/key", "to itself"), (b"http://169.254.169.254/latest/meta-data/",
            "to a foreign host"),
                            (b"file:///etc/passwd", "to a file"), (b"//[::", "to nonsense"),
                            (b"http://127.0.0.1:{foreign}/bucket/key", "to another port")):
            yield Case(f"{status[:3].decode()} {name}", source, "get", [ok(b"", b"Location: " + place, status=status, etag=b"")],
                       fails(status[:3].decode() + "|[Rr]edirect|[Rr]egion|[Ee]ndpoint"), EITHER)
    endless = b"<Error><Code>PermanentRedirect</Code><Endpoint>evil.example.com</Endpoint><Region>%s</Region></Error>"
    for region in (b"eu-west-1", b"", b"../../x", b"evil.example.com#", b"a" * 1000, b"us-east-1"):
        yield Case(f"PermanentRedirect to region {region[:20]!r}", S3 + "Error responses", "get",
                   [ok(endless % region, b"x-amz-bucket-region: " + region, status=b"301 Moved Permanently", etag=b"")],
                   fails("."), EITHER)


def _bombs() -> dict[str, bytes]:
    """Documents that are not S3 errors, or that attack the parser."""
    entities = b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10 if i else b"lol" * 10) for i in range(12))
    return {
        "entity expansion": b"<?xml version='1.0'?><!DOCTYPE Error [" + entities + b"]><Error><Code>&a11;</Code></Error>",
        "external entity": b'<?xml version="1.0"?><!DOCTYPE Error [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
                           b"<Error><Code>AccessDenied</Code><Message>&x;</Message></Error>",
        "deep nesting": b"<Error>" + b"<a>" * 100_000,
        "huge code": b"<Error><Code>" + b"A" * 5_000_000 + b"</Code></Error>",
        "invalid UTF-8": b"<Error><Code>Access\xff\xfeDenied</Code><Message>\xc3\x28</Message></Error>",
        "control characters": b"<Error><Code>X</Code><Message>&#27;[2J\x1b[31m&#10;forged line</Message></Error>",
        "cut": b"<Error><Code>Acc",
        "UTF-16": "<Error><Code>AccessDenied</Code></Error>".encode("utf-16"),
        "HTML": b"<html><body>Forbidden</body></html>",
        "JSON": b'{"__type": "AccessDenied"}',
        "empty": b"",
    }


def _documents() -> Iterator[Case]:
    for status, kind in ((b"403 Forbidden", "S3AccessDeniedError"), (b"400 Bad Request", "S3Exception")):
        for name, body in _bombs().items():
            yield Case(f"{status[:3].decode()} with a document: {name}", "OWASP XML Security", "get", [ok(body, status=status,
                       etag=b"")],
                       Raises(kind, status[:3].decode()), EITHER)
    yield Case("error with a wrong Content-Length", "RFC 9112 8", "get",
               [head(b"Content-Length: 5000", status=b"404 Not Found", etag=b"") + b"<Error><Code>NoSuchKey</Code>", Fin()],
               fails("."), CLOSED)


def _lists() -> Iterator[Case]:
    source = S3 + "ListObjectsV2"
    yield Case("list of two keys", source, "list", [listing(ITEM % b"p/a" + ITEM % b"p/b")], ["p/a", "p/b"], REUSED)
    for name, body in _bombs().items():
        yield Case(f"list is a document: {name}", source, "list", [ok(body, etag=b"")], fails("."), EITHER)
    wrong = {
        "the same token for ever": listing(ITEM % b"p/a" + MORE % b"t"),
        "truncated without a token": listing(ITEM % b"p/a" + b"<IsTruncated>true</IsTruncated>"),
        "truncated with an empty token": listing(ITEM % b"p/a" + MORE % b""),
        "wrong root": ok(b"<ListAllMyBucketsResult></ListAllMyBucketsResult>", etag=b""),
        "broken percent encoding": listing(b"<EncodingType>url</EncodingType>" + ITEM % b"p/%zz"),
        "cut percent encoding": listing(b"<EncodingType>url</EncodingType>" + ITEM % b"p/%4"),
        "negative size": listing((ITEM % b"p/a").replace(b"<Size>1<", b"<Size>-1<")),
        "overflowing size": listing((ITEM % b"p/a").replace(b"<Size>1<", b"<Size>99999999999999999999<")),
        "no size": listing((ITEM % b"p/a").replace(b"<Size>1</Size>", b"")),
        "no key": listing(b"<Contents><Size>1</Size></Contents>"),
        "bad IsTruncated": listing(ITEM % b"p/a" + b"<IsTruncated>perhaps</IsTruncated>"),
        "cut document": ok(page(ITEM % b"p/a")[:-10], etag=b""),
        "two roots": ok(page(ITEM % b"p/a") + page(ITEM % b"p/b"), etag=b""),
        "error in a 200": ok(b"<Error><Code>InternalError</Code></Error>", etag=b""),
    }
    for name, response in wrong.items():
        yield Case(f"list: {name}", source, "list", [response], fails("."), EITHER)
    yield Case("list: keys outside the prefix", source, "list", [listing(ITEM % b"q/a")], fails("prefix"), EITHER)
    yield Case("list: keys out of order", source, "list", [listing(ITEM % b"p/b" + ITEM % b"p/a")], ["p/b", "p/a"], EITHER)
    yield Case("list: second page goes back", source, "list",
               in_turn([listing(ITEM % b"p/b" + MORE % b"t")], [listing(ITEM % b"p/a")]), ["p/b", "p/a"], EITHER)
    yield Case("list: two tokens in turn for ever", source, "list",
               lambda _, index: [listing(ITEM % b"p/a" + MORE % (b"t%d" % (index % 2)))], fails("token|again"), EITHER)


def _texts() -> Iterator[Case]:
    """Texts of a server that become part of exceptions and results."""
    source = "RFC 9110 5.5"
    yield Case("ETag that is not UTF-8", source, "get", [ok(etag=b'"\xff\xfe"')], BODY, EITHER)
    yield Case("ETag that is not UTF-8, HEAD", source, "head", [head(b"Content-Length: 4", etag=b'"\xff\xfe"')], 4, EITHER)
    yield Case("headers that are not UTF-8", source, "head_all", [head(
        b"Content-Length: 4", b"x-amz-storage-class: \xff", b"x-amz-meta-\xff: \xfe", b"x-amz-version-id: \xff",
        b"Content-Type: \xff",
        b"x-amz-checksum-\xff: \xff", b"x-amz-restore: \xff")], 4, EITHER)
    yield Case("ETag that is not UTF-8, PUT", source, "put", [ok(b"", etag=b'"\xff"')], None, EITHER)
    yield Case("ids of an error that are not UTF-8", source, "get",
               [error(b"403 Forbidden", b"AccessDenied", b"x-amz-request-id: \xff", b"x-amz-id-2: \xfe",
               b"x-amz-bucket-region: \xfd")],
               Raises("S3AccessDeniedError", "AccessDenied"), EITHER)
    yield Case("ids of an error of 100 KB", source, "get",
               [error(b"403 Forbidden", b"AccessDenied", *[b"x-amz-%b: %b" % (name, b"a" * 60_000) for name in (b"request-id",
               b"id-2")])],
               Raises("S3AccessDeniedError", "AccessDenied"), EITHER)
    for name in (b"Code", b"Message", b"RequestId"):
        for text, what in ((b"\xff\xfe", "not UTF-8"), (b"a" * 200_000, "200 KB"), (b"a&#10;b&#27;[2J", "controls"),
            (b"<b>x</b>", "markup")):
            body = b"<Error><%b>%b</%b></Error>" % (name, text, name)
            yield Case(f"{name.decode()} of an error: {what}", "OWASP XML Security", "get", [ok(body, status=b"403 Forbidden",
                       etag=b"")],
                       fails("403"), EITHER)
    yield Case("list: ETag that is not UTF-8", source, "list", [listing((ITEM % b"p/a").replace(b'"e"', b'"\xff"'))], ["p/a"],
               EITHER)
    yield Case("list: key that is not UTF-8", S3 + "ListObjectsV2", "list", [listing(ITEM % b"p/\xff")], ["p/\udcff"], EITHER)
    yield Case("list: encoded key that is not UTF-8", S3 + "ListObjectsV2", "list",
               [listing(b"<EncodingType>url</EncodingType>" + ITEM % b"p/%FF%00")], ["p/\udcff\x00"], EITHER)
    yield Case("list: name of 1 MB with a fault", "OWASP XML Security", "list",
               [listing(b"<EncodingType>url</EncodingType>" + ITEM % (b"p/%zz" + b"a" * MIB))], unavailable("not URL-encoded"),
               EITHER)
    markers = b"<IsTruncated>true</IsTruncated><NextKeyMarker>%b</NextKeyMarker><NextVersionIdMarker>v</NextVersionIdMarker>"
    yield Case("versions: the same markers for ever", S3 + "ListObjectVersions", "versions",
               [ok(b"<ListVersionsResult>" + markers % b"p/a" + b"</ListVersionsResult>", etag=b"")],
               data_loss("does not advance"), EITHER)
    yield Case("versions: markers in turn for ever", S3 + "ListObjectVersions", "versions",
               lambda _, index: [ok(b"<ListVersionsResult>" + markers % (b"p/%d" % (index % 3)) + b"</ListVersionsResult>",
               etag=b"")],
               data_loss("does not advance"), EITHER)


def _writes() -> Iterator[Case]:
    internal = b"<Error><Code>InternalError</Code><Message>m</Message></Error>"
    denied = b"<Error><Code>AccessDenied</Code><Message>m</Message></Error>"
    for call, verb in (("put", "PutObject"), ("copy", "CopyObject"), ("delete_many", "DeleteObjects"), ("create_bucket",
        "CreateBucket"),
                       ("put_parts", "CompleteMultipartUpload"), ("delete", "DeleteObject"), ("delete_bucket", "DeleteBucket"),
                       ("head_bucket", "HeadBucket")):
        for body, code in ((internal, "InternalError"), (denied, "AccessDenied")):
            if call == "head_bucket":
                continue
            yield Case(f"{verb}: 200 with {code}", S3 + verb, call, lambda request, _, body=body: [_multipart(request,
                       ok(body))], fails(code), EITHER)
        if call not in ("delete", "delete_bucket", "create_bucket", "put"):
            for body, name in ((b"", "empty"), (b"<html/>", "web page"), (b"<Unknown/>", "unknown document")):
                if call != "head_bucket":
                    yield Case(f"{verb}: 200, {name}", S3 + verb, call, lambda request, _, body=body: [_multipart(request,
                               ok(body))], fails("."), EITHER)
    yield Case("PutObject: no ETag", S3 + "PutObject", "put", [ok(b"", etag=b"")], fails("ETag"), EITHER)
    yield Case("PutObject: another checksum than sent", GUIDE + "Checking object integrity", "put",
               [ok(b"", b"x-amz-checksum-crc64nvme: AAAAAAAAAAA=")], data_loss("the server confirms CRC64NVME"), EITHER)
    blanks = [head(b"Transfer-Encoding: chunked", etag=b"")] + [b"1\r\n \r\n", Pause(0.05)] * 5
    yield Case("CompleteMultipartUpload: blanks, then an error", S3 + "CompleteMultipartUpload", "put_parts",
               lambda request, _: _multipart_actions(request, [*blanks, b"%x\r\n%b\r\n0\r\n\r\n" % (len(denied), denied)]),
               fails("AccessDenied"), EITHER)
    done = b"<CompleteMultipartUploadResult><ETag>\"e-2\"</ETag></CompleteMultipartUploadResult>"
    yield Case("CompleteMultipartUpload: blanks, then success", S3 + "CompleteMultipartUpload", "put_parts",
               lambda request, _: _multipart_actions(request, [*blanks, b"%x\r\n%b\r\n0\r\n\r\n" % (len(done), done)]), None,
               EITHER)
    yield Case("CompleteMultipartUpload: blanks without end", S3 + "CompleteMultipartUpload", "put_parts",
               lambda request, _: _multipart_actions(request, [blanks[0], Repeat(b"1\r\n \r\n", 0.01)]), timed_out("deadline"),
               EITHER)
    for value, name in ((b"", "empty"), (b"<UploadId></UploadId>", "empty id"), (b"<UploadId> </UploadId>", "blank id"),
        (b"<UploadId>a&#10;b\x01</UploadId>", "id with controls")):
        document = b"<InitiateMultipartUploadResult>" + value + b"</InitiateMultipartUploadResult>"
        yield Case(f"CreateMultipartUpload: {name}", S3 + "CreateMultipartUpload", "put_parts", [ok(document, etag=b"")],
                   fails("."), EITHER)
    yield Case("UploadPart: no ETag", S3 + "UploadPart", "put_parts",
               lambda request, _: [_multipart(request, ok(done), part=ok(b"", etag=b""))], fails("ETag"), EITHER)
    yield Case("UploadPart: 200 with an error", S3 + "UploadPart", "put_parts",
               lambda request, _: [_multipart(request, ok(done), part=ok(internal))], fails("InternalError"), EITHER)
    yield Case("DeleteObjects: another key fails", S3 + "DeleteObjects", "delete_many",
               [ok(b"<DeleteResult><Error><Key>other</Key><Code>AccessDenied</Code></Error></DeleteResult>", etag=b"")],
               [("other", "AccessDenied", "")], EITHER)


def _multipart(request: Request, completed: bytes, part: bytes | None = None) -> bytes:
    """A correct response to each request of an upload; `completed` for CompleteMultipartUpload and other requests."""
    if "uploads=" in request.target:
        return ok(b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>", etag=b"")
    if "partNumber=" in request.target:
        return part if part is not None else ok(b"")
    if request.method == "DELETE" and "uploadId=" in request.target:
        return head(status=b"204 No Content", etag=b"")
    if request.method == "HEAD":
        return head(b"Content-Length: 0", status=b"404 Not Found", etag=b"")
    return completed


def _multipart_actions(request: Request, completed: Sequence[Action]) -> Sequence[Action]:
    response = _multipart(request, b"")
    return [response] if response else completed


def _refusals() -> Iterator[Case]:
    source = S3 + "Error responses"
    yield Case("503 SlowDown for ever", source, "get", [error(b"503 Slow Down", b"SlowDown")], Raises("S3ThrottledError",
               "SlowDown"), REUSED)
    yield Case("500 for ever", source, "get", [error(b"500 Internal Server Error", b"InternalError")],
               unavailable("InternalError"), REUSED)
    for value in (b"99999999999999999999", b"-5", b"1e9", b"nan", b"Fri, 31 Dec 9999 23:59:59 GMT", b"86400"):
        yield Case(f"Retry-After {value!r}", "RFC 9110 10.2.3", "get", [error(b"503 Slow Down", b"SlowDown",
                   b"Retry-After: " + value, b"x-amz-retry-after: " + value)],
                   Raises("S3ThrottledError|S3TimeoutError", "SlowDown"), EITHER)
    for date in (b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT", b"nonsense"):
        yield Case(f"RequestTimeTooSkewed at {date!r}", source, "get", [error(b"403 Forbidden", b"RequestTimeTooSkewed",
                   b"Date: " + date)],
                   fails("RequestTimeTooSkewed"), EITHER)
    yield Case("ExpiredToken for ever", source, "get", [error(b"400 Bad Request", b"ExpiredToken")], fails("ExpiredToken"),
               EITHER)
    yield Case("error names a secret back", source, "get",
               [ok(b"<Error><Code>SignatureDoesNotMatch</Code><StringToSign>hostile-secret</StringToSign></Error>",
               status=b"403 Forbidden", etag=b"")],
               fails("SignatureDoesNotMatch"), EITHER)
    session = (b"<CreateSessionResult><Credentials><SessionToken>%s</SessionToken><SecretAccessKey>s</SecretAccessKey>"
               b"<AccessKeyId>%s</AccessKeyId><Expiration>%s</Expiration></Credentials></CreateSessionResult>")

    def of_session(token: bytes, key: bytes, until: bytes) -> Script:
        return lambda request, _: [ok(session % (token, key, until), etag=b"") if "session=" in request.target else ok()]

    yield Case("CreateSession", S3 + "CreateSession", "express", of_session(b"t", b"k", b"2999-01-01T00:00:00Z"), BODY, REUSED)
    for token, key, until, name, expected in [
        (b"t", b"k", b"1999-01-01T00:00:00Z", "expired", BODY), (b"t", b"k", b"never", "without a time", fails(".")),
        (b"", b"k", b"2999-01-01T00:00:00Z", "without a token", fails(".")), (b"t", b"", b"2999-01-01T00:00:00Z",
        "without a key", fails(".")),
        (b"t&#13;&#10;X-Injected: 1", b"k", b"2999-01-01T00:00:00Z", "with a line end in the token", fails(".")),
        (b"t", b"k&#10;", b"2999-01-01T00:00:00Z", "with a line end in the key", fails(".")),
    ]:
        yield Case(f"CreateSession {name}", S3 + "CreateSession", "express", of_session(token, key, until), expected, EITHER)


def s3_cases() -> list[Case]:
    groups = (_ranges, _checksums, _redirects, _documents, _lists, _texts, _writes, _refusals)
    return [case for group in groups for case in group()]
