// One request and its response on one connection: what is sent when, and where what comes goes.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_EXCHANGE_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/http/direct/direct_socket.h"
#include "client/http/direct/response_framer.h"
#include "client/http/transfer.h"

namespace penstock::http {

// Thread safety: belongs to one I/O thread.
class DirectExchange {
 public:
  enum class Step {
    kReceive,  // go on when the socket is readable
    kSend,     // go on when it is writable, or readable
    kAgain,    // go on soon; others may go first
    kDone,
    kFailed,  // error() says how
  };

  // `transfer` outlives the exchange. `expect_from_bytes`: a body of at least so many bytes is
  // announced with Expect: 100-continue, unless the request has its own Expect header.
  // `turn_bytes`: what Send or Receive moves at the most before it says kAgain.
  void Begin(Transfer& transfer, std::uint64_t expect_from_bytes,
             std::size_t turn_bytes = kTurnBytes);
  static constexpr std::size_t kTurnBytes = 2 << 20;  // others wait that long at the most

  // Both move on as far as they can without waiting. `scratch`: at least a few KiB, for heads and
  // chunk lines.
  Step Send(DirectSocket& socket);
  Step Receive(DirectSocket& socket, MutableByteView scratch);

  // The peer should have said "100 Continue" by now: the body goes out without.
  void StopWaiting() { waits_ = false; }
  bool waits() const { return waits_; }

  // After kFailed on a connection that had been used before: it was at its end already, and nobody
  // has acted upon the request. Without a byte of response that is so where not all of it was
  // taken; all else is repeated if it only reads.
  bool may_repeat() const;
  // After kDone: the server will not have the Expect header (417); nobody has seen the response
  // yet.
  bool refused_expect() const { return framer_.refused_expect(); }
  // After kDone: whether the connection may carry another request.
  bool keeps_connection() const;
  Outcome TakeOutcome();
  Error error() const;

 private:
  void WriteHead(std::uint64_t expect_from_bytes);
  Step AfterSend(const IoResult& moved);
  Step Consume(ByteView bytes);
  Step Cut(std::string reason);
  void SetLowWater(DirectSocket& socket) const;
  // A final answer has come while the body was on its way or waited.
  void OnEarlyAnswer();

  Transfer* transfer_ = nullptr;
  std::size_t turn_bytes_ = kTurnBytes;
  std::string head_;
  std::size_t head_sent_ = 0;
  ByteView piece_;        // of the body, not yet sent
  bool sending_ = false;  // something of the request is left to send
  bool waits_ = false;    // for 100 Continue
  bool whole_ = true;     // the server had all of the request
  bool excess_ = false;   // it said more than its response
  bool cut_ = false;      // the connection ended inside the exchange
  std::string cut_reason_;
  std::optional<Error> malformed_;
  ResponseFramer framer_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_EXCHANGE_H_
