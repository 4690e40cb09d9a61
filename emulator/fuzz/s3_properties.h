// Properties of the parsers of request targets, ranges, documents and aws-chunked bodies.
#ifndef PENSTOCK_EMULATOR_FUZZ_S3_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_S3_PROPERTIES_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/utf8.h"
#include "base/xml/xml.h"
#include "emulator/auth/body/chunked_body.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/multipart/complete_request.h"
#include "emulator/s3/objects/ranges.h"
#include "emulator/s3/protocol/target.h"
#include "emulator/s3/protocol/text.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

// Removes and returns the first line of `input`, which contains parameters of the target.
inline std::string_view TakeLine(std::string_view& input) {
  const std::size_t end = input.find('\n');
  const std::string_view line = input.substr(0, end);
  input = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
  return line;
}

inline void CheckError(const Error& error) {
  PENSTOCK_CHECK(error.http_status >= 400 && !error.code.empty());
}

// Input: "host\ntarget". Encoding the parsed bucket and key and parsing them returns the same ones.
inline void CheckTarget(std::string_view input) {
  const std::string_view host = TakeLine(input);
  const s3::HostRules rules = s3::HostRules::Default("us-east-1");
  const Result<s3::Target> parsed = s3::ParseTarget(input, host, rules);
  if (!parsed.ok()) return CheckError(parsed.error());
  const s3::Target& target = *parsed;
  PENSTOCK_CHECK(target.raw_path.starts_with('/'));
  PENSTOCK_CHECK(!target.bucket.empty() || target.key.empty());
  PENSTOCK_CHECK(target.key.value.size() + target.bucket.value.size() <=
                 input.size() + host.size());
  PENSTOCK_CHECK(IsValidUtf8(target.bucket.value) && IsValidUtf8(target.key.value));
  for (const s3::QueryParameter& parameter : target.query) {
    PENSTOCK_CHECK(target.Has(parameter.name));
    PENSTOCK_CHECK(IsValidUtf8(parameter.name) && IsValidUtf8(parameter.value));
  }

  const std::string again =
      "/" + s3::PathEncode(target.bucket.value) + "/" + s3::PathEncode(target.key.value);
  const Result<s3::Target> reparsed = s3::ParseTarget(again, "127.0.0.1", rules);
  if (!target.bucket.empty() && target.bucket.value.find('/') == std::string::npos) {
    PENSTOCK_CHECK(reparsed.ok() && reparsed->bucket == target.bucket &&
                   reparsed->key == target.key);
  }
  // Canonical forms are fixed points: canonicalizing them again changes nothing.
  const std::string path = auth::CanonicalPath(target.raw_path);
  PENSTOCK_CHECK(auth::CanonicalPath(path) == path);
  const std::string query = auth::CanonicalQuery(target.raw_query, "X-Amz-Signature");
  PENSTOCK_CHECK(auth::CanonicalQuery(query, "X-Amz-Signature") == query);

  s3::RequestHead head;
  for (const std::string_view method : {"GET", "PUT", "POST", "DELETE"}) {
    head.method = method;
    const s3::Resolution resolution = s3::ResolveOperation(head, target);
    PENSTOCK_CHECK((resolution.operation != nullptr) != resolution.error.has_value());
    if (resolution.error) CheckError(*resolution.error);
  }
}

// Input: "size\nheader". Accepted ranges are within the object.
inline void CheckRange(std::string_view input) {
  const std::uint64_t size = s3::ParseDecimal(TakeLine(input)).value_or(0);
  const Result<s3::RangeChoice> choice = s3::ChooseRange(input, size);
  if (choice.ok()) {
    PENSTOCK_CHECK(choice->range.begin <= choice->range.end && choice->range.end <= size);
    PENSTOCK_CHECK(choice->partial || choice->range.size() == size);
  } else {
    CheckError(choice.error());
  }
  const Result<ByteRange> copied = s3::ParseCopyRange(input, size);
  if (copied.ok()) {
    PENSTOCK_CHECK(copied->begin < copied->end && copied->end <= size);
  } else {
    CheckError(copied.error());
  }
}

struct XmlContents {
  std::size_t elements = 0;
  std::size_t text_bytes = 0;
  std::string rewritten;  // The same tree with one name for all elements.
};

inline void Collect(const XmlElement& element, XmlContents& contents, int depth = 0) {
  // XmlDocument accepts any depth, but this function is recursive.
  constexpr int kMaxDepth = 200;
  if (depth == kMaxDepth) return;
  const std::string text = element.text();
  ++contents.elements;
  contents.text_bytes += text.size();
  contents.rewritten += "<e>";
  AppendXmlEscaped(contents.rewritten, text);
  for (const XmlElement& child : element.Children()) Collect(child, contents, depth + 1);
  contents.rewritten += "</e>";
}

// The parsed content is not larger than the document, because custom entities are not expanded.
// Writing the content and parsing it returns the same content.
inline void CheckXml(std::string_view input) {
  const Result<std::vector<s3::RequestedPart>> parts = s3::ParseCompleteRequest(input);
  if (!parts.ok()) CheckError(parts.error());
  const Result<XmlDocument> document = XmlDocument::Parse(input);
  if (!document.ok()) {
    PENSTOCK_CHECK(!parts.ok() && document.error().code == "MalformedXML");
    return;
  }
  XmlContents contents;
  Collect(document->root(), contents);
  PENSTOCK_CHECK(contents.text_bytes <= input.size() && contents.elements <= input.size());
  const Result<XmlDocument> again = XmlDocument::Parse(contents.rewritten);
  PENSTOCK_CHECK(again.ok());
  XmlContents contents_again;
  Collect(again->root(), contents_again);
  PENSTOCK_CHECK(contents_again.rewritten == contents.rewritten);
}

// An encoded body in memory that delivers up to `step` bytes per read.
class SteppedBody final : public s3::BodyReader {
 public:
  SteppedBody(std::string_view text, std::size_t step) : text_(text), step_(step) {}
  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min({buffer.size(), step_, text_.size()});
    if (count > 0) std::memcpy(buffer.data(), text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return std::nullopt; }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  std::string_view text_;
  std::size_t step_;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

struct AwsChunkedOutcome {
  std::string body;
  std::string error;  // S3 code. Empty: read to its end.
  std::vector<std::pair<std::string, std::string>> trailers;
  bool operator==(const AwsChunkedOutcome&) const = default;
};

inline AwsChunkedOutcome DecodeAwsChunked(std::string_view input,
                                          const auth::ChunkedOptions& options, std::size_t step) {
  SteppedBody encoded(input, step);
  auth::ChunkedBody decoded(encoded, options);
  AwsChunkedOutcome outcome;
  std::vector<std::byte> buffer(std::max<std::size_t>(step, 1));
  for (;;) {
    const Result<std::size_t> count = decoded.Read(buffer);
    if (!count.ok()) {
      CheckError(count.error());
      // The amount of data before the error depends on the step.
      return {{}, count.error().code, {}};
    }
    if (*count == 0) break;
    outcome.body.append(AsText(ByteView(buffer).first(*count)));
    PENSTOCK_CHECK(outcome.body.size() <= options.decoded_length);
  }
  PENSTOCK_CHECK(outcome.body.size() == options.decoded_length);
  outcome.trailers = decoded.Trailers();
  return outcome;
}

// Input: "decoded-length trailer,names\nbody". The result does not depend on the read size, and
// unsigned chunks are refused if signing is required.
inline void CheckAwsChunked(std::string_view input) {
  std::string_view line = TakeLine(input);
  const std::size_t space = std::min(line.find(' '), line.size());
  auth::ChunkedOptions options;
  options.decoded_length = s3::ParseDecimal(line.substr(0, space), 1 << 20).value_or(0);
  options.allow_trailer = space < line.size();
  if (options.allow_trailer && space + 1 < line.size())
    options.declared_trailers = {std::string(line.substr(space + 1))};
  const AwsChunkedOutcome whole =
      DecodeAwsChunked(input, options, std::max<std::size_t>(input.size(), 1));
  PENSTOCK_CHECK(DecodeAwsChunked(input, options, 1) == whole);
  PENSTOCK_CHECK(DecodeAwsChunked(input, options, 7) == whole);
  options.signing = auth::ChunkSigning{.key = {},
                                       .access_key_id = "AKIA",
                                       .amz_date = "20130524T000000Z",
                                       .scope = "s",
                                       .seed_signature = std::string(64, '0')};
  PENSTOCK_CHECK(!DecodeAwsChunked(input, options, 64).error.empty());
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_S3_PROPERTIES_H_
