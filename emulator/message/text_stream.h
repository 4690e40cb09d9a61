// A response body that is produced while it is sent.
#ifndef PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_
#define PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_

#include <chrono>
#include <optional>
#include <string>

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

}  // namespace penstock::emulator::message

#endif  // PENSTOCK_EMULATOR_MESSAGE_TEXT_STREAM_H_
