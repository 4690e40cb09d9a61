#include "emulator/auth/body_chain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/encoding.h"
#include "emulator/auth/body/chunked_body.h"
#include "emulator/auth/body/payload.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/s3/core/operation_traits.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::uint64_t kUnusedBodyLimit = 1 << 20;

char LowerChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Returns the comma-separated members of a header value: trimmed, lower-case, without empty ones.
std::vector<std::string> ListMembers(std::string_view value) {
  std::vector<std::string> members;
  std::string current;
  const auto finish = [&members, &current] {
    while (current.ends_with(' ') || current.ends_with('\t')) current.pop_back();
    if (!current.empty()) members.push_back(std::exchange(current, {}));
  };
  for (const char c : value) {
    if (c == ',') {
      finish();
    } else if (!current.empty() || (c != ' ' && c != '\t')) {
      current += LowerChar(c);
    }
  }
  finish();
  return members;
}

bool HasAwsChunkedEncoding(const s3::RequestHead& head) {
  const auto encoding = head.Find("content-encoding");
  if (!encoding) return false;
  const std::vector<std::string> members = ListMembers(*encoding);
  return std::find(members.begin(), members.end(), "aws-chunked") != members.end();
}

bool IsSupportedTrailer(std::string_view name) {
  static constexpr std::string_view kPrefix = "x-amz-checksum-";
  static constexpr std::array<std::string_view, 10> kAlgorithms = {
      "crc32",  "crc32c", "crc64nvme", "sha1",    "sha256",
      "sha512", "md5",    "xxhash64",  "xxhash3", "xxhash128"};
  if (!name.starts_with(kPrefix)) return false;
  return std::find(kAlgorithms.begin(), kAlgorithms.end(), name.substr(kPrefix.size())) !=
         kAlgorithms.end();
}

Result<std::uint64_t> DecodedLength(const s3::RequestHead& head) {
  const auto text = head.Find("x-amz-decoded-content-length");
  if (!text) return s3::MakeError("MissingContentLength");
  std::uint64_t length = 0;
  const char* const last = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), last, length);
  if (text->empty() || parsed.ec != std::errc() || parsed.ptr != last) {
    return InvalidArgument("x-amz-decoded-content-length must be a number of bytes.",
                           "x-amz-decoded-content-length", *text);
  }
  return length;
}

Result<ChunkedOptions> ReadChunkedOptions(const s3::RequestHead& head, Admission admission) {
  ChunkedOptions options;
  PENSTOCK_ASSIGN(options.decoded_length, DecodedLength(head));
  options.signed_framing = admission.payload_kind == PayloadKind::kStreamingSigned ||
                           admission.payload_kind == PayloadKind::kStreamingSignedTrailer;
  options.signing = std::move(admission.signing);
  options.allow_trailer = admission.payload_kind != PayloadKind::kStreamingSigned;
  const auto declared = head.Find("x-amz-trailer");
  if (declared) options.declared_trailers = ListMembers(*declared);
  for (const std::string& name : options.declared_trailers) {
    if (!IsSupportedTrailer(name)) {
      return InvalidRequest("The value specified in the x-amz-trailer header is not supported");
    }
  }
  const bool needs_trailer = admission.payload_kind == PayloadKind::kStreamingSignedTrailer;
  if ((needs_trailer || declared) && options.declared_trailers.empty()) return MalformedTrailer();
  return options;
}

// A form (POST) has a framing of its own.
bool TakesStreamingBody(const s3::Exchange& exchange) {
  return s3::TraitsOf(exchange).stores_body && exchange.request.method == "PUT";
}

}  // namespace

Result<void> WrapBody(s3::Exchange& exchange, Admission admission) {
  const bool streaming = IsStreaming(admission.payload_kind);
  if (streaming && !TakesStreamingBody(exchange)) {
    return InvalidRequest("The value of x-amz-content-sha256 header is invalid.");
  }
  if (admission.payload_kind == PayloadKind::kHash) {
    if (exchange.body->Length() != std::uint64_t{0}) {
      exchange.WrapBody<HashedBody>(admission.payload_claim);
    } else {
      // The router may never read an empty body, so its hash is checked here.
      std::array<std::byte, 1> none;
      PENSTOCK_TRY(HashedBody(*exchange.body, admission.payload_claim).Read(none));
    }
  }
  // Some clients mark chunked bodies only by Content-Encoding. The decoded length distinguishes
  // them from bodies with a stored encoding.
  const bool marked = !streaming && TakesStreamingBody(exchange) &&
                      HasAwsChunkedEncoding(exchange.request) &&
                      exchange.request.Find("x-amz-decoded-content-length").has_value();
  if (!streaming && !marked) return Ok();
  PENSTOCK_ASSIGN(ChunkedOptions options,
                  ReadChunkedOptions(exchange.request, std::move(admission)));
  exchange.WrapBody<ChunkedBody>(std::move(options));
  return Ok();
}

Result<void> DrainUnused(const s3::Exchange& exchange) {
  if (exchange.body->Length() == std::uint64_t{0} || s3::TraitsOf(exchange).takes_body) return Ok();
  std::array<std::byte, 16384> scratch;
  std::uint64_t total = 0;
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, exchange.body->Read(scratch));
    if (count == 0) return Ok();
    total += count;
    if (total > kUnusedBodyLimit) return s3::MakeError("UnexpectedContent");
  }
}

}  // namespace penstock::emulator::auth
