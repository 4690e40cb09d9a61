// Finds the response in the bytes of a connection: where its head ends, how long its body is, which
// bytes are the body's.
//
// Knows HTTP/1.1's framing, not sockets. What it is given may be anything; all it keeps is bounded.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_RESPONSE_FRAMER_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_RESPONSE_FRAMER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/http/transfer.h"

namespace penstock::http {

// One response to one request. Errors: the transfer's own where its body refused, else
// kUnavailable.
class ResponseFramer {
 public:
  static constexpr std::size_t kMaxChunkLineBytes = 4 << 10;
  static constexpr std::size_t kMaxTrailerBytes = 64 << 10;

  // `head_only`: the request was a HEAD. `expects`: it had the Expect header that a 417 refuses;
  // the body is not begun for that one.
  void Reset(bool head_only, bool expects);

  // Takes bytes as they came; stops at the end of the response. How many it took.
  Result<std::size_t> Feed(Transfer& transfer, ByteView bytes);

  // So many bytes of body come next and may be received straight into the body's window; 0: a head
  // or a chunk's line does, which goes through Feed.
  std::uint64_t direct_bytes() const;
  // `count` of them have been.
  Result<void> Received(Transfer& transfer, std::size_t count);

  // The peer has closed. False: that does not end the response, it cuts it short.
  bool OnClosed();

  bool done() const { return state_ == State::kDone; }
  bool has_bytes() const { return has_bytes_; }  // of this response, any
  bool has_final_head() const { return has_final_head_; }
  bool continues() const { return continues_; }  // 100 Continue has come
  bool refused_expect() const { return refused_expect_; }
  // After the end: the peer said nothing against another request on this connection.
  bool keeps_connection() const { return done() && keeps_connection_; }

 private:
  enum class State {
    kHead,
    kLength,
    kUntilClose,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailer,
    kDone
  };

  bool IsLines() const;
  Result<std::size_t> FeedLine(Transfer& transfer, std::string_view bytes);
  Result<void> OnLine(Transfer& transfer, std::string_view line);
  Result<void> OnHeadLine(Transfer& transfer, std::string_view line);
  Result<void> OnHeadEnd(Transfer& transfer);
  Result<void> ChooseLength(const ResponseHead& head);
  Result<void> OnChunkSize(std::string_view line);
  void Advance(std::uint64_t count);

  State state_ = State::kHead;
  bool head_only_ = false;
  bool expects_ = false;
  bool refused_expect_ = false;
  bool has_bytes_ = false;
  bool has_final_head_ = false;
  bool continues_ = false;
  bool keeps_connection_ = true;
  std::uint64_t left_ = 0;  // of the body, or of the chunk
  std::size_t trailer_bytes_ = 0;
  std::string line_;  // the start of a line whose end has not come
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_RESPONSE_FRAMER_H_
