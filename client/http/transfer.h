// One request on its way: what was asked for, how far it has come, and what moves it on.
#ifndef PENSTOCK_CLIENT_HTTP_TRANSFER_H_
#define PENSTOCK_CLIENT_HTTP_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "client/http/head_parser.h"
#include "client/http/transport.h"

namespace penstock::http {

struct DirectConnection;
struct EasySlot;
struct Transfer;

// Shared by the queue or list that holds it and by a cancellation under way.
using TransferPtr = std::shared_ptr<Transfer>;

enum class TransferState {
  kNew,      // not yet seen by the I/O thread
  kWaiting,  // for a free slot
  kActive,   // on a data plane
  kDone,
};

// Touched by the I/O thread only, except for the members above `state` while Start builds it.
struct Transfer : std::enable_shared_from_this<Transfer> {
  Request request;
  RequestBody* request_body = nullptr;
  ResponseBody* response_body = nullptr;
  CallContext context;
  Completion done;
  MonotonicTime started{};
  std::optional<std::stop_callback<std::function<void()>>> on_stop;

  TransferState state = TransferState::kNew;
  EasySlot* slot = nullptr;            // on libcurl's plane
  DirectConnection* direct = nullptr;  // on the direct one
  std::size_t active_index = 0;        // in the reactor's list, while active

  HeadParser head;
  bool begun = false;          // response_body->Begin was called
  std::optional<Error> error;  // why a callback stopped the transfer
  std::uint64_t received = 0;
  std::uint64_t sent = 0;  // since the last rewind
  MonotonicTime first_byte{};
  MonotonicTime arrived{};          // when the bytes now being read arrived
  MonotonicTime last_activity{};    // the idle timeout counts from here
  MonotonicTime last_look{};        // at what the system still holds of what was sent
  std::optional<int> unsent_bytes;  // what it held then

  // A plane calls this when it has sent bytes of the request.
  void Touch() { last_activity = SystemClock().Monotonic(); }
  // A plane calls this before it passes on received bytes. It does not restart the idle timeout by
  // itself: only the end of the final head and bytes of the body do, so that a server cannot hold a
  // request open with interim responses, or with a head, chunk extensions or trailers sent byte by
  // byte.
  void OnArrival() { arrived = SystemClock().Monotonic(); }

  // What a data plane tells it. Each returns false to abort, with `error` set. An exception of a
  // body never leaves them.
  bool OnHeadLine(std::string_view line);
  bool OnBody(ByteView bytes);
  // The body's next bytes, at most `limit`; valid until the next call. nullopt aborts, empty is the
  // end.
  std::optional<ByteView> NextPiece(std::size_t limit);
  // Fills `into` with them; nullopt aborts, 0 is the end.
  std::optional<std::size_t> OnSend(MutableByteView into);
  bool OnRewind();
  void OnConnection(const ConnectionUse& use);
  // In a catch block: the exception becomes the transfer's error. Returns false.
  bool OnException(std::string_view where);

  // Calls the body's Begin unless that has been done: before its first byte, or after the head
  // where there is none.
  bool BeginOnce();
  // For a plane that receives into the body's own window: what may be filled next, empty when the
  // transfer must end; and what has been.
  MutableByteView NextWindow();
  bool OnReceived(std::size_t count);

 private:
  bool Fail(Error why);
  bool Commit(std::size_t count);
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TRANSFER_H_
