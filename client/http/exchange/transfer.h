// One request in progress: its input, its progress, and the callbacks of its exchange.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_TRANSFER_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "client/http/exchange/head_parser.h"
#include "client/http/transport.h"

namespace penstock::http {

struct Connection;
struct Transfer;

// Shared by the queue or list that has it and by a running cancellation.
using TransferPtr = std::shared_ptr<Transfer>;

enum class TransferState {
  kNew,      // not yet seen by the I/O thread
  kWaiting,  // waits for a free slot
  kActive,   // has a connection, or waits for one
  kDone,
};

// Used by the I/O thread only, except that Start fills the members above `state`.
struct Transfer : std::enable_shared_from_this<Transfer> {
  Request request;
  RequestBody* request_body = nullptr;
  ResponseBody* response_body = nullptr;
  CallContext context;
  Completion done;
  MonotonicTime started{};
  std::optional<std::stop_callback<std::function<void()>>> on_stop;

  TransferState state = TransferState::kNew;
  Connection* connection = nullptr;  // while active; null: between two connections
  std::size_t active_index = 0;      // in the reactor's list, while active

  HeadParser head;
  bool begun = false;          // response_body->Begin was called
  std::optional<Error> error;  // why a callback stopped the transfer
  std::uint64_t received = 0;
  std::uint64_t sent = 0;  // since the last rewind
  MonotonicTime first_byte{};
  MonotonicTime arrived{};            // when the bytes being processed arrived
  MonotonicTime last_activity{};      // start of the idle timeout
  MonotonicTime last_unsent_check{};  // when the unsent bytes in the socket were last checked
  std::optional<int> unsent_bytes;    // the number of unsent bytes then

  // Called when bytes of the request have been sent.
  void Touch() { last_activity = SystemClock().Monotonic(); }
  // Called before received bytes are delivered. It does not restart the idle timeout. Only the end
  // of the final head and bytes of the body do. Otherwise a server could hold a request
  // open with interim responses, or with a head, chunk extensions or trailers sent byte by byte.
  void OnArrival() { arrived = SystemClock().Monotonic(); }

  // Callbacks of the exchange. Each returns false to abort, with `error` set. Exceptions of a body
  // never leave them.
  bool OnHeadLine(std::string_view line);
  bool OnBody(ByteView bytes);
  // Returns the next bytes of the body, at most `limit`; valid until the next call. Nullopt aborts;
  // empty is the end.
  std::optional<ByteView> NextPiece(std::size_t limit);
  bool OnRewind();
  void OnConnection(const ConnectionUse& use);
  // Converts the current exception to the transfer's error. Call it in a catch block. Returns
  // false.
  bool OnException(std::string_view where);

  // Calls the body's Begin if that has not happened: before the first byte, or after the head of a
  // response without a body.
  bool BeginOnce();
  // For bytes that are received directly into the body's window. NextWindow returns the memory to
  // fill, empty if the transfer must end. OnReceived commits the received bytes.
  MutableByteView NextWindow();
  bool OnReceived(std::size_t count);

 private:
  bool Fail(Error why);
  bool Commit(std::size_t count);
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_TRANSFER_H_
