// Bytes that have arrived on a connection and are not used yet. One per connection, reused by all
// its requests.
//
// The head of the current request is pinned at the front, which keeps views into it valid. The body
// passes through the space after it.
#ifndef PENSTOCK_EMULATOR_HTTP_PARSING_INPUT_BUFFER_H_
#define PENSTOCK_EMULATOR_HTTP_PARSING_INPUT_BUFFER_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "emulator/http/socket/stream.h"
#include "penstock/base/bytes.h"

namespace penstock::emulator::http {

class InputBuffer {
 public:
  // Grows from a few KiB up to `max_bytes` plus room for body framing.
  explicit InputBuffer(std::size_t max_bytes);

  std::string_view text() const { return {data_.get() + begin_, end_ - begin_}; }  // unused bytes
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  // The unused bytes exceed the limit: no more can be read.
  bool full() const { return end_ - begin_ > max_bytes_; }

  void Consume(std::size_t bytes) { begin_ += bytes; }
  // Pins and consumes the first `bytes` unused bytes as the head. The returned view is valid until
  // Unpin.
  std::string_view PinHead(std::size_t bytes);
  // Ends the request: moves the unused bytes to the front.
  void Unpin();

  // The last Fill did not use all its space: a plain socket held nothing more at that moment.
  bool took_all() const { return took_all_; }

  // Reads once into the free space, which grows only while nothing is pinned. Waits up to
  // `timeout`; zero: does not wait.
  IoResult Fill(Stream& stream, std::chrono::milliseconds timeout);

 private:
  void MakeRoom();

  const std::size_t max_bytes_;
  std::size_t capacity_;
  std::unique_ptr<char[]> data_;
  bool took_all_ = false;
  std::size_t pinned_ = 0;  // bytes of the head at the front
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_PARSING_INPUT_BUFFER_H_
