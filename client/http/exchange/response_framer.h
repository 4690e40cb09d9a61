// Finds the response in the bytes of a connection: the end of the head, the length of the body, and
// the bytes of the body.
//
// Knows the framing of HTTP/1.1, but no sockets. The input may be arbitrary; all state is bounded.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_RESPONSE_FRAMER_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_RESPONSE_FRAMER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/http/exchange/transfer.h"

namespace penstock::http {

// One response to one request. Errors: the transfer's own error if its body failed, else
// kUnavailable.
class ResponseFramer {
 public:
  static constexpr std::size_t kMaxChunkLineBytes = 4 << 10;
  static constexpr std::size_t kMaxTrailerBytes = 64 << 10;

  // `head_only`: the request was a HEAD. `expects`: it had the Expect header that a 417 rejects;
  // the body of such a 417 is not delivered.
  void Reset(bool head_only, bool expects);

  // Consumes received bytes up to the end of the response. Returns how many it consumed.
  Result<std::size_t> Feed(Transfer& transfer, ByteView bytes);

  // Returns the number of body bytes that come next and may be received directly into the body's
  // window. 0: a head or a chunk line comes next; pass it to Feed.
  std::uint64_t direct_bytes() const;
  // `count` of these bytes have been received.
  Result<void> Received(Transfer& transfer, std::size_t count);

  // The peer has closed the connection. Returns false if that truncates the response.
  bool OnClosed();

  bool done() const { return state_ == State::kDone; }
  bool has_bytes() const { return has_bytes_; }  // any byte of this response has arrived
  bool has_final_head() const { return has_final_head_; }
  bool continues() const { return continues_; }  // 100 Continue has arrived
  bool refused_expect() const { return refused_expect_; }
  // Valid after the end: the peer allows another request on this connection.
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
  std::uint64_t left_ = 0;  // bytes left of the body or the chunk
  std::size_t trailer_bytes_ = 0;
  std::string line_;  // an incomplete line
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_RESPONSE_FRAMER_H_
