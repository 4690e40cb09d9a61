"""Writes recorded_requests.h: four valid requests signed by botocore, for mutations_test.cc.

Run it as `python emulator/auth/record_requests.py`. Credentials and date are those of AWS's documentation, so the output
is the same every time. botocore signs no chunks: their strings to sign are put together here, as S3's documentation
describes them, and signed with botocore's keys.
"""

import base64
import datetime
import hashlib
import json
import pathlib
import zlib
from unittest import mock

import botocore
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

CREDENTIALS = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
REGION = "us-east-1"
DATE = datetime.datetime(2013, 5, 24)
URL = "https://examplebucket.s3.amazonaws.com/folder/a%20b.txt?x-id=PutObject"
HEADERS = {"Content-Type": "text/plain", "x-amz-meta-color": "blue"}
CHUNKS = [(b"a", 8192), (b"b", 5)]
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


class PayloadAuth(botocore.auth.S3SigV4Auth):
    """Signs a given value of x-amz-content-sha256."""

    def __init__(self, claim):
        super().__init__(CREDENTIALS, "s3", REGION)
        self.claim = claim

    def payload(self, request):
        return self.claim


def new_request(more=None, data=b""):
    headers = {"Host": "examplebucket.s3.amazonaws.com", **HEADERS, **(more or {})}
    return AWSRequest(method="PUT", url=URL, headers=headers, data=data)


def signed_by_header(claim, more=None):
    """Returns the request, its signer and its signature."""
    request = new_request(more)
    signer = PayloadAuth(claim)
    signer.add_auth(request)
    return request, signer, request.headers["Authorization"].rsplit("=", 1)[1]


def presigned():
    request = new_request()
    botocore.auth.S3SigV4QueryAuth(CREDENTIALS, "s3", REGION, expires=3600).add_auth(request)
    return request


def chunk_signature(signer, request, previous, data):
    lines = ["AWS4-HMAC-SHA256-PAYLOAD", request.context["timestamp"], signer.credential_scope(request), previous]
    lines += [EMPTY_SHA256, hashlib.sha256(data).hexdigest()]
    return signer.signature("\n".join(lines), request)


def trailer_signature(signer, request, previous, block):
    lines = ["AWS4-HMAC-SHA256-TRAILER", request.context["timestamp"], signer.credential_scope(request), previous]
    return signer.signature("\n".join([*lines, hashlib.sha256(block).hexdigest()]), request)


def chunked_body(request, signer, seed, trailer):
    """Returns the body, with "{a*8192}" for a run of one letter. The text and `trailer` are sent unchanged."""
    body, previous = "", seed
    for letter, count in CHUNKS:
        previous = chunk_signature(signer, request, previous, letter * count)
        body += f"{count:x};chunk-signature={previous}\r\n{{{letter.decode()}*{count}}}\r\n"
    previous = chunk_signature(signer, request, previous, b"")
    body += f"0;chunk-signature={previous}\r\n"
    if trailer:
        signature = trailer_signature(signer, request, previous, f"{trailer}\n".encode())
        body += f"{trailer}\r\nx-amz-trailer-signature:{signature}\r\n"
    return body + "\r\n"


def record_chunked(claim, trailer=""):
    more = {
        "Content-Encoding": "aws-chunked",
        "x-amz-decoded-content-length": str(sum(count for _, count in CHUNKS)),
    }
    if trailer:
        more["x-amz-trailer"] = trailer.split(":")[0]
    request, signer, seed = signed_by_header(claim, more)
    return request, chunked_body(request, signer, seed, trailer)


def literal(text, indent):
    """Returns a C++ string literal with one or more source lines per line of text."""
    pieces = []
    for line in text.splitlines(keepends=True):
        parts = [line[at : at + 100] for at in range(0, len(line), 100)]
        pieces += [json.dumps(part) for part in parts]
    return ("\n" + " " * indent).join(pieces)


def constant(name, request, body):
    target = request.url.split("examplebucket.s3.amazonaws.com", 1)[1]
    headers = "".join(f"{header}: {value}\n" for header, value in request.headers.items())
    return (
        f"inline constexpr RecordedRequest {name} = {{\n"
        f'    .method = "{request.method}",\n'
        f"    .target =\n        {literal(target, 8)},\n"
        f"    .headers =\n        {literal(headers, 8)},\n"
        f"    .body =\n        {literal(body, 8)},\n"
        "};\n"
    )


def main():
    welcome = "Welcome to Amazon S3."
    crc32 = base64.b64encode(zlib.crc32(b"".join(letter * count for letter, count in CHUNKS)).to_bytes(4, "big")).decode()
    with mock.patch("botocore.auth.get_current_datetime", return_value=DATE):
        in_header, _, _ = signed_by_header(hashlib.sha256(welcome.encode()).hexdigest())
        recorded = [
            constant("kRecordedHeader", in_header, welcome),
            constant("kRecordedPresigned", presigned(), welcome),
            constant("kRecordedChunked", *record_chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")),
            constant(
                "kRecordedTrailer",
                *record_chunked("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", f"x-amz-checksum-crc32:{crc32}"),
            ),
        ]
    text = f"""// Valid requests signed by botocore {botocore.__version__}, with credentials and date of AWS's documentation.
//
// Generated by record_requests.py: change that file and run it again. Test data, not part of the
// library.
#ifndef PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_
#define PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_

#include <string_view>

namespace penstock::emulator::auth {{

struct RecordedRequest {{
  std::string_view method;
  std::string_view target;
  std::string_view headers;  // "Name: value\\n" each
  std::string_view body;     // "{{a*8192}}" stands for 8192 times the letter a
}};

{chr(10).join(recorded)}
}}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_
"""
    pathlib.Path(__file__).with_name("recorded_requests.h").write_text(text)


if __name__ == "__main__":
    main()
