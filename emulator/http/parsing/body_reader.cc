#include "emulator/http/parsing/body_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/http/parsing/wire_error.h"
#include "emulator/message/errors.h"

namespace penstock::emulator::http {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// Smaller reads go through the connection's buffer, where one system call serves many of them.
constexpr std::size_t kDirectBytes = 4 << 10;

}  // namespace

WireBodyReader::WireBodyReader(Stream& stream, InputBuffer& buffer, const Framing& framing,
                               std::chrono::milliseconds timeout)
    : stream_(stream),
      buffer_(buffer),
      framing_(framing),
      timeout_(timeout),
      continue_pending_(framing.expect_continue) {}

std::optional<std::uint64_t> WireBodyReader::Length() const {
  if (framing_.body != BodyFraming::kLength) return std::nullopt;
  return framing_.length;
}

bool WireBodyReader::at_end() const {
  if (failure_) return false;
  switch (framing_.body) {
    case BodyFraming::kUndeclared: return true;
    case BodyFraming::kLength: return bytes_read_ == framing_.length;
    case BodyFraming::kChunked: return decoder_.done();
  }
  return true;
}

Result<std::size_t> WireBodyReader::Read(MutableByteView into) {
  if (into.empty() || at_end()) return std::size_t{0};
  if (failure_) return *failure_;
  if (continue_pending_) PENSTOCK_TRY(SendContinue());
  return framing_.body == BodyFraming::kLength ? ReadLength(into) : ReadChunked(into);
}

Result<std::optional<std::size_t>> WireBodyReader::ReadArrived(MutableByteView into) {
  const std::chrono::milliseconds usual = std::exchange(timeout_, std::chrono::milliseconds(0));
  last_status_ = IoStatus::kOk;
  const Result<std::size_t> got = Read(into);
  timeout_ = usual;
  if (got.ok()) return std::optional(*got);
  if (last_status_ != IoStatus::kWouldBlock) return got.error();
  failure_.reset();  // the body has not failed
  return std::optional<std::size_t>();
}

std::chrono::milliseconds WireBodyReader::RemainingTimeout() const {
  const std::chrono::milliseconds earned(bytes_read_ * 1000 / kSlowestBytesPerSecond);
  return std::clamp(timeout_ + earned - waited_, std::chrono::milliseconds(0), timeout_);
}

Result<void> WireBodyReader::SendContinue() {
  continue_pending_ = false;
  const ByteView response = AsBytes(kContinue);
  const IoResult sent = stream_.Write({&response, 1}, More::kNo, timeout_);
  if (sent.status == IoStatus::kOk) return Ok();
  // A part of the interim response may have been sent, so nothing else can be sent.
  last_status_ = sent.status == IoStatus::kWouldBlock ? IoStatus::kTimeout : sent.status;
  return Short();
}

Result<std::size_t> WireBodyReader::ReadLength(MutableByteView into) {
  const std::uint64_t left = framing_.length - bytes_read_;
  const std::size_t got = Take(into.first(std::min<std::uint64_t>(into.size(), left)));
  if (got == 0) return Short();
  bytes_read_ += got;
  return got;
}

Result<std::size_t> WireBodyReader::ReadChunked(MutableByteView into) {
  while (!decoder_.done()) {
    if (decoder_.data_left() > 0) {
      const std::size_t got =
          Take(into.first(std::min<std::uint64_t>(into.size(), decoder_.data_left())));
      if (got == 0) return Short();
      bytes_read_ += got;
      decoder_.TakeData(got);
      // The framing after a chunk has often arrived with it. Reading it now detects the end without
      // another read.
      if (decoder_.data_left() > 0) return got;
      Result<std::size_t> used = decoder_.Advance(buffer_.text());
      if (used.ok()) {
        buffer_.Consume(*used);
      } else {
        Fail(std::move(used).error());  // reported by the next Read
      }
      return got;
    }
    Result<std::size_t> used = decoder_.Advance(buffer_.text());
    if (!used.ok()) return Fail(std::move(used).error());
    buffer_.Consume(*used);
    if (decoder_.done() || decoder_.data_left() > 0) continue;
    if (ReadWire({}).status != IoStatus::kOk) return Short();
  }
  return std::size_t{0};
}

IoResult WireBodyReader::ReadWire(MutableByteView into) {
  IoResult result =
      into.empty() ? buffer_.Fill(stream_, std::chrono::milliseconds(0)) : stream_.TryRead(into);
  if (result.status == IoStatus::kWouldBlock && timeout_.count() > 0) {
    const auto began = std::chrono::steady_clock::now();
    const std::chrono::milliseconds timeout = RemainingTimeout();
    result = into.empty() ? buffer_.Fill(stream_, timeout) : stream_.Read(into, timeout);
    // The time limit was already reached.
    if (result.status == IoStatus::kWouldBlock) result.status = IoStatus::kTimeout;
    CountWait(
        std::chrono::round<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began));
  }
  last_status_ = result.status;
  return result;
}

std::size_t WireBodyReader::Take(MutableByteView into) {
  if (buffer_.empty()) {
    const bool chunked = framing_.body == BodyFraming::kChunked;
    if (into.size() >= kDirectBytes || (!chunked && into.size() == framing_.length - bytes_read_)) {
      const IoResult result = ReadWire(into);
      return result.status == IoStatus::kOk ? result.bytes : 0;
    }
    if (ReadWire({}).status != IoStatus::kOk) return 0;
  }
  const std::size_t count = std::min(into.size(), buffer_.size());
  std::memcpy(into.data(), buffer_.text().data(), count);
  buffer_.Consume(count);
  return count;
}

Error WireBodyReader::Short() {
  if (last_status_ == IoStatus::kCancelled) return Fail(message::ServerStops());
  if (last_status_ == IoStatus::kTimeout || last_status_ == IoStatus::kWouldBlock)
    return Fail(RequestTimedOut());
  if (framing_.body == BodyFraming::kLength)
    return Fail(IncompleteBody(framing_.length, bytes_read_));
  return Fail(BrokenChunks("it ends early."));
}

Error WireBodyReader::Fail(Error error) {
  failure_ = std::move(error);
  return *failure_;
}

bool WireBodyReader::Drain(std::uint64_t limit_bytes) {
  if (at_end()) return true;
  if (!drainable()) return false;
  std::array<std::byte, 16 << 10> unwanted;
  std::uint64_t drained = 0;
  while (!at_end() && drained < limit_bytes) {
    const std::size_t step = std::min<std::uint64_t>(unwanted.size(), limit_bytes - drained);
    const Result<std::optional<std::size_t>> got =
        ReadArrived(MutableByteView(unwanted).first(step));
    if (!got.ok() || !*got) break;
    drained += **got;
  }
  return at_end();
}

}  // namespace penstock::emulator::http
