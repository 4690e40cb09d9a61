// A response body that is produced while it is sent.
#ifndef PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_
#define PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "emulator/message/exchange.h"

namespace penstock::emulator::message {

// Text that is sent one piece at a time, without a thread that waits between them. Thread safety:
// one thread at a time, which may change.
class TextStream {
 public:
  virtual ~TextStream() = default;
  // Returns the next piece, which is not empty; nullopt: the response ends. Must not block. Not
  // called any more once the peer has closed its sending side or the server stops.
  virtual std::optional<std::string> Next() noexcept = 0;
  // The time from one call of Next to the next one. The first call is made at once.
  virtual std::chrono::nanoseconds interval() const = 0;
};

// Makes `stream` the body of the exchange's response, whose own body stays empty. It is sent
// chunked, or to an HTTP/1.0 client until the connection closes. Its Delivery has no effect.
struct StreamedBody final : Attachment {
  explicit StreamedBody(std::unique_ptr<TextStream> pieces) : stream(std::move(pieces)) {}
  const std::unique_ptr<TextStream> stream;
};

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_
