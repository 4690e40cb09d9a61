// Reads the body of the current request from the socket into the caller's memory.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_BODY_READER_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_BODY_READER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/http/parsing/chunked_decoder.h"
#include "emulator/http/parsing/framing.h"
#include "emulator/http/parsing/input_buffer.h"
#include "emulator/http/socket/stream.h"
#include "emulator/message/exchange.h"

namespace penstock::emulator::http {

// Never reads past the body's end. Errors are IncompleteBody, RequestTimeout, and
// ServiceUnavailable for a wait that was cancelled (Stream::CancelWaitsBy); after an error the
// connection must close. A body slower than kSlowestBytesPerSecond times out like one that stalls;
// only time spent waiting counts.
class WireBodyReader final : public message::BodyReader {
 public:
  static constexpr std::uint64_t kSlowestBytesPerSecond = 500;

  // Stream and buffer must outlive the reader. The buffer holds bytes that arrived after the head.
  WireBodyReader(Stream& stream, InputBuffer& buffer, const Framing& framing,
                 std::chrono::milliseconds timeout);

  Result<std::size_t> Read(MutableByteView into) override;
  // Like Read, without waiting. nullopt: nothing has arrived, and more is expected.
  Result<std::optional<std::size_t>> ReadArrived(MutableByteView into);
  // For a caller that waits between calls of ReadArrived: the longest allowed wait, and the actual
  // one.
  std::chrono::milliseconds RemainingTimeout() const;
  void CountWait(std::chrono::milliseconds waited) { waited_ += waited; }

  // Content-Length; nullopt when the request has none (chunked, or no body declared).
  std::optional<std::uint64_t> Length() const override;
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return decoder_.trailers();
  }
  bool WithholdContinue() override { return std::exchange(continue_pending_, false); }

  std::uint64_t bytes_read() const { return bytes_read_; }
  // The whole body was read from the socket: the next request follows.
  bool at_end() const;
  // The rest of the body can be read and discarded: its framing is intact, and the client does not
  // wait for "100 Continue".
  bool drainable() const { return !failure_ && !continue_pending_; }

  // Discards arrived bytes of the rest of the body, at most `limit_bytes`. Returns true when the
  // body has ended: the connection can carry another request.
  bool Drain(std::uint64_t limit_bytes);

 private:
  Result<std::size_t> ReadLength(MutableByteView into);
  Result<std::size_t> ReadChunked(MutableByteView into);
  Result<void> SendContinue();
  // Reads once from the socket, into the buffer when `into` is empty. Waits no longer than the
  // body's minimum rate allows.
  IoResult ReadWire(MutableByteView into);
  // Returns up to into.size() bytes from the buffer, else from the socket. 0: see last_status_.
  std::size_t Take(MutableByteView into);
  // Nothing was read: stores and returns the error for last_status_.
  Error Short();
  Error Fail(Error error);

  Stream& stream_;
  InputBuffer& buffer_;
  const Framing framing_;
  std::chrono::milliseconds timeout_;
  ChunkedDecoder decoder_;
  std::uint64_t bytes_read_ = 0;
  std::chrono::milliseconds waited_{0};  // total time spent waiting for the socket
  IoStatus last_status_ = IoStatus::kOk;
  bool continue_pending_;
  std::optional<Error> failure_;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_BODY_READER_H_
