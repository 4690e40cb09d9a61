// One request and its response on one connection: decides what to send when, and where received
// bytes go.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_EXCHANGE_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/http/byte_rate.h"
#include "client/http/connect/connected_socket.h"
#include "client/http/connect/environment_proxy.h"
#include "client/http/exchange/response_framer.h"
#include "client/http/exchange/transfer.h"

namespace penstock::http {

// Thread safety: belongs to one I/O thread.
class Exchange {
 public:
  enum class Step {
    kReceive,  // continue when the socket is readable
    kSend,     // continue when it is writable or readable
    kAgain,    // continue soon, after other connections
    kPaused,   // continue at paused_until(): the rate of the client is used up
    kDone,
    kFailed,  // error() has the cause
  };

  // `transfer` must outlive the exchange. A body of at least `expect_from_bytes` is announced with
  // Expect: 100-continue, unless the request has its own Expect header. Send and Receive transfer
  // at most `turn_bytes` before they return kAgain. `proxy`, if not null, forwards the request.
  void Begin(Transfer& transfer, std::uint64_t expect_from_bytes,
             std::size_t turn_bytes = kTurnBytes, const EnvironmentProxy* proxy = nullptr);
  static constexpr std::size_t kTurnBytes = 2 << 20;  // limits the time that other connections wait

  // Both continue until they would block. `scratch`, for heads and chunk lines, has at least a few
  // KiB.
  Step Send(ConnectedSocket& socket);
  Step Receive(ConnectedSocket& socket, MutableByteView scratch);

  // The peer did not send "100 Continue" in time: sends the body without it.
  void StopWaiting() { waits_ = false; }
  bool waits() const { return waits_; }

  // Valid after kFailed on a reused connection. Returns true if the request may be repeated on
  // another connection. No byte of a response arrived, and the server either did not get the whole
  // request or only reads (GET, HEAD).
  bool may_repeat() const;
  // Valid after kDone: the server rejected the Expect header (417). The response has not been
  // delivered.
  bool refused_expect() const { return framer_.refused_expect(); }
  // Valid after kDone: returns whether the connection may carry another request.
  bool keeps_connection() const;
  // Valid after kPaused.
  MonotonicTime paused_until() const { return paused_until_; }
  // Valid after kPaused. Returns whether other exchanges have used the rate up, and then sets
  // paused_until().
  bool StaysPaused() { return Pauses(paused_direction_); }
  Outcome TakeOutcome();
  Error error() const;

 private:
  void WriteHead(std::uint64_t expect_from_bytes, const EnvironmentProxy* proxy);
  // Returns whether the rate allows no byte of a body now, and sets paused_until_.
  bool Pauses(ByteRate::Direction direction);
  void Count(ByteRate::Direction direction, std::size_t bytes);
  // Limits the bytes of one system call.
  std::size_t Slice() const;
  Step Consume(ByteView bytes);
  Step Cut(std::string reason);
  void SetLowWater(ConnectedSocket& socket) const;
  // A final response arrived before the body was sent completely.
  void OnEarlyResponse();

  Transfer* transfer_ = nullptr;
  std::size_t turn_bytes_ = kTurnBytes;
  std::string head_;
  std::size_t head_sent_ = 0;
  ByteView piece_;        // unsent piece of the body
  bool sending_ = false;  // part of the request is unsent
  bool waits_ = false;    // for 100 Continue
  bool whole_ = true;     // the server got the whole request
  bool excess_ = false;   // more bytes arrived than the response
  bool cut_ = false;      // the connection ended during the exchange
  std::string cut_reason_;
  std::optional<Error> malformed_;
  ByteRate* rate_ = nullptr;  // null: no limit
  MonotonicTime paused_until_{};
  ByteRate::Direction paused_direction_ = ByteRate::Direction::kReceive;
  ResponseFramer framer_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_EXCHANGE_H_
