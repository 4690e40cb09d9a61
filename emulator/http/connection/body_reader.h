// The body of the request in progress, straight from the wire into the caller's memory.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_BODY_READER_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_BODY_READER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/http/connection/chunked_decoder.h"
#include "emulator/http/connection/framing.h"
#include "emulator/http/connection/input_buffer.h"
#include "emulator/http/connection/stream.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::http {

// Never reads past the body's end. Errors are IncompleteBody and RequestTimeout; after one the
// connection must close. A body that arrives more slowly than kSlowestBytesPerSecond, waiting
// counted alone, is timed out like one that stalls.
class WireBodyReader final : public s3::BodyReader {
 public:
  static constexpr std::uint64_t kSlowestBytesPerSecond = 500;

  // Stream and buffer outlive the reader. The buffer holds what arrived behind the head.
  WireBodyReader(Stream& stream, InputBuffer& buffer, const Framing& framing,
                 std::chrono::milliseconds patience);

  Result<std::size_t> Read(MutableByteView into) override;
  // The same without waiting. nullopt: nothing has arrived, and more is to come.
  Result<std::optional<std::size_t>> ReadArrived(MutableByteView into);
  // For who waits between two calls of ReadArrived: how long at most, and how long it was.
  std::chrono::milliseconds PatienceLeft() const;
  void CountWait(std::chrono::milliseconds waited) { waited_ += waited; }

  // Content-Length; nullopt when the request has none (chunked, or no body declared).
  std::optional<std::uint64_t> Length() const override;
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return decoder_.trailers();
  }
  bool WithholdContinue() override { return std::exchange(continue_pending_, false); }

  std::uint64_t bytes_read() const { return bytes_read_; }
  // The whole body was taken off the wire: what follows is the next request.
  bool at_end() const;
  // What is left of the body can be read and thrown away: framing is intact and the client does not
  // wait for "100 Continue".
  bool drainable() const { return !failure_ && !continue_pending_; }

  // Throws away what has arrived of the rest of the body, at most `limit_bytes` of it. True when
  // that was all: the connection can carry another request.
  bool Drain(std::uint64_t limit_bytes);

 private:
  Result<std::size_t> ReadLength(MutableByteView into);
  Result<std::size_t> ReadChunked(MutableByteView into);
  Result<void> SendContinue();
  // Reads once from the wire, into the buffer when `into` is empty; waits no longer than the body's
  // pace allows.
  IoResult ReadWire(MutableByteView into);
  // Up to into.size() bytes from the buffer, else from the wire. 0: see last_status_.
  std::size_t Take(MutableByteView into);
  // The wire gave nothing: remembers and returns the error that follows from last_status_.
  Error Short();
  Error Fail(Error error);

  Stream& stream_;
  InputBuffer& buffer_;
  const Framing framing_;
  std::chrono::milliseconds patience_;
  ChunkedDecoder decoder_;
  std::uint64_t bytes_read_ = 0;
  std::chrono::milliseconds waited_{0};  // for the wire, in all
  IoStatus last_status_ = IoStatus::kOk;
  bool continue_pending_;
  std::optional<Error> failure_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_BODY_READER_H_
