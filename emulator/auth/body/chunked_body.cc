#include "emulator/auth/body/chunked_body.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/encoding.h"
#include "emulator/auth/signature/refusal.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::uint64_t kSmallestInnerChunk = 8192;
constexpr std::size_t kHeaderLineLimit = 128;  // 16 digits, ";chunk-signature=", 64 digits
constexpr std::size_t kTrailerLineLimit = 2048;
constexpr std::size_t kTrailerCountLimit = 16;
constexpr std::string_view kSignatureExtension = ";chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";
constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

bool IsSignature(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string JoinLines(std::initializer_list<std::string_view> lines) {
  std::string out;
  for (const std::string_view line : lines) {
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

Error ChunkTooSmall(std::uint64_t detected_at, std::uint64_t size) {
  return s3::MakeError("InvalidChunkSizeError", {{"Chunk", std::to_string(detected_at)},
                                                 {"BadChunkSize", std::to_string(size)}});
}

}  // namespace

ChunkedBody::ChunkedBody(s3::BodyReader& inner, ChunkedOptions options)
    : BodyWrapper(inner), options_(std::move(options)), digester_(DigestAlgorithm::kSha256) {
  if (!options_.signing) return;
  options_.signed_framing = true;
  previous_signature_ = options_.signing->seed_signature;
}

Result<std::size_t> ChunkedBody::Read(MutableByteView buffer) {
  if (error_) return *error_;
  auto result = Step(buffer);
  if (!result.ok()) error_ = result.error();
  return result;
}

Result<std::size_t> ChunkedBody::Step(MutableByteView buffer) {
  for (;;) {
    switch (state_) {
      case State::kChunkHeader: PENSTOCK_TRY(ReadChunkHeader()); break;
      case State::kData: return ReadData(buffer);
      case State::kDataEnd: PENSTOCK_TRY(EndChunk()); break;
      case State::kTrailers:
        PENSTOCK_TRY(ReadTrailers());
        PENSTOCK_TRY(ExpectEnd());
        if (decoded_ != options_.decoded_length)
          return BodyLengthMismatch(options_.decoded_length, decoded_);
        state_ = State::kEnd;
        break;
      case State::kEnd: return std::size_t{0};
    }
  }
}

Result<void> ChunkedBody::ReadChunkHeader() {
  PENSTOCK_ASSIGN(const std::string line, ReadLine(kHeaderLineLimit, BodyTerminated()));
  std::string_view digits = line;
  if (options_.signed_framing) {
    const std::size_t extension = digits.find(kSignatureExtension);
    if (extension == std::string_view::npos) return BodyTerminated();
    chunk_signature_ = std::string(digits.substr(extension + kSignatureExtension.size()));
    if (!IsSignature(chunk_signature_)) return BodyTerminated();
    digits = digits.substr(0, extension);
  }
  std::uint64_t size = 0;
  const char* const last = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), last, size, 16);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != last) return BodyTerminated();
  return BeginChunk(size);
}

Result<void> ChunkedBody::BeginChunk(std::uint64_t size) {
  ++chunk_index_;
  if (size > 0 && chunk_index_ > 1 && chunk_size_ < kSmallestInnerChunk)
    return ChunkTooSmall(chunk_index_, chunk_size_);
  if (size > options_.decoded_length - decoded_)
    return BodyLengthMismatch(options_.decoded_length, decoded_ + size);
  chunk_size_ = size;
  remaining_ = size;
  if (size > 0) {
    state_ = State::kData;
    return Ok();
  }
  state_ = State::kTrailers;
  if (!options_.signing) return Ok();
  return EndChunk();
}

Result<std::size_t> ChunkedBody::ReadData(MutableByteView buffer) {
  std::size_t count = std::min<std::uint64_t>(buffer.size(), remaining_);
  if (begin_ < end_) {
    count = std::min(count, end_ - begin_);
    std::memcpy(buffer.data(), buffer_.data() + begin_, count);
    begin_ += count;
  } else {
    PENSTOCK_ASSIGN(count, inner().Read(buffer.first(count)));
    if (count == 0) return BodyTerminated();
  }
  if (options_.signing) digester_.Update(buffer.first(count));
  decoded_ += count;
  remaining_ -= count;
  if (remaining_ == 0) state_ = State::kDataEnd;
  return count;
}

// Reads the CRLF after the data of a chunk, then checks its signature. The empty last chunk has no
// CRLF.
Result<void> ChunkedBody::EndChunk() {
  if (chunk_size_ > 0) {
    PENSTOCK_ASSIGN(const std::string line, ReadLine(0, BodyTerminated()));
    state_ = State::kChunkHeader;
  }
  if (!options_.signing) return Ok();
  const std::string hash = HexEncode(AsBytes(digester_.Finish()));
  const ChunkSigning& signing = *options_.signing;
  PENSTOCK_TRY(VerifySignature(JoinLines({"AWS4-HMAC-SHA256-PAYLOAD", signing.amz_date,
                                          signing.scope, previous_signature_, kEmptyHash, hash}),
                               chunk_signature_));
  previous_signature_ = chunk_signature_;
  return Ok();
}

Result<void> ChunkedBody::ReadTrailers() {
  std::string block;
  std::optional<std::string> signature;
  for (;;) {
    PENSTOCK_ASSIGN(const std::string line, ReadLine(kTrailerLineLimit, MalformedTrailer()));
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    const bool room = trailers_.size() < kTrailerCountLimit;
    if (!options_.allow_trailer || colon == std::string::npos || colon == 0 || signature || !room) {
      return MalformedTrailer();
    }
    std::string name = Lower(std::string_view(line).substr(0, colon));
    std::string value(Trimmed(std::string_view(line).substr(colon + 1)));
    if (name == kTrailerSignature) {
      signature = std::move(value);
      continue;
    }
    block += name + ":" + value + "\n";
    trailers_.emplace_back(std::move(name), std::move(value));
  }
  return CheckTrailers(block, std::move(signature));
}

Result<void> ChunkedBody::CheckTrailers(std::string_view block,
                                        std::optional<std::string> signature) {
  // The trailers must be exactly those of x-amz-trailer. An undeclared checksum would not be
  // checked, and a missing one would not be noticed.
  std::vector<std::string> names;
  for (const auto& trailer : trailers_) names.push_back(trailer.first);
  std::vector<std::string> declared = options_.declared_trailers;
  std::sort(names.begin(), names.end());
  std::sort(declared.begin(), declared.end());
  if (names != declared) return MalformedTrailer();
  const bool needs_signature = options_.signed_framing && options_.allow_trailer;
  if (needs_signature != signature.has_value()) return MalformedTrailer();
  if (!needs_signature) return Ok();
  if (!IsSignature(*signature)) return MalformedTrailer();
  if (!options_.signing) return Ok();
  const ChunkSigning& signing = *options_.signing;
  return VerifySignature(JoinLines({"AWS4-HMAC-SHA256-TRAILER", signing.amz_date, signing.scope,
                                    previous_signature_, HexEncode(Sha256(AsBytes(block)))}),
                         *signature);
}

Result<void> ChunkedBody::VerifySignature(std::string_view string_to_sign,
                                          std::string_view provided) {
  const std::string expected = Signature(options_.signing->key, string_to_sign);
  if (ConstantTimeEqual(AsBytes(expected), AsBytes(provided))) return Ok();
  return SignatureDoesNotMatch({.access_key_id = options_.signing->access_key_id,
                                .string_to_sign = string_to_sign,
                                .signature_provided = provided,
                                .canonical_request = {}});
}

Result<void> ChunkedBody::ExpectEnd() {
  if (begin_ < end_) return BodyTerminated();
  PENSTOCK_ASSIGN(const std::size_t more, Refill());
  if (more > 0) return BodyTerminated();
  return Ok();
}

// Must only be called when the buffer is empty.
Result<std::size_t> ChunkedBody::Refill() {
  begin_ = 0;
  end_ = 0;
  PENSTOCK_ASSIGN(end_, inner().Read(buffer_));
  return end_;
}

// Returns the text before CRLF. Returns `too_long` if it has more than `limit` characters, and
// BodyTerminated if the body ends before the CRLF.
Result<std::string> ChunkedBody::ReadLine(std::size_t limit, const Error& too_long) {
  std::string line;
  for (;;) {
    if (begin_ == end_) {
      PENSTOCK_ASSIGN(const std::size_t count, Refill());
      if (count == 0) return BodyTerminated();
    }
    const char c = static_cast<char>(buffer_[begin_++]);
    if (c == '\n') {
      if (!line.ends_with('\r')) return too_long;
      line.pop_back();
      return line;
    }
    if (line.size() > limit) return too_long;
    line += c;
  }
}

}  // namespace penstock::emulator::auth
