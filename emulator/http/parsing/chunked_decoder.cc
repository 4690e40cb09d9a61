#include "emulator/http/parsing/chunked_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"
#include "emulator/http/parsing/head_parser.h"
#include "emulator/http/parsing/wire_error.h"
#include "penstock/base/check.h"

namespace penstock::emulator::http {
namespace {

constexpr std::uint64_t kMaxChunkBytes = 1ull << 62;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Fields that define framing or routing must not appear in a trailer (RFC 9110 section 6.5.1).
bool ForbiddenInTrailer(std::string_view lower_case_name) {
  static constexpr std::array<std::string_view, 7> kForbidden = {
      "content-length", "transfer-encoding", "host",  "connection",
      "trailer",        "authorization",     "expect"};
  return std::find(kForbidden.begin(), kForbidden.end(), lower_case_name) != kForbidden.end();
}

}  // namespace

Result<std::size_t> ChunkedDecoder::Advance(std::string_view input) {
  std::size_t used = 0;
  while (used < input.size() && state_ != State::kData && state_ != State::kDone) {
    const std::string_view rest = input.substr(used);
    const void* found = std::memchr(rest.data(), '\n', rest.size());
    const std::size_t line_bytes =
        found == nullptr ? rest.size() : static_cast<const char*>(found) - rest.data() + 1;
    if (line_.size() + line_bytes > kMaxLineBytes)
      return BrokenChunks("a chunk size or trailer line is too long.");
    line_.append(rest.substr(0, line_bytes));
    used += line_bytes;
    if (found == nullptr) break;
    if (line_.size() < 2 || line_[line_.size() - 2] != '\r')
      return BrokenChunks("a line does not end in CR LF.");
    line_.resize(line_.size() - 2);
    PENSTOCK_TRY(EndLine());
    line_.clear();
  }
  return used;
}

void ChunkedDecoder::TakeData(std::uint64_t bytes) {
  PENSTOCK_CHECK(bytes <= data_left_);
  data_left_ -= bytes;
  if (data_left_ == 0 && state_ == State::kData) state_ = State::kDataEnd;
}

Result<void> ChunkedDecoder::EndLine() {
  switch (state_) {
    case State::kSizeLine: return ReadSizeLine();
    case State::kDataEnd:
      if (!line_.empty()) return BrokenChunks("a chunk is longer than its declared size.");
      state_ = State::kSizeLine;
      return Ok();
    case State::kTrailerLine: return ReadTrailerLine();
    case State::kData:
    case State::kDone: break;
  }
  return Ok();
}

Result<void> ChunkedDecoder::ReadSizeLine() {
  const std::string_view line = line_;
  std::size_t digits = 0;
  std::uint64_t size = 0;
  while (digits < line.size() && HexDigit(line[digits]) >= 0) {
    if (size >= kMaxChunkBytes >> 4) return BrokenChunks("a chunk size is beyond 2^62.");
    size = size << 4 | static_cast<std::uint64_t>(HexDigit(line[digits]));
    ++digits;
  }
  if (digits == 0) return BrokenChunks("a chunk size is not a hexadecimal number.");
  const std::string_view extension = TrimBlanks(line.substr(digits));
  if (!extension.empty() && extension.front() != ';')
    return BrokenChunks("a chunk size is not a hexadecimal number.");
  if (!IsFieldValue(extension)) return BrokenChunks("a chunk extension holds a control character.");
  data_left_ = size;
  state_ = size > 0 ? State::kData : State::kTrailerLine;
  return Ok();
}

Result<void> ChunkedDecoder::ReadTrailerLine() {
  if (line_.empty()) {
    state_ = State::kDone;
    return Ok();
  }
  trailer_bytes_ += line_.size();
  if (trailer_bytes_ > kMaxTrailerBytes || trailers_.size() == kMaxTrailers) {
    return BrokenChunks("the trailer section is too large.");
  }
  const std::size_t colon = line_.find(':');
  if (colon == std::string::npos) return BrokenChunks("a trailer has no colon.");
  std::string name = line_.substr(0, colon);
  if (!IsToken(name))
    return BrokenChunks("a trailer name is empty or holds a character that is not allowed there.");
  for (char& c : name) c = AsciiLower(c);
  if (ForbiddenInTrailer(name))
    return BrokenChunks("a trailer names a field that is not allowed there.");
  const std::string_view value = TrimBlanks(std::string_view(line_).substr(colon + 1));
  if (!IsFieldValue(value)) return BrokenChunks("a trailer value holds a control character.");
  trailers_.emplace_back(std::move(name), std::string(value));
  return Ok();
}

}  // namespace penstock::emulator::http
