// An answer that leaves as its Delivery says: in pieces, with pauses, or not whole
// (api/delivery.h).
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/http/connection/response_writer.h"
#include "emulator/http/connection/stream.h"
#include "emulator/s3/core/exchange.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// Never waits; whoever calls Go waits for what it asks for, and calls again. Which thread does may
// change.
class ScriptedAnswer {
 public:
  enum class State {
    kDone,       // everything has left
    kRoom,       // the socket is full, or others should have their turn first
    kWait,       // nothing leaves before wait_until()
    kReset,      // the connection is to end with RST
    kFin,        // with FIN
    kHalfClose,  // with FIN, while what the peer sends is still taken until wait_until()
    kBroken,     // the peer is gone
  };

  // `response` has a delivery, and outlives this.
  ScriptedAnswer(const s3::Response& response, ResponseContext context);

  State Go(Stream& stream, MonotonicTime now, const BeforeEnd& before_end = {});
  MonotonicTime wait_until() const { return wait_until_; }
  // Ends a pause that has begun: the next Go continues after it. Returns false where the wait is
  // not a pause but for a peer's acknowledgement.
  bool EndPause();
  // What a plain answer would tell; `blocked` never.
  SendResult result() const;

 private:
  // A step, placed in the bytes that leave.
  struct Stop {
    std::uint64_t at = 0;
    const s3::DeliveryStep* step = nullptr;
  };
  void PlaceSteps();
  State Pass(const s3::DeliveryStep& step, const Stream& stream, MonotonicTime now);
  // Whether an RST throws nothing away that has left, or the peer does not take it anyhow.
  bool MayReset(const Stream& stream, MonotonicTime now);
  // The next piece of the body.
  MonotonicTime MayLeaveAt(MonotonicTime now) const;
  // Whether what is left, up to the end, leaves with one write.
  bool EndIsNext() const;
  // Bytes from at_ on that may leave before `end`, and how many of them left.
  IoResult Send(Stream& stream, std::uint64_t end);
  // Of the body alone: its bytes from `begin` on, up to `body_end_at`; at most those of one slice.
  IoResult SendBody(Stream& stream, std::uint64_t begin, std::uint64_t body_end_at);
  std::uint64_t body_begin() const { return head_.size(); }
  std::uint64_t body_end() const { return head_.size() + body_bytes_; }
  std::uint64_t end() const { return body_end() + tail_.size(); }

  const s3::Response& response_;
  std::string head_;              // with the chunk's, where there is one
  std::uint64_t head_bytes_ = 0;  // without it
  std::uint64_t body_bytes_ = 0;
  std::string tail_;
  bool keep_alive_ = false;
  std::vector<Stop> stops_;
  std::size_t next_stop_ = 0;
  std::uint64_t at_ = 0;         // bytes that have left
  std::uint64_t piece_end_ = 0;  // of the body's piece that leaves now; 0: none yet
  bool waiting_ = false;         // a step's or a piece's pause has begun
  MonotonicTime wait_until_{};
  MonotonicTime reset_by_{};    // epoch: no RST is due
  std::string damage_;          // SendResult's
  State ended_ = State::kWait;  // how it ended; kWait: it has not
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_SCRIPTED_ANSWER_H_
