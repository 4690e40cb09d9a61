// Valid requests signed by botocore 1.44.5, with credentials and date of AWS's documentation.
//
// Written by record_requests.py: change that and run it again. Test data; not part of the library.
#ifndef PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_
#define PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_

#include <string_view>

namespace penstock::emulator::auth {

struct RecordedRequest {
  std::string_view method;
  std::string_view target;
  std::string_view headers;  // "Name: value\n" each
  std::string_view body;     // "{a*8192}" stands for that many a
};

inline constexpr RecordedRequest kRecordedHeader = {
    .method = "PUT",
    .target = "/folder/a%20b.txt?x-id=PutObject",
    .headers =
        "Host: examplebucket.s3.amazonaws.com\n"
        "Content-Type: text/plain\n"
        "x-amz-meta-color: blue\n"
        "X-Amz-Date: 20130524T000000Z\n"
        "X-Amz-Content-SHA256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072\n"
        "Authorization: AWS4-HMAC-SHA256 "
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-meta-color, "
        "Signature=2314d66f"
        "f6b32b39f84baf7799c753aa47fe42904cb5900200da13137837dc1f\n",
    .body = "Welcome to Amazon S3.",
};

inline constexpr RecordedRequest kRecordedPresigned = {
    .method = "PUT",
    .target =
        "/folder/"
        "a%20b.txt?x-id=PutObject&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
        "AKIAIOSFODNN7EXAM"
        "PLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires="
        "3600&X-Amz-"
        "SignedHeaders=content-type%3Bhost%3Bx-amz-meta-color&X-Amz-Signature="
        "fb5b79f3235892916e56684be1c75f8"
        "8271fc8793b6226c6266ffa6aa4d7b11d",
    .headers =
        "Host: examplebucket.s3.amazonaws.com\n"
        "Content-Type: text/plain\n"
        "x-amz-meta-color: blue\n",
    .body = "Welcome to Amazon S3.",
};

inline constexpr RecordedRequest kRecordedChunked = {
    .method = "PUT",
    .target = "/folder/a%20b.txt?x-id=PutObject",
    .headers =
        "Host: examplebucket.s3.amazonaws.com\n"
        "Content-Type: text/plain\n"
        "x-amz-meta-color: blue\n"
        "Content-Encoding: aws-chunked\n"
        "x-amz-decoded-content-length: 8197\n"
        "X-Amz-Date: 20130524T000000Z\n"
        "X-Amz-Content-SHA256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\n"
        "Authorization: AWS4-HMAC-SHA256 "
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=content-encoding;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-"
        "decoded-conte"
        "nt-length;x-amz-meta-color, "
        "Signature=0f39d371dc30c116337e4037bd58b852fb6b9e7e00e102849ef574c22eae91"
        "89\n",
    .body =
        "2000;chunk-signature=ff27e6131b86b6297a270f33c70dd66b763eccac62e17c10cd63417276490f52\r\n"
        "{a*8192}\r\n"
        "5;chunk-signature=52c03ed26fae12ad0bd109d28050b3d9ac0125c2c979f0be0c390867fdbfeec8\r\n"
        "{b*5}\r\n"
        "0;chunk-signature=d27434ba1810c80b4fbaed5b40018e3cfffba6f39dce872bfe4afa315124ecaf\r\n"
        "\r\n",
};

inline constexpr RecordedRequest kRecordedTrailer = {
    .method = "PUT",
    .target = "/folder/a%20b.txt?x-id=PutObject",
    .headers =
        "Host: examplebucket.s3.amazonaws.com\n"
        "Content-Type: text/plain\n"
        "x-amz-meta-color: blue\n"
        "Content-Encoding: aws-chunked\n"
        "x-amz-decoded-content-length: 8197\n"
        "x-amz-trailer: x-amz-checksum-crc32\n"
        "X-Amz-Date: 20130524T000000Z\n"
        "X-Amz-Content-SHA256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER\n"
        "Authorization: AWS4-HMAC-SHA256 "
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=content-encoding;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-"
        "decoded-conte"
        "nt-length;x-amz-meta-color;x-amz-trailer, "
        "Signature=efe9e24dd3c694ef2aed377d2222504494d7f488ba70dfef"
        "cb098c6bcf4087a2\n",
    .body =
        "2000;chunk-signature=74b925ea2cde294c39575ce79ff78d0e189e6da4dbeeb3ae55bcd6026ba4735b\r\n"
        "{a*8192}\r\n"
        "5;chunk-signature=3bb915ee587522002bfc86bd9875ad3b3285d56d45c6026ed5b462dbdc553319\r\n"
        "{b*5}\r\n"
        "0;chunk-signature=10417958014d9463435947ec4e3304e52dc101f57e965e4212d5468b91afddf9\r\n"
        "x-amz-checksum-crc32:oqZQAQ==\r\n"
        "x-amz-trailer-signature:"
        "47d28448288398bec004b1519561ce58125402542a2deab573d91759121cab78\r\n"
        "\r\n",
};

}  // namespace penstock::emulator::auth

#endif  // PENSTOCK_EMULATOR_AUTH_RECORDED_REQUESTS_H_
