#include "client/http/exchange/response_framer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

Error Malformed(const Transfer& transfer, const std::string& what) {
  return Error::Make(ErrorKind::kUnavailable, Authority(transfer.request.endpoint) +
                                                  ": the response is not HTTP/1.1: " + what);
}

// The error of the transfer's own callback.
Error Refused(const Transfer& transfer) { return *transfer.error; }

std::string_view WithoutLineEnd(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = TrimBlanks(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (EqualsIgnoringCase(item, token)) return true;
  }
  return false;
}

// The head parser has checked that all Content-Length headers have the same value.
std::optional<std::uint64_t> ReadLength(const ResponseHead& head) {
  const auto text = head.Find("Content-Length");
  if (!text) return std::nullopt;
  std::uint64_t length = 0;
  std::from_chars(text->data(), text->data() + text->size(), length);
  return length;
}

}  // namespace

void ResponseFramer::Reset(bool head_only, bool expects) {
  state_ = State::kHead;
  head_only_ = head_only;
  expects_ = expects;
  refused_expect_ = has_bytes_ = has_final_head_ = continues_ = false;
  keeps_connection_ = true;
  left_ = 0;
  trailer_bytes_ = 0;
  line_.clear();
}

bool ResponseFramer::IsLines() const {
  return state_ == State::kHead || state_ == State::kChunkSize || state_ == State::kChunkEnd ||
         state_ == State::kTrailer;
}

std::uint64_t ResponseFramer::direct_bytes() const {
  if (state_ == State::kLength || state_ == State::kChunkData) return left_;
  return state_ == State::kUntilClose ? std::numeric_limits<std::uint64_t>::max() : 0;
}

Result<std::size_t> ResponseFramer::Feed(Transfer& transfer, ByteView bytes) {
  if (!bytes.empty()) has_bytes_ = true;
  std::size_t taken = 0;
  while (taken < bytes.size() && !done()) {
    const ByteView rest = bytes.subspan(taken);
    if (IsLines()) {
      PENSTOCK_ASSIGN(const std::size_t count, FeedLine(transfer, AsText(rest)));
      taken += count;
      continue;
    }
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), direct_bytes()));
    if (!transfer.OnBody(rest.first(count))) return Refused(transfer);
    Advance(count);
    taken += count;
  }
  return taken;
}

Result<void> ResponseFramer::Received(Transfer& transfer, std::size_t count) {
  if (!transfer.OnReceived(count)) return Refused(transfer);
  Advance(count);
  return Ok();
}

void ResponseFramer::Advance(std::uint64_t count) {
  if (state_ == State::kUntilClose) return;
  left_ -= count;
  if (left_ != 0) return;
  state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
}

bool ResponseFramer::OnClosed() {
  if (state_ == State::kUntilClose) state_ = State::kDone;
  return done();
}

Result<std::size_t> ResponseFramer::FeedLine(Transfer& transfer, std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t limit = state_ == State::kHead ? HeadParser::kMaxHeadBytes : kMaxChunkLineBytes;
  const std::size_t count = end == std::string_view::npos ? bytes.size() : end + 1;
  if (line_.size() + count > limit) {
    return Malformed(transfer, "a line is longer than " + std::to_string(limit) + " bytes");
  }
  if (end == std::string_view::npos) {
    line_.append(bytes);
    return count;
  }
  if (line_.empty()) {
    PENSTOCK_TRY(OnLine(transfer, bytes.substr(0, count)));
    return count;
  }
  line_.append(bytes.substr(0, count));
  PENSTOCK_TRY(OnLine(transfer, line_));
  line_.clear();
  return count;
}

Result<void> ResponseFramer::OnLine(Transfer& transfer, std::string_view line) {
  line = WithoutLineEnd(line);
  switch (state_) {
    case State::kChunkSize:
      if (Result<void> read = OnChunkSize(line); !read.ok())
        return Malformed(transfer, "a chunk without a valid size");
      return Ok();
    case State::kChunkEnd:
      if (!line.empty()) return Malformed(transfer, "a chunk is longer than its size");
      state_ = State::kChunkSize;
      return Ok();
    case State::kTrailer:
      trailer_bytes_ += line.size() + 2;
      if (trailer_bytes_ > kMaxTrailerBytes)
        return Malformed(transfer, "its trailers are longer than 64 KiB");
      if (line.empty()) state_ = State::kDone;
      return Ok();
    default: return OnHeadLine(transfer, line);
  }
}

Result<void> ResponseFramer::OnHeadLine(Transfer& transfer, std::string_view line) {
  if (line.starts_with("HTTP/")) keeps_connection_ = !line.starts_with("HTTP/1.0");
  if (!transfer.OnHeadLine(line)) return Refused(transfer);
  return line.empty() ? OnHeadEnd(transfer) : Ok();
}

Result<void> ResponseFramer::OnHeadEnd(Transfer& transfer) {
  const ResponseHead& head = transfer.head.head();
  if (!transfer.head.complete()) {  // an interim head
    if (head.status == 101) return Malformed(transfer, "an unrequested change of protocol");
    continues_ = continues_ || head.status == 100;
    return Ok();
  }
  has_final_head_ = true;
  if (head.status == 417 && expects_) {
    refused_expect_ = true;
    keeps_connection_ = false;
    state_ = State::kDone;
    return Ok();
  }
  for (const Header& header : head.headers) {
    if (!EqualsIgnoringCase(header.name, "Connection")) continue;
    if (HasToken(header.value, "keep-alive")) keeps_connection_ = true;
    if (HasToken(header.value, "close")) {
      keeps_connection_ = false;
      break;
    }
  }
  if (Result<void> chosen = ChooseLength(head); !chosen.ok())
    return Malformed(transfer, chosen.error().message);
  return transfer.BeginOnce() ? Ok() : Result<void>(Refused(transfer));
}

Result<void> ResponseFramer::ChooseLength(const ResponseHead& head) {
  const auto encoding = head.Find("Transfer-Encoding");
  const std::optional<std::uint64_t> length = ReadLength(head);
  if (head_only_ || head.status == 204 || head.status == 304) {
    state_ = State::kDone;
  } else if (encoding) {
    if (!EqualsIgnoringCase(*encoding, "chunked")) {
      return Error::Make(ErrorKind::kUnavailable, "its transfer encoding is not 'chunked'");
    }
    // An intermediary may have used the other length.
    if (length) keeps_connection_ = false;
    state_ = State::kChunkSize;
  } else if (length) {
    left_ = *length;
    state_ = left_ == 0 ? State::kDone : State::kLength;
  } else {
    keeps_connection_ = false;
    state_ = State::kUntilClose;
  }
  return Ok();
}

Result<void> ResponseFramer::OnChunkSize(std::string_view line) {
  const char* const end = line.data() + line.size();
  std::uint64_t size = 0;
  const auto read = std::from_chars(line.data(), end, size, 16);
  // Spaces, and extensions after a semicolon, may follow.
  const bool whole = read.ptr == end || *read.ptr == ';' || *read.ptr == ' ' || *read.ptr == '\t';
  if (read.ec != std::errc() || !whole) return Error::Make(ErrorKind::kUnavailable, "no size");
  left_ = size;
  state_ = size == 0 ? State::kTrailer : State::kChunkData;
  return Ok();
}

}  // namespace penstock::http
