// Helpers for the tests of this module: a request as text, responses, sinks and sources in memory.
#ifndef PENSTOCK_CLIENT_S3_VERBS_WIRE_FOR_TEST_H_
#define PENSTOCK_CLIENT_S3_VERBS_WIRE_FOR_TEST_H_

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "client/s3/attempt/attempt_request.h"
#include "client/s3/verbs/wire.h"

namespace penstock::s3 {

// Returns "PUT /bucket/key?query\nName: value\n...\n\ndocument" in path style, or "error: message".
inline std::string Golden(const Result<WireRequest>& request) {
  if (!request.ok()) return "error: " + request.error().message;
  ResolvedEndpoint endpoint;
  endpoint.bucket_in_path = !request->bucket.empty();
  std::string text =
      std::string(Info(request->operation).method) + " " + MakeTarget(*request, endpoint) + "\n";
  for (const http::Header& header : request->headers)
    text += header.name + ": " + header.value + "\n";
  return text + "\n" + request->document;
}

// Returns the headers by lower-case name. Two of one name are joined by '|'.
inline std::map<std::string, std::string> HeadersOf(const WireRequest& request) {
  std::map<std::string, std::string> out;
  for (const http::Header& header : request.headers) {
    std::string& value = out[AsciiLower(header.name)];
    value += (value.empty() ? "" : "|") + header.value;
  }
  return out;
}

inline WireResponse ResponseOf(std::string body, std::vector<http::Header> headers = {},
                               int status = 200) {
  return {{status, std::move(headers)}, std::move(body)};
}

inline BuildContext Context() { return {.region = "us-east-1"}; }

inline BuildContext WithoutChecksums() {
  BuildContext context = Context();
  context.upload_checksums = false;
  context.verify_downloads = false;
  return context;
}

// Returns `text` in pieces. `claimed_size` may differ from its length.
class StringSource final : public BodySource {
 public:
  explicit StringSource(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return claimed_size.value_or(text_.size()); }
  void Rewind() override {
    at_ = 0;
    ++rewinds;
  }
  ByteView Next(std::size_t limit) override {
    const std::string_view piece =
        std::string_view(text_).substr(at_, std::min(limit, piece_bytes));
    at_ += piece.size();
    return AsBytes(piece);
  }

  std::optional<std::uint64_t> crc64nvme() const override { return known_crc64nvme; }
  bool FollowsChecksum() const override { return follows_checksum; }

  std::optional<std::uint64_t> known_crc64nvme;
  bool follows_checksum = false;
  std::optional<std::uint64_t> claimed_size;
  std::size_t piece_bytes = 3;
  int rewinds = 0;

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Collects bytes; can return an error.
class StringSink final : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata& metadata_in,
                     std::optional<std::uint64_t> length) override {
    ++begins;
    text.clear();
    metadata = metadata_in;
    body_length = length;
    if (refusal) return *refusal;
    return Ok();
  }
  MutableByteView Window() override { return window_; }
  Result<void> Commit(std::size_t count) override {
    text.append(AsText(ByteView(window_).first(count)));
    return Ok();
  }

  int begins = 0;
  std::string text;
  ObjectMetadata metadata;
  std::optional<std::uint64_t> body_length;
  std::optional<Error> refusal;

 private:
  std::array<std::byte, 4> window_{};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_WIRE_FOR_TEST_H_
