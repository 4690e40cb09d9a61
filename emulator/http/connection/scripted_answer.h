// Sends a response as its Delivery requires: in pieces, with pauses, or incompletely
// (emulator/message/delivery.h).
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/http/connection/response_writer.h"
#include "emulator/http/connection/stream.h"
#include "emulator/message/exchange.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// Never waits. The caller of Go performs the wait that Go asks for, then calls Go again, maybe from
// another thread.
class ScriptedAnswer {
 public:
  enum class State {
    kDone,       // everything was sent
    kRoom,       // the socket is full, or other connections must be served first
    kWait,       // nothing is sent before wait_until()
    kReset,      // close the connection with RST
    kFin,        // close it with FIN
    kHalfClose,  // send FIN, but receive from the peer until wait_until()
    kBroken,     // the peer has closed the connection
  };

  // `response` must have a delivery and outlive this object.
  ScriptedAnswer(const message::Response& response, ResponseContext context);

  State Go(Stream& stream, MonotonicTime now, const BeforeEnd& before_end = {});
  MonotonicTime wait_until() const { return wait_until_; }
  // Ends a current pause: the next Go continues after it. Returns false if the wait is not a pause
  // but a wait for the peer's acknowledgement.
  bool EndPause();
  // As for a plain response, but never `blocked`.
  SendResult result() const;

 private:
  // A step at its position in the bytes of the response.
  struct Stop {
    std::uint64_t at = 0;
    const message::DeliveryStep* step = nullptr;
  };
  void PlaceSteps();
  State Pass(const message::DeliveryStep& step, const Stream& stream, MonotonicTime now);
  // Whether an RST would discard no sent byte, or the peer has not acknowledged within the limit.
  bool MayReset(const Stream& stream, MonotonicTime now);
  // When the next piece of the body may be sent.
  MonotonicTime NextPieceTime(MonotonicTime now) const;
  // Whether the rest, including the end, is sent with one write.
  bool EndIsNext() const;
  // Sends bytes from at_ on, before `end`. Returns how many were sent.
  IoResult Send(Stream& stream, std::uint64_t end);
  // Sends body bytes from `begin` on, before `body_end_at`, and at most those of one slice.
  IoResult SendBody(Stream& stream, std::uint64_t begin, std::uint64_t body_end_at);
  std::uint64_t body_begin() const { return head_.size(); }
  std::uint64_t body_end() const { return head_.size() + body_bytes_; }
  std::uint64_t end() const { return body_end() + tail_.size(); }

  const message::Response& response_;
  std::string head_;              // including the chunk header, if any
  std::uint64_t head_bytes_ = 0;  // without the chunk header
  std::uint64_t body_bytes_ = 0;
  std::string tail_;
  bool keep_alive_ = false;
  std::vector<Stop> stops_;
  std::size_t next_stop_ = 0;
  std::uint64_t at_ = 0;         // bytes already sent
  std::uint64_t piece_end_ = 0;  // end of the current piece of the body; 0: none yet
  bool waiting_ = false;         // a pause of a step or a piece has begun
  MonotonicTime wait_until_{};
  MonotonicTime reset_by_{};    // epoch: no RST is due
  std::string damage_;          // SendResult::damage
  State ended_ = State::kWait;  // the final state; kWait: not ended
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_
