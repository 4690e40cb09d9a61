"""Responses that violate HTTP or never end: framing, heads, connections (RFC 9110, RFC 9112)."""

from __future__ import annotations

from collections.abc import Iterator

from hostile_case import (
    BODY,
    CLOSED,
    EITHER,
    ITEM,
    REUSED,
    S3,
    Case,
    Raises,
    chunks,
    data_loss,
    error,
    fails,
    head,
    ok,
    page,
    timed_out,
    unavailable,
)
from raw_server import Action, Fin, Hold, Pause, Repeat, Rst

# fmt: off


def _content_length() -> Iterator[Case]:
    source = "RFC 9112 6.3"
    for value in [b"", b"-1", b"+4", b"4x", b"0x4", b"4 4", b"4,5", b"4.0", b"four", b"18446744073709551616", b"9" * 300]:
        yield Case(f"Content-Length {value[:24]!r}", source, "get", [head(b"Content-Length: " + value) + BODY],
                   unavailable("Content-Length"), CLOSED)
    yield Case("Content-Length of 2^63", source, "get", [head(b"Content-Length: 9223372036854775808") + BODY],
               fails("no memory for an object of 9223372036854775808 bytes"), CLOSED)
    for first, second in [(b"4", b"5"), (b"5", b"4"), (b"0", b"4"), (b"4", b"")]:
        lines = (b"Content-Length: " + first, b"Content-Length: " + second)
        yield Case(f"Content-Length {first!r} and {second!r}", source, "get", [head(*lines) + BODY],
                   unavailable("Content-Length"), CLOSED)
    yield Case("the same Content-Length twice", "RFC 9110 8.6", "get",
               [head(b"Content-Length: 4", b"Content-Length: 4") + BODY], BODY, EITHER)
    yield Case("Content-Length above the body, then FIN", "RFC 9112 8", "get",
               [head(b"Content-Length: 9") + BODY, Fin()], data_loss("sent all 9"), CLOSED)
    yield Case("Content-Length above the body, then silence", "RFC 9112 8", "get",
               [head(b"Content-Length: 9") + BODY, Hold()], data_loss("sent all 9"), CLOSED)
    yield Case("Content-Length below the body", "RFC 9112 6.3", "get",
               [head(b"Content-Length: 2") + BODY], b"ab", CLOSED)
    yield Case("Content-Length of 8 EiB", "RFC 9110 8.6", "get",
               [head(b"Content-Length: 9223372036854775807") + BODY, Hold()], fails("no memory for an object of"), CLOSED)


def _chunked() -> Iterator[Case]:
    source = "RFC 9112 7.1"
    document = page(ITEM % b"p/a")
    first, rest = document[:30], document[30:]
    whole = b"%x\r\n%b\r\n" % (len(document), document)
    fault = unavailable("a chunk|cut short|[Cc]hunked")
    yield Case("chunks", source, "list", [chunks(b"1e\r\n%b\r\n%x;name=value\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (first,
               len(rest), rest))],
               ["p/a"], REUSED)
    for size in [b"", b"-4", b"+4", b"g", b" 4", b"ffffffffffffffff1", b"10000000000000000", b"\x00"]:
        yield Case(f"chunk size {size!r}", source, "list", [chunks(size + b"\r\n" + document + b"\r\n0\r\n\r\n")], fault, CLOSED)
    for size in [b"0x4", b"4g", b"4 4"]:  # a recipient may see 0 or 4
        yield Case(f"chunk size {size!r}", source, "list", [chunks(size + b"\r\n" + document + b"\r\n0\r\n\r\n")], fails("."),
                   CLOSED)
    yield Case("chunk without its line end", source, "list", [chunks(b"%x\r\n%bXX0\r\n\r\n" % (len(document), document))],
               fault, CLOSED)
    yield Case("chunk longer than its size", source, "list", [chunks(b"2\r\n" + document + b"\r\n0\r\n\r\n")], fault, CLOSED)
    yield Case("chunks without the last", source, "list", [chunks(whole), Fin()], unavailable("cut short"), CLOSED)
    yield Case("chunks without the last, then silence", source, "list", [chunks(whole), Hold()], timed_out("deadline"), CLOSED)
    yield Case("last chunk without the blank line", source, "list", [chunks(whole + b"0\r\n"), Hold()], timed_out("deadline"),
               CLOSED)
    yield Case("trailer that is a framing header", "RFC 9110 6.5.1", "list",
               [chunks(whole + b"0\r\nContent-Length: 99\r\n\r\n")], ["p/a"], EITHER)
    yield Case("object in chunks, its size unknown", S3 + "GetObject", "get", [chunks(b"4\r\nabcd\r\n0\r\n\r\n")],
               data_loss("no Content-Length"), EITHER)
    for value in [b"xchunked", b"gzip", b"gzip, chunked", b"chunked, identity", b"chunked, chunked", b"chunked;q=1", b"identity"]:
        yield Case(f"Transfer-Encoding {value!r}", "RFC 9112 6.1", "get",
                   [head(b"Transfer-Encoding: " + value) + b"4\r\nabcd\r\n0\r\n\r\n"],
                   fails("transfer encoding|encoding type|content unencoding|no Content-Length"),
                   CLOSED)
    yield Case("both framings", "RFC 9112 6.3", "get",
               [head(b"Content-Length: 4", b"Transfer-Encoding: chunked") + b"4\r\nabcd\r\n0\r\n\r\n"], BODY, EITHER)
    yield Case("both framings that differ", "RFC 9112 6.3", "get",
               [head(b"Transfer-Encoding: chunked", b"Content-Length: 99") + b"4\r\nabcd\r\n0\r\n\r\n"], data_loss("99"), EITHER)


def _heads() -> Iterator[Case]:
    length = b"Content-Length: 4"
    yield Case("folded header line", "RFC 9112 5.2", "get", [head(b"X-A: b\r\n c", length) + BODY], BODY, EITHER)
    yield Case("folded Content-Length", "RFC 9112 5.2", "get", [head(b"Content-Length:\r\n 4") + BODY], unavailable("."), CLOSED)
    yield Case("blank before the colon", "RFC 9112 5.1", "get", [ok(BODY, b"X-A : b")], BODY, EITHER)
    yield Case("line without a colon", "RFC 9112 5.1", "get", [head(b"nonsense", length) + BODY], unavailable("."), CLOSED)
    yield Case("empty header name", "RFC 9112 5.1", "get", [head(b": x", length) + BODY], unavailable("."), CLOSED)
    yield Case("NUL in a value", "RFC 9110 5.5", "get", [head(b"X-A: a\x00b", length) + BODY], unavailable("NUL|Nul"), CLOSED)
    for byte in (0x01, 0x7F):  # "recipients MAY retain such characters"
        yield Case(f"byte {byte:#04x} in a value", "RFC 9110 5.5", "get", [ok(BODY, b"X-A: a%cb" % byte)], BODY, EITHER)
    yield Case("NUL in a name", "RFC 9110 5.1", "get", [head(b"X\x00A: a", length) + BODY], unavailable("."), CLOSED)
    yield Case("CR inside a value", "RFC 9112 2.2", "get", [head(b"X-A: a\rContent-Length: 2", length) + BODY],
               unavailable("."), CLOSED)
    yield Case("lines that end in LF alone", "RFC 9112 2.2", "get", [ok().replace(b"\r\n", b"\n")], BODY, EITHER)
    yield Case("bytes above ASCII in a value", "RFC 9110 5.5", "get", [ok(BODY, b"X-A: \xff\xfe\xe4")], BODY, REUSED)
    yield Case("header of 300 KiB", "RFC 9110 5.4", "get", [ok(BODY, b"X-A: " + b"a" * (300 << 10))], fails("longer than"),
               CLOSED)
    yield Case("20,000 headers", "RFC 9110 5.4", "get", [ok(BODY, *[b"X-%d: aaaaaaaaaaaaaaaa" % i for i in range(20_000)])],
               unavailable("."), CLOSED)
    yield Case("HTTP/0.9", "RFC 9112 2.3", "get", [BODY, Fin()], unavailable("."), CLOSED)
    yield Case("HTTP/1.0 without a length", "RFC 9112 6.3", "get", [b'HTTP/1.0 200 OK\r\nETag: "e"\r\n\r\nabcd', Fin()],
               data_loss("no Content-Length"), CLOSED)
    yield Case("HTTP/2 preface", "RFC 9113 3.4", "get",
               [b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00\x03\x00\x00\x00\x64" * 3],
               fails("."), CLOSED)
    yield Case("HTTP/2 in the status line", "RFC 9112 2.3", "get", [ok().replace(b"HTTP/1.1", b"HTTP/2")], unavailable("."),
               CLOSED)
    yield Case("HTTP/3.7 in the status line", "RFC 9112 2.3", "get", [ok().replace(b"HTTP/1.1", b"HTTP/3.7")],
               unavailable("."), CLOSED)
    yield Case("TLS alert to plain HTTP", "RFC 8446 6", "get", [b"\x15\x03\x01\x00\x02\x02\x46", Fin()], unavailable("."), CLOSED)
    yield Case("ICY", "RFC 9112 4", "get", [b"ICY 200 OK\r\n\r\n" + BODY, Fin()], unavailable("."), CLOSED)
    for status in (b"", b"20", b"2000 OK", b"abc", b"099 X", b"-200 OK", b"999 X", b"600 X"):
        yield Case(f"status {status!r}", "RFC 9112 4", "get", [ok(status=status)], fails("."), EITHER)


def _interim() -> Iterator[Case]:
    yield Case("three interim responses", "RFC 9110 15.2", "get", [b"HTTP/1.1 102 Processing\r\n\r\n" * 3 + ok()], BODY, REUSED)
    yield Case("interim response with a length", "RFC 9112 6.3", "get",
               [b"HTTP/1.1 103 Early Hints\r\nContent-Length: 99\r\nETag: \"other\"\r\n\r\n" + ok()], BODY, EITHER)
    yield Case("100 Continue without Expect", "RFC 9110 15.2.1", "get", [b"HTTP/1.1 100 Continue\r\n\r\n" + ok()], BODY,
               REUSED)
    yield Case("101 Switching Protocols", "RFC 9110 15.2.2", "get",
               [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", Hold()], unavailable("."),
               CLOSED)
    yield Case("100 Continue, then silence", "RFC 9110 10.1.1", "put", [b"HTTP/1.1 100 Continue\r\n\r\n", Hold()],
               timed_out("."), CLOSED)
    yield Case("interim response, then FIN", "RFC 9110 15.2", "get", [b"HTTP/1.1 100 Continue\r\n\r\n", Fin()],
               unavailable("."), CLOSED)


def _without_body() -> Iterator[Case]:
    injected = ok(b"evil", etag=b'"evil"')
    yield Case("204 to a read, with a body", "RFC 9112 6.3", "get", [ok(status=b"204 No Content")], fails("."), EITHER)
    yield Case("204 to a deletion, with a body", "RFC 9112 6.3", "delete", [ok(b"evil", status=b"204 No Content")], None, EITHER)
    yield Case("204 and a response behind it", "RFC 9112 9.2", "delete", [head(status=b"204 No Content") + injected], None,
               EITHER)
    yield Case("304 to a read, with a body", "RFC 9110 15.4.5", "get", [ok(status=b"304 Not Modified")], fails("304"), EITHER)
    yield Case("HEAD with a body", "RFC 9110 9.3.2", "head", [ok()], 4, EITHER)
    yield Case("HEAD with a chunked body", "RFC 9110 9.3.2", "head",
               [head(b"Content-Length: 4", b"Transfer-Encoding: chunked") + b"4\r\nabcd\r\n0\r\n\r\n"], 4, EITHER)
    yield Case("HEAD and a response behind it", "RFC 9112 9.2", "head", [head(b"Content-Length: 4") + injected], 4, EITHER)
    yield Case("response to no request behind a body", "RFC 9112 9.2", "get", [ok() + injected], BODY, CLOSED)
    yield Case("one byte behind a body", "RFC 9112 9.2", "get", [ok() + b"\n"], BODY, CLOSED)
    yield Case("408 on the idle connection", "RFC 9110 15.5.9", "get",
               [ok(), Pause(0.05), b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Fin()],
               BODY, CLOSED)
    yield Case("connection ends although it was kept", "RFC 9112 9.3", "get", [ok(BODY, b"Connection: keep-alive"), Fin()],
               BODY, CLOSED)
    yield Case("connection is reset although it was kept", "RFC 9112 9.5", "get", [ok(BODY, b"Connection: keep-alive"), Rst()],
               BODY, CLOSED)
    yield Case("Connection: close on an open connection", "RFC 9112 9.6", "get", [ok(BODY, b"Connection: close"), Hold()],
               BODY, CLOSED)


def _ends() -> Iterator[Case]:
    begin = head(b"Content-Length: 9")
    for end, name in ((Fin(), "FIN"), (Rst(), "RST")):
        for sent, stage in ((b"", "at once"), (b"HTT", "in the status line"), (begin[:30], "in the head"), (begin,
            "behind the head"),
                            (begin + BODY, "in the body")):
            yield Case(f"{name} {stage}", "RFC 9112 8", "get", [*([sent] if sent else []), end], fails("."), CLOSED)
            if "body" not in stage:
                yield Case(f"{name} {stage} of a response to a PUT", "RFC 9112 8", "put", [*([sent] if sent else []), end],
                           fails("."), CLOSED)
    for sent, stage in ((b"", "at once"), (begin[:30], "in the head"), (begin, "behind the head"), (begin + BODY, "in the body")):
        yield Case(f"silence {stage}", "observed: firewalls that drop a connection", "get", [*([sent] if sent else []), Hold()],
                   Raises("S3TimeoutError|S3DataLossError", "deadline|sent all 9"), CLOSED)
    for data, stage in ((ok(b"a" * 100), "head and body"), ):
        yield Case(f"1 byte per 100 ms, {stage}", "observed: overloaded proxies", "get", [*_drip(data)], timed_out("."), CLOSED)
    yield Case("1 byte per 100 ms of the body", "observed: overloaded proxies", "get", [head(b"Content-Length: 100"),
               *_drip(b"a" * 100)],
               data_loss("sent all 100"), CLOSED)
    for early in (True, False):
        when = "before" if early else "after"
        yield Case(f"403 {when} the body of a PUT", "RFC 9112 9.3", "put_large", [error(b"403 Forbidden", b"AccessDenied")],
                   Raises("S3AccessDeniedError", "AccessDenied"), CLOSED if early else EITHER, early)
    yield Case("403 before the body of a PUT, then FIN", "RFC 9112 9.3", "put_large", [error(b"403 Forbidden",
               b"AccessDenied"), Fin()],
               Raises("S3AccessDeniedError|S3UnavailableError", "."), CLOSED, True)
    # The HEAD that looks for the object goes out on a new connection, which the next request uses again.
    yield Case("200 before the body of a PUT", "RFC 9110 10.1.1", "put_large", [ok(b"")],
               unavailable("bytes of the request body were sent"), EITHER, True)
    yield Case("417 to Expect", "RFC 9110 15.5.18", "put_large", [error(b"417 Expectation Failed", b"ExpectationFailed"),
               Fin()], fails("417|lost before a response"), EITHER, True)


def _drip(data: bytes) -> list[Action]:
    return [action for byte in data for action in (bytes([byte]), Pause(0.1))]


def http_cases() -> list[Case]:
    groups = (_content_length, _chunked, _heads, _interim, _without_body, _ends)
    return [case for group in groups for case in group()]


def cases_one_by_one() -> list[Case]:
    """Endless responses, which must not increase the memory of the process; and a late response, whose time matters."""
    begin = head(b"Transfer-Encoding: chunked", etag=b"")
    def of(name: str, source: str, call: str, *actions: Action) -> Case:
        return Case(name, source, call, [*actions], fails("."), CLOSED)
    late = [ok(), Pause(0.05), ok(b"evil", etag=b'"evil"')]
    return [
        Case("response to no request, later", "RFC 9112 9.2", "get", late, BODY, CLOSED),
        of("endless status line", "RFC 9112 4", "get", b"HTTP/1.1 200 ", Repeat(b"a" * 65536)),
        of("endless header", "RFC 9110 5.4", "get", b"HTTP/1.1 200 OK\r\nX-A: ", Repeat(b"a" * 65536)),
        of("endless headers", "RFC 9110 5.4", "get", b"HTTP/1.1 200 OK\r\n", Repeat(b"X-A: aaaaaaaa\r\n" * 4096)),
        of("endless 100 Continue", "RFC 9110 15.2.1", "get", Repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 2048)),
        of("endless 100 Continue, slowly", "RFC 9110 15.2.1", "put", Repeat(b"HTTP/1.1 100 Continue\r\n\r\n", 0.05)),
        of("endless 103", "RFC 9110 15.2", "put", Repeat(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 2048)),
        of("endless chunk extension", "RFC 9112 7.1.1", "get", head(b"Transfer-Encoding: chunked"), b"4;", Repeat(b"a" * 65536)),
        of("endless chunk size", "RFC 9112 7.1", "get", head(b"Transfer-Encoding: chunked"), Repeat(b"0" * 65536)),
        of("endless trailers", "RFC 9112 7.1.2", "get", chunks(b"4\r\nabcd\r\n0\r\n"), Repeat(b"X-A: aaaaaaaa\r\n" * 4096)),
        of("endless error document", "OWASP XML Security", "get", head(b"Transfer-Encoding: chunked", status=b"403 Forbidden",
           etag=b""),
           b"10\r\n<Error><Message>\r\n", Repeat(b"10000\r\n" + b"a" * 65536 + b"\r\n")),
        of("endless error document with a length", "OWASP XML Security", "get", head(b"Content-Length: 1000000000000",
           status=b"400 Bad Request", etag=b""),
           b"<Error><Message>", Repeat(b"a" * 65536)),
        of("endless list", "OWASP XML Security", "list", begin, b"12\r\n<ListBucketResult>\r\n",
           Repeat(b"10000\r\n" + b"<Prefix></Prefix>".ljust(65536) + b"\r\n")),
        of("endless copy result", "OWASP XML Security", "copy", begin, Repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
        of("endless body of a deletion", "RFC 9112 7.1", "delete", begin, Repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
        of("endless body of a PUT", "RFC 9112 7.1", "put", head(b"Transfer-Encoding: chunked"),
           Repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
        of("endless body behind a HEAD", "RFC 9110 9.3.2", "head", head(b"Transfer-Encoding: chunked"),
           Repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
    ]
