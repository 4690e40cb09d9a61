// Sends a response: its head as text, its body without copies where possible, and all of it as the
// response's Delivery requires: in pieces, with pauses, or incompletely.
#ifndef PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_SENDER_H_
#define PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_SENDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/http/sending/response_head.h"
#include "emulator/http/socket/stream.h"
#include "emulator/message/response.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

struct SendResult {
  bool ok = false;               // everything was sent
  bool keep_alive = false;       // as announced in the head
  std::uint64_t body_bytes = 0;  // sent body bytes without chunk framing
  // Set when stored bytes do not match their checksum: which ones, for the log.
  std::string damage;
};

// Called before the write that may end the response, so that the client cannot have it earlier.
// Called again if that write did not send everything. `body_bytes`: size of the whole body. May be
// empty.
using BeforeEnd = std::function<void(std::uint64_t body_bytes)>;

// Of more than kWholeBytes, the last kEndBytes are sent separately, so that BeforeEnd is not called
// while most of the response is still unsent.
constexpr std::uint64_t kWholeBytes = 256 << 10;
constexpr std::uint64_t kEndBytes = 16 << 10;

// Memory that the responses of one thread use one after the other.
struct SendBuffers {
  std::string head;
  std::vector<std::byte> joined;
};

// Never waits. The caller of Resume performs the wait that the returned state requires, then calls
// Resume again, possibly on another thread.
class ResponseSender {
 public:
  enum class State : std::uint8_t {
    kDone,        // everything was sent
    kSocketFull,  // the socket is full
    kWait,        // nothing is sent before wait_until()
    kReset,       // close the connection with RST
    kFin,         // close it with FIN
    kHalfClose,   // send FIN, but receive from the peer until wait_until()
    kBroken,      // the peer has closed the connection, or stored bytes are damaged
  };

  // `response` must outlive this object.
  ResponseSender(const message::Response& response, ResponseContext context, SendBuffers& buffers);

  // `now` matters only to a response with a Delivery.
  State Resume(Stream& stream, SendBuffers& buffers, MonotonicTime now,
               const BeforeEnd& before_end = {});
  MonotonicTime wait_until() const { return wait_until_; }
  // Ends a current pause: the next Resume continues after it. Returns false if the wait is not a
  // pause but a wait for the peer's acknowledgement. A TextStream has no further pieces then.
  bool EndPause();
  // The next Resume ends the response without further pieces. Returns false if it is no TextStream.
  bool EndStream();
  SendResult result() const;
  // The head, maybe with the start of the body's framing. Valid until everything was sent.
  std::string_view head() const { return head_; }

 private:
  // A step at its position in the bytes of the response.
  struct Stop {
    std::uint64_t at = 0;
    const message::DeliveryStep* step = nullptr;
  };
  // Consecutive bytes of the body, in memory or in a file.
  struct BodyPart {
    std::uint64_t size = 0;
    ByteView memory;
    int file = -1;
    std::uint64_t offset = 0;  // in the file
  };

  static bool Join(const BodyPart& part, std::array<ByteView, 3>& pieces,
                   std::vector<std::byte>& memory);
  void ComputeStops(std::uint64_t head_bytes);
  State RunStep(const message::DeliveryStep& step, const Stream& stream, MonotonicTime now);
  // Whether an RST would discard no sent byte, or the peer has not acknowledged within the limit.
  bool MayReset(const Stream& stream, MonotonicTime now);
  // Reduces `until` to the end of the current piece. Returns false if the piece has to wait.
  bool LimitToPiece(MonotonicTime now, std::uint64_t& until);
  // When the next piece of the body may be sent.
  MonotonicTime NextPieceTime(MonotonicTime now) const;
  // Makes the next piece of stream_, or the end of the response, what is sent next. Returns false
  // if the piece has to wait.
  bool BeginStreamPiece(MonotonicTime now);
  // Sends bytes from at_ on, before `until`, and of the body at most one part.
  IoResult Send(Stream& stream, SendBuffers& buffers, std::uint64_t until,
                const BeforeEnd& before_end);
  // The verified bytes of one slice from `begin` on, before `end`; positions in the body.
  Result<BodyPart> NextPart(std::uint64_t begin, std::uint64_t end);
  std::uint64_t body_end() const { return body_begin_ + body_bytes_; }
  std::uint64_t end() const { return body_end() + tail_.size(); }

  const message::Response& response_;
  std::string head_;               // with the chunk header, if any; or a piece of stream_
  std::uint64_t body_begin_ = 0;   // the size of head_
  std::uint64_t body_bytes_ = 0;   // of the whole body that is sent
  std::string_view tail_;          // the end of the chunk, and the last chunk
  std::uint64_t at_ = 0;           // bytes already sent
  std::size_t slice_ = 0;          // the slice of the content that at_ is in or before
  std::uint64_t slice_begin_ = 0;  // its position in the body
  bool keep_alive_ = false;
  message::TextStream* stream_ = nullptr;  // null: none, or it has ended
  bool stream_ended_ = false;              // no further piece is wanted
  bool chunked_ = false;
  std::uint64_t streamed_ = 0;  // bytes of the pieces of stream_ so far
  std::vector<Stop> stops_;
  std::size_t next_stop_ = 0;
  std::uint64_t piece_end_ = 0;  // end of the current piece of the body; 0: none yet
  bool waiting_ = false;         // a pause of a step or a piece has begun
  MonotonicTime wait_until_{};
  MonotonicTime reset_by_{};    // epoch: no RST is due
  std::string damage_;          // SendResult::damage
  State ended_ = State::kWait;  // the final state; kWait: not ended
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SENDING_RESPONSE_SENDER_H_
