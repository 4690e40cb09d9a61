"""Raw requests of an attacker, each with the statuses that RFC 9110, RFC 9112 or S3 requires and the state of the connection.

`CLOSED`: one response, then the end of the connection; later requests on it are not served. `IN_STEP`: the next request on the
connection gets its own response. `EITHER`: both are correct, and the test checks that no response belongs to another request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class After(Enum):
    CLOSED = "closed"
    IN_STEP = "in step"
    EITHER = "either"


# fmt: off
CLOSED, IN_STEP, EITHER = After.CLOSED, After.IN_STEP, After.EITHER


@dataclass(frozen=True)
class Vector:
    name: str
    section: str
    sent: bytes
    statuses: tuple[int, ...]
    after: After


CONTROLS = [byte for byte in [*range(0x20), 0x7F] if byte not in b"\t"]
GET = b"GET /bucket/canary HTTP/1.1\r\nHost: localhost\r\n"
PUT = b"PUT /bucket/front HTTP/1.1\r\nHost: localhost\r\n"


def _content_length() -> Iterator[Vector]:
    bad = [
        b"", b"+4", b"-4", b"-0", b"0x4", b"4 4", b"4,4", b"4, 4", b"4;", b"4.0", b"4e0", b"4_0", b'"4"', b"four", b"\xd9\xa4",
        b"4\x0b", b"99999999999999999999", b"18446744073709551616", b"9223372036854775808000",
        b"9" * 400,
    ]
    for value in bad:
        yield Vector(
            f"Content-Length: {value[:24]!r}", "9112 6.3", PUT + b"Content-Length: " + value + b"\r\n\r\nabcd", (400,), CLOSED
        )
    for first, second in [(b"4", b"5"), (b"5", b"4"), (b"4", b""), (b"0", b"4"), (b"4", b"4x")]:
        yield Vector(
            f"two Content-Length: {first!r} {second!r}",
            "9112 6.3",
            PUT + b"Content-Length: " + first + b"\r\nContent-Length: " + second + b"\r\n\r\nabcd",
            (400,),
            CLOSED,
        )
    yield Vector(
        "the same Content-Length twice",
        "9110 8.6",
        PUT + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        (200, 400),
        EITHER,
    )
    for name in [
        b"Content-Length ", b"Content-Length\t", b" Content-Length", b"Content-Length\x00", b"Content_Length\x01",
        b"Content Length",
    ]:
        yield Vector(f"name {name!r}", "9112 5.1", PUT + name + b": 4\r\n\r\nabcd", (400,), CLOSED)
    yield Vector("blanks around a length", "9112 5.1", PUT + b"Content-Length: \t 4 \t \r\n\r\nabcd", (200,), IN_STEP)
    yield Vector("leading zeros", "9110 8.6", PUT + b"Content-Length: 0004\r\n\r\nabcd", (200, 400), EITHER)
    yield Vector("a body of GET", "9110 9.3.1", GET + b"Content-Length: 4\r\n\r\nabcd", (200,), IN_STEP)
    yield Vector(
        "a chunked body of GET", "9110 9.3.1", GET + b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", (200,), IN_STEP
    )
    yield Vector(
        "a body of DELETE",
        "9110 9.3.5",
        b"DELETE /bucket/none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
        (204,),
        IN_STEP,
    )
    yield Vector(
        "a body of HEAD",
        "9110 9.3.2",
        b"HEAD /bucket/canary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
        (200,),
        IN_STEP,
    )


def _transfer_encoding() -> Iterator[Vector]:
    chunks = b"4\r\nabcd\r\n0\r\n\r\n"
    for value in [
        b"", b"xchunked", b"chunkedx", b"identity", b"gzip", b"gzip, chunked", b"chunked, identity", b"chunked, gzip",
        b"chunked, chunked", b"identity, chunked", b"chunked;q=1", b'"chunked"', b"chunked\x0b", b"\x0bchunked", b"chunked\x00",
        b"chun\x00ked", b",", b"chunked\x85",
    ]:
        yield Vector(
            f"Transfer-Encoding: {value!r}",
            "9112 6.1",
            PUT + b"Transfer-Encoding: " + value + b"\r\n\r\n" + chunks,
            (400, 501),
            CLOSED,
        )
    for value in [b"chunked", b"Chunked", b"CHUNKED", b" \tchunked\t "]:
        yield Vector(
            f"Transfer-Encoding: {value!r}",
            "9112 7",
            GET + b"Transfer-Encoding: " + value + b"\r\n\r\n" + chunks,
            (200,),
            IN_STEP,
        )
    both = [
        (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"), (b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
        (b"Content-Length: 14\r\nTransfer-Encoding: chunked\r\n"), (b"transfer-encoding: CHUNKED\r\ncontent-length: 0\r\n"),
        (b"Content-Length: 4\r\nTransfer-Encoding: identity\r\n"), (b"Content-Length: 4\r\nTransfer-Encoding: x\r\n"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        (b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    ]
    for headers in both:
        yield Vector(f"framed twice {headers!r}", "9112 6.3", PUT + headers + b"\r\n" + chunks, (400, 501), CLOSED)
    for name in [
        b"Transfer-Encoding ", b"Transfer-Encoding\t", b" Transfer-Encoding", b"Transfer Encoding", b"Transfer-Encoding\x00",
    ]:
        yield Vector(f"name {name!r}", "9112 5.1", PUT + name + b": chunked\r\n\r\n" + chunks, (400,), CLOSED)
    yield Vector(
        "chunked in HTTP/1.0",
        "9112 6.1",
        b"PUT /bucket/front HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        (400, 501),
        CLOSED,
    )
    yield Vector("TE does not frame the body", "9110 10.1.4", GET + b"TE: trailers, chunked\r\n\r\n", (200,), IN_STEP)


def _lines() -> Iterator[Vector]:
    for byte in CONTROLS:
        if byte not in b"\r\n":
            yield Vector(
                f"byte {byte:#04x} in a value", "9110 5.5", GET + b"X-Value: a" + bytes([byte]) + b"b\r\n\r\n", (400,), CLOSED
            )
            yield Vector(
                f"byte {byte:#04x} in a target",
                "9112 3.2",
                b"GET /bucket/a" + bytes([byte]) + b"b HTTP/1.1\r\nHost: localhost\r\n\r\n",
                (400,),
                CLOSED,
            )
        yield Vector(f"byte {byte:#04x} in a name", "9110 5.1", GET + b"X" + bytes([byte]) + b"Y: z\r\n\r\n", (400,), CLOSED)
    for byte in b'"(),/;<=>?@[\\]{}\x80\xff':
        yield Vector(
            f"delimiter {bytes([byte])!r} in a name", "9110 5.1", GET + b"X" + bytes([byte]) + b"Y: z\r\n\r\n", (400,), CLOSED
        )
    for value in [b"\x80", b"\xff\xfe", "ä".encode(), b"a\tb"]:
        yield Vector(f"value {value!r}", "9110 5.5", GET + b"X-Value: " + value + b"\r\n\r\n", (200,), IN_STEP)
    yield Vector("obs-fold by a space", "9112 5.2", GET + b"X-Value: a\r\n b\r\n\r\n", (400,), CLOSED)
    yield Vector("obs-fold by a tab", "9112 5.2", GET + b"X-Value: a\r\n\tb\r\n\r\n", (400,), CLOSED)
    yield Vector(
        "obs-fold of the first line", "9112 2.2", b"GET /bucket/canary HTTP/1.1\r\n Host: localhost\r\n\r\n", (400,), CLOSED
    )
    yield Vector("LF alone", "9112 2.2", b"GET /bucket/canary HTTP/1.1\nHost: localhost\n\n", (400,), CLOSED)
    yield Vector("LF behind a header", "9112 2.2", GET + b"X: y\nTransfer-Encoding: chunked\r\n\r\n", (400,), CLOSED)
    yield Vector("CR alone", "9112 2.2", GET + b"X: y\rTransfer-Encoding: chunked\r\n\r\n", (400,), CLOSED)
    yield Vector("LF at the head's end", "9112 2.2", GET + b"\n", (400,), CLOSED)
    yield Vector("no colon", "9112 5", GET + b"X-Value\r\n\r\n", (400,), CLOSED)
    yield Vector("no name", "9112 5", GET + b": value\r\n\r\n", (400,), CLOSED)
    yield Vector("an empty value", "9110 5.5", GET + b"X-Value:\r\n\r\n", (200,), IN_STEP)
    yield Vector("one empty line before", "9112 2.2", b"\r\n" + GET + b"\r\n", (200,), IN_STEP)


def _request_line() -> Iterator[Vector]:
    end = b"\r\nHost: localhost\r\n\r\n"
    for line in [
        b"GET  /bucket/canary HTTP/1.1", b"GET /bucket/canary  HTTP/1.1", b"GET /bucket/canary HTTP/1.1 ",
        b" GET /bucket/canary HTTP/1.1", b"GET\t/bucket/canary\tHTTP/1.1", b"GET /bucket/canary", b"GET",
        b"GET /bucket/canary HTTP", b"GET /bucket/canary HTTP/", b"GET /bucket/canary HTTP/1", b"GET /bucket/canary HTTP/1.10",
        b"GET /bucket/canary HTTP/11", b"GET /bucket/canary http/1.1", b"GET /bucket/canary HTTP/1,1",
        b"GET /bucket/canary HTTP/ 1.1", b"GET /bucket/canary HTTP/1.x", b"GET /bucket/canary XTTP/1.1",
        b"GE(T /bucket/canary HTTP/1.1", b"GE\x00T / HTTP/1.1", b"GET bucket/canary HTTP/1.1", b"GET \\bucket HTTP/1.1",
        b"GET ?a HTTP/1.1", b"GET * HTTP/1.1", b"GET /bucket/a#b HTTP/1.1", b"GET ftp://h/b HTTP/1.1", b"GET http:// HTTP/1.1",
        b"GET http:///b HTTP/1.1", b"GET http://h?x HTTP/1.1", b"GET //h:x@/ HTTP/1.1 x", b"GET /a b HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ]:
        yield Vector(f"line {line!r}", "9112 3", line + end, (400,), CLOSED)
    for version in [b"HTTP/0.9", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/9.9"]:
        yield Vector(f"version {version!r}", "9110 15.6.6", b"GET /bucket/canary " + version + end, (505,), CLOSED)
    yield Vector("the preface of HTTP/2", "9113 3.4", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505), CLOSED)
    yield Vector("a later minor version", "9110 2.5", b"GET /bucket/canary HTTP/1.2" + end, (200,), IN_STEP)
    for method in [b"PATCH", b"TRACE", b"PROPFIND", b"FOO", b"get", b"GETX"]:
        yield Vector(
            f"method {method!r}",
            "9110 15.5.6",
            method + b" /bucket/canary HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
            (400, 405, 501),
            EITHER,
        )
    yield Vector("CONNECT", "9110 9.3.6", b"CONNECT localhost:80 HTTP/1.1" + end, (400, 405, 501), EITHER)
    yield Vector("an absolute form", "9112 3.2.2", b"GET http://localhost/bucket/canary HTTP/1.1" + end, (200,), IN_STEP)
    yield Vector(
        "an absolute form over another Host",
        "9112 3.2.2",
        b"GET http://localhost/bucket/canary HTTP/1.1\r\nHost: other.localhost\r\n\r\n",
        (200,),
        IN_STEP,
    )
    yield Vector("OPTIONS *", "9112 3.2.4", b"OPTIONS * HTTP/1.1" + end, (200, 400, 403, 405), EITHER)


def _host() -> Iterator[Vector]:
    line = b"GET /bucket/canary HTTP/1.1\r\n"
    yield Vector("no Host", "9112 3.2", line + b"\r\n", (400,), CLOSED)
    yield Vector("two Hosts", "9112 3.2", line + b"Host: localhost\r\nHost: localhost\r\n\r\n", (400,), CLOSED)
    yield Vector("two Hosts that differ", "9112 3.2", line + b"Host: localhost\r\nX: y\r\nhOST: evil\r\n\r\n", (400,), CLOSED)
    for host in [
        b"a b", b"a/b", b"a@b", b"a?b", b"a#b", b"a\\b", b"a,b", b"[::1", b'a"b', b"<a>", b"a:b:c", b"a:99999999", b"a:x",
        b"%00", b"\xff",
    ]:
        yield Vector(f"Host {host!r}", "9110 7.2", line + b"Host: " + host + b"\r\n\r\n", (200, 400), EITHER)
    yield Vector("no Host in HTTP/1.0", "9112 3.2", b"GET /bucket/canary HTTP/1.0\r\n\r\n", (200,), CLOSED)


def _chunks(request: bytes = GET) -> Iterator[Vector]:
    head = request + b"Transfer-Encoding: chunked\r\n\r\n"  # S3 rejects a PUT without a length before it reads the body
    for body in [
        b"0x4\r\nabcd\r\n0\r\n\r\n", b"4_0\r\nabcd\r\n0\r\n\r\n", b"+4\r\nabcd\r\n0\r\n\r\n", b"-4\r\nabcd\r\n0\r\n\r\n",
        b" 4\r\nabcd\r\n0\r\n\r\n", b"\r\n0\r\n\r\n", b"4\nabcd\n0\n\n", b"4\r\nabcdX0\r\n\r\n", b"4\r\nabcd0\r\n\r\n",
        b"4\r\nabcd\n0\r\n\r\n", b"4\r\nabcd\r0\r\n\r\n", b"g\r\n0\r\n\r\n", b"4g\r\nabcd\r\n0\r\n\r\n",
        b"10000000000000004\r\nabcd\r\n0\r\n\r\n", b"ffffffffffffffff\r\nabcd\r\n0\r\n\r\n",
        b"fffffffffffffffe\r\nabcd\r\n0\r\n\r\n", b"8000000000000000\r\nabcd\r\n0\r\n\r\n", b"4;a\rb\r\nabcd\r\n0\r\n\r\n",
        b"4;a\nb\r\nabcd\r\n0\r\n\r\n", b'4;a="\r\n"\r\nabcd\r\n0\r\n\r\n', b"4;" + b"e" * 100_000 + b"\r\nabcd\r\n0\r\n\r\n",
        b";x\r\nabcd\r\n0\r\n\r\n", b"4\x00\r\nabcd\r\n0\r\n\r\n", b"4;\x00\r\nabcd\r\n0\r\n\r\n",
        b"4\r\nabcd\r\n0\r\nX-Trailer : y\r\n\r\n", b"4\r\nabcd\r\n0\r\n folded\r\n\r\n", b"4\r\nabcd\r\n0\r\nnocolon\r\n\r\n",
        b"4\r\nabcd\r\n0\r\nX: a\nY: b\r\n\r\n", b"4\r\nabcd\r\n0\r\nX: a\x00\r\n\r\n",
        b"4\r\nabcd\r\n0\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", b"0" * 100_000 + b"4\r\nabcd\r\n0\r\n\r\n",
        b"4\r\nabcd\r\n0\r\nContent-Length: 400\r\n\r\n", b"4\r\nabcd\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"4\r\nabcd\r\n0\r\nHost: evil\r\n\r\n",
    ]:
        yield Vector(f"chunks {body[:36]!r}", "9112 7.1", head + body, (400,), CLOSED)
    for body in [
        b"4\r\nabcd\r\n0\r\n\r\n", b"0004\r\nabcd\r\n000\r\n\r\n", b"4;a=b\r\nabcd\r\n0;c\r\n\r\n",
        b'4;a="b;c"\r\nabcd\r\n0\r\n\r\n', b"2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", b"4\r\nabcd\r\n0\r\nX-Trailer: y\r\n\r\n",
        b"4\r\nabcd\r\n0\r\nX-Trailer: y\r\nX-Other: z\r\n\r\n",
    ]:
        yield Vector(f"chunks {body!r}", "9112 7.1", head + body, (200,), IN_STEP)


def _expect() -> Iterator[Vector]:
    # RFC 9110 permits 417 here; S3 ignores the header (ceph/s3-tests: test_object_create_bad_expect_mismatch).
    for value in [b"200-ok", b"100-continued", b"100-continue, x", b"x=y", b"101"]:
        yield Vector(
            f"Expect: {value!r}", "9110 10.1.1", PUT + b"Expect: " + value + b"\r\nContent-Length: 4\r\n\r\nabcd", (200,), IN_STEP
        )
    for value in [b"100-continue", b"100-Continue", b"100-CONTINUE"]:
        yield Vector(
            f"Expect: {value!r} and the body at once",
            "9110 10.1.1",
            PUT + b"Expect: " + value + b"\r\nContent-Length: 4\r\n\r\nabcd",
            (200,),
            IN_STEP,
        )
    yield Vector("Expect of GET", "9110 10.1.1", GET + b"Expect: 100-continue\r\n\r\n", (200,), IN_STEP)
    yield Vector(
        "Expect in HTTP/1.0",
        "9110 10.1.1",
        b"PUT /bucket/front HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nabcd",
        (200,),
        CLOSED,
    )


def _ranges() -> Iterator[Vector]:
    for value, statuses in [
        (b"bytes=0-99999999999999999999", (200, 206)), (b"bytes=0-18446744073709551615", (206,)),
        (b"bytes=0-18446744073709551616", (200, 206)), (b"bytes=99999999999999999999-", (200, 416)),
        (b"bytes=9223372036854775807-", (416,)), (b"bytes=-99999999999999999999", (200, 206)), (b"bytes=-0", (416,)),
        (b"bytes=-9223372036854775808", (206,)), (b"bytes=5-1", (200,)), (b"bytes=1--1", (200,)), (b"bytes=a-b", (200,)),
        (b"bytes=", (200,)), (b"bytes=-", (200,)), (b"bytes=0-0,0-0", (200, 206)),
        (b"bytes=" + b"0-0," * 1500 + b"0-0", (200, 206, 400)), (b"bytes 0-1", (200,)), (b"items=0-1", (200,)),
        (b"bytes=0-0\t", (206,)), (b"bytes = 0-0", (200, 206)), (b"Bytes=0-0", (200, 206)), (b"bytes=0-0;x", (200,)),
        (b"bytes=+0-0", (200,)), (b"bytes=0x0-0x1", (200,)), (b"bytes=0-0-0", (200,)),
    ]:
        yield Vector(f"Range: {value[:36]!r}", "9110 14.2", GET + b"Range: " + value + b"\r\n\r\n", statuses, IN_STEP)
    yield Vector("two Ranges", "9110 5.3", GET + b"Range: bytes=0-0\r\nRange: bytes=1-1\r\n\r\n", (200, 206, 400), IN_STEP)


def _encodings() -> Iterator[Vector]:
    for path in [
        b"%", b"%2", b"%zz", b"a%", b"a%0", b"%%41", b"%u0041", b"%ff", b"%c0%af", b"%ed%a0%80", b"%f5%80%80%80", b"a%c3",
    ]:
        yield Vector(
            f"key {path!r}", "9110 4.2.1", b"GET /bucket/" + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (400,), EITHER
        )
        yield Vector(
            f"prefix {path!r}",
            "9110 4.2.1",
            b"GET /bucket?prefix=" + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            (400,),
            EITHER,
        )
    for path in [b"..%2f..%2fetc", b"../x", b"./..", b"a/../../x", b"%2e%2e/x", b"%2e%2e%2f%2e%2e%2fx"]:
        yield Vector(
            f"key {path!r}", "3986 6.2.2", b"GET /bucket/" + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 404), IN_STEP
        )
    for path in [
        b"%00", b"%0d%0aX-Injected:%201", b"//", b"a//b", b"%25%30%41", b"a%20b", b"a+b",
        b"\x80".replace(b"\x80", b"%C3%A4"),
    ]:
        yield Vector(
            f"key {path!r}", "9110 4.2.1", b"GET /bucket/" + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 404), IN_STEP
        )


INJECTED = b"%0d%0aX-Injected:%201%0d%0a%0d%0ainjected"


def _injections() -> Iterator[Vector]:
    end = b" HTTP/1.1\r\nHost: localhost\r\n"
    for name in [b"content-type", b"content-language", b"expires", b"cache-control", b"content-disposition", b"content-encoding"]:
        yield Vector(
            f"response-{name.decode()}",
            "9110 5.5",
            b"GET /bucket/canary?response-" + name + b"=a" + INJECTED + end + b"\r\n",
            (200, 400),
            IN_STEP,
        )
        yield Vector(
            f"response-{name.decode()} with NUL",
            "9110 5.5",
            b"GET /bucket/canary?response-" + name + b"=a%00b" + end + b"\r\n",
            (200, 400),
            IN_STEP,
        )
    for query in [
        b"versionId=", b"uploadId=", b"prefix=", b"marker=", b"delimiter=", b"encoding-type=",
        b"list-type=2&continuation-token=", b"max-keys=", b"x-id=", b"partNumber=1&uploadId=", b"acl=", b"x-amz-meta-a=",
        b"x-amz-checksum-mode=",
    ]:
        for place in (b"/bucket?", b"/bucket/canary?", b"/none/canary?"):
            yield Vector(
                f"{place.decode()}{query.decode()}",
                "9110 5.5",
                b"GET " + place + query + INJECTED + end + b"\r\n",
                (200, 400, 404, 405, 501),
                IN_STEP,
            )
    for path in [b"/" + INJECTED, b"/bucket" + INJECTED + b"/k", b"/bucket/k" + INJECTED]:
        for method in (b"GET", b"DELETE", b"HEAD"):
            yield Vector(
                f"{method.decode()} {path[:12].decode()}",
                "9110 5.5",
                method + b" " + path + end + b"Content-Length: 0\r\n\r\n",
                (204, 400, 404, 405),
                IN_STEP,
            )
    for header in [
        b"Origin", b"x-amz-request-id", b"x-amz-expected-bucket-owner", b"If-None-Match", b"If-Match", b"If-Modified-Since",
        b"Accept-Encoding", b"Connection",
    ]:
        yield Vector(
            f"{header.decode()} echoes",
            "9110 5.5",
            GET + header + b": a%0d%0aX-Injected: 1\r\n\r\n",
            (200, 400, 403, 412, 501),
            EITHER,
        )


def _sizes() -> Iterator[Vector]:
    yield Vector(
        "a target of 1 MiB",
        "9110 15.5.15",
        b"GET /bucket/" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        (400, 414),
        CLOSED,
    )
    yield Vector(
        "a method of 64 KiB", "9112 3", b"A" * (64 << 10) + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 405, 501), CLOSED
    )
    yield Vector("a header of 1 MiB", "9110 5.4", GET + b"X-Long: " + b"a" * (1 << 20) + b"\r\n\r\n", (400,), CLOSED)
    yield Vector("a name of 1 MiB", "9110 5.4", GET + b"a" * (1 << 20) + b": b\r\n\r\n", (400,), CLOSED)
    yield Vector(
        "10,000 headers",
        "9110 5.4",
        GET + b"".join(b"X-%d: y\r\n" % number for number in range(10_000)) + b"\r\n",
        (400,),
        CLOSED,
    )
    yield Vector(
        "3,000 parameters",
        "9112 3",
        b"GET /bucket?" + b"&a" * 3_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        (200, 400, 414, 501),
        EITHER,
    )
    yield Vector(
        "a key of 2 KiB", "9112 3", b"GET /bucket/" + b"a" * 2048 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 404), IN_STEP
    )


def _pipelines() -> Iterator[Vector]:
    end = b" HTTP/1.1\r\nHost: localhost\r\n"
    for line, body, statuses in [
        (b"GET /bucket/none", b"", (404,)), (b"GET /none", b"", (404,)), (b"PUT /none/key", b"abcd", (404,)),
        (b"POST /bucket/key", b"abcd", (405,)), (b"PUT /bucket?versioning", b"<no", (400,)),
        (b"POST /bucket?delete", b"<x/>", (400,)), (b"PUT /bucket?acl&policy", b"abcd", (400,)),
        (b"PUT /bucket/key?uploadId=none&partNumber=1", b"abcd", (404,)), (b"PUT /bucket/key?partNumber=1", b"abcd", (400,)),
        (b"PUT /B", b"", (400,)), (b"GET /bucket/canary?torrent", b"", (501,)), (b"GET /bucket?none", b"", (501,)),
    ]:
        length = b"Content-Length: %d\r\n\r\n" % len(body)
        yield Vector(
            f"{line.decode()} is refused", "9112 9.3.2", line + end + length + body, statuses, EITHER if body else IN_STEP
        )
        chunked = b"Transfer-Encoding: chunked\r\n\r\n" + (b"%x\r\n" % len(body) + body + b"\r\n" if body else b"") + b"0\r\n\r\n"
        yield Vector(f"{line.decode()} is refused, chunked", "9112 9.3.2", line + end + chunked, statuses, EITHER)
    smuggled = b"GET /bucket/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield Vector(
        "a body that looks like a request",
        "9112 11.2",
        PUT + b"Content-Length: %d\r\n\r\n" % len(smuggled) + smuggled,
        (200,),
        IN_STEP,
    )


def _aws_chunked() -> Iterator[Vector]:
    crc = b"x-amz-checksum-crc32:7YLNEQ==\r\n"  # of "abcd"

    def put(
        body: bytes,
        decoded: bytes = b"4",
        trailer: bytes = b"x-amz-trailer: x-amz-checksum-crc32\r\n",
        kind: bytes = b"STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    ) -> bytes:
        head = b"PUT /bucket/never HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: aws-chunked\r\nx-amz-content-sha256: " + kind
        return (
            head
            + b"\r\nx-amz-decoded-content-length: "
            + decoded
            + b"\r\n"
            + trailer
            + b"Content-Length: %d\r\n\r\n" % len(body)
            + body
        )

    good = b"4\r\nabcd\r\n0\r\n" + crc + b"\r\n"
    section = "S3 aws-chunked"
    yield Vector("aws-chunked as it should be", section, put(good), (200,), IN_STEP)
    for body in [
        b"", b"4\r\nabcd\r\n", b"4\r\nabcd\r\n0\r\n", b"4\r\nabcd\r\n0\r\n\r\n", b"4\r\nabcd\r\n0\r\n" + crc,
        b"5\r\nabcd\r\n0\r\n" + crc + b"\r\n", b"3\r\nabcd\r\n0\r\n" + crc + b"\r\n", b"0x4\r\nabcd\r\n0\r\n" + crc + b"\r\n",
        b"-4\r\nabcd\r\n0\r\n" + crc + b"\r\n", b"ffffffffffffffff\r\nabcd\r\n0\r\n" + crc + b"\r\n", b"4\nabcd\n0\n\n",
        b"4\r\nabcdX0\r\n" + crc + b"\r\n", b"g\r\n", good + b"x", good + good,
        b"4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", b"4\r\nabcd\r\n0\r\nnonsense\r\n\r\n",
        b"4\r\nabcd\r\n0\r\n:x\r\n\r\n", b"4\r\nabcd\r\n0\r\nx-amz-checksum-sha1:AAAA\r\n\r\n",
        b"4\r\nabcd\r\n0\r\n" + crc + crc + b"\r\n", b"4\r\nabcd\r\n0\r\n" + crc + b"x-amz-acl:public-read\r\n\r\n",
        b"4\r\nabcd\r\n0\r\n" + b"x" * 100_000 + b"\r\n\r\n",
        b"0" * 100_000,
        b"4;" + b"e" * 100_000 + b"\r\nabcd\r\n0\r\n" + crc + b"\r\n",
        b"4\r\nabcd\r\n0\r\nx-amz-checksum-crc32:7YLNEQ==\x00\r\n\r\n",
    ]:
        yield Vector(f"aws-chunked {body[:30]!r}", section, put(body), (400,), EITHER)
    for decoded in [b"", b"3", b"5", b"-4", b"+4", b"0x4", b"4;", b"99999999999999999999", b"18446744073709551615"]:
        yield Vector(f"decoded length {decoded!r}", section, put(good, decoded), (400, 411), EITHER)
    for trailer in [
        b"", b"x-amz-trailer: \r\n", b"x-amz-trailer: x-amz-checksum-none\r\n", b"x-amz-trailer: content-length\r\n",
        b"x-amz-trailer: x-amz-checksum-sha256\r\n",
    ]:
        yield Vector(f"trailer {trailer!r}", section, put(good, trailer=trailer), (400,), EITHER)
    for kind in [
        b"STREAMING-", b"STREAMING-NONE", b"STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", b"STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    ]:
        yield Vector(f"kind {kind.decode()}", section, put(good, kind=kind), (400, 501), EITHER)


def vectors() -> list[Vector]:
    groups = [
        _content_length,
        _transfer_encoding,
        _lines,
        _request_line,
        _host,
        _chunks,
        _expect,
        _ranges,
        _encodings,
        _injections,
        _sizes,
        _pipelines,
        _aws_chunked,
    ]
    return [vector for group in groups for vector in group()]


def admin_vectors() -> list[Vector]:
    """The HTTP vectors of the S3 port, and vectors for the paths and bodies of the admin API."""
    wire = [
        vector
        for group in (_content_length, _transfer_encoding, _lines, _request_line, _sizes)
        for vector in group()
        if vector.after is CLOSED
    ]
    chunked = _chunks(b"POST /_penstock/clock HTTP/1.1\r\nHost: localhost\r\n")
    wire += [vector for vector in chunked if vector.after is CLOSED]
    own: list[Vector] = []

    def post(path: bytes, body: bytes) -> bytes:
        return b"POST /_penstock/" + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    for path in [b"namespaces", b"clock", b"seed", b"users", b"journal-query", b"retry-tests"]:
        for body in [
            b"{", b"[]", b"null", b"nul", b"1e999", b'{"a":1,"a":2}', b"\xff\xfe", b'{"name":"\xff"}', b'{"name":"\\ud800"}',
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b"{" + b",".join(b'"%d":0' % number for number in range(50_000)) + b"}", b"[" + b"0," * 1_100_000 + b"0]", b"\x00",
            b'{"name":"a\\u0000b"}',
            b"9" * 100_000,
        ]:
            own.append(Vector(f"{path.decode()} {body[:24]!r}", "8259", post(path, body), (400, 404), EITHER))
    for path in [
        b"../users", b"%2e%2e/users", b"namespaces/%zz", b"namespaces/%00", b"namespaces/..%2f", b"journal/%0d%0aX-Injected:1",
        b"access-keys/", b"clock/" + b"a" * 4096, b"", b"users/x/y",
    ]:
        own.append(
            Vector(
                f"DELETE {path[:24]!r}",
                "9110 15.5.5",
                b"DELETE /_penstock/" + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                (400, 404, 405),
                EITHER,
            )
        )
    for host in [b"evil", b"evil:80", b"127.0.0.1.evil", b"localhost.evil", b"0.0.0.0", b"[::]", b"2130706433", b"a@localhost"]:
        own.append(
            Vector(
                f"Host {host!r}",
                "9110 15.5.20",
                b"GET /_penstock/users HTTP/1.1\r\nHost: " + host + b"\r\n\r\n",
                (400, 421),
                CLOSED,
            )
        )
    own.append(Vector("9 MiB", "9110 15.5.14", post(b"users", b" " * (9 << 20)), (400,), CLOSED))
    return wire + own
