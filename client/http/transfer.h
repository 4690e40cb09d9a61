// One request on its way: what was asked for, how far it has come, and libcurl's callbacks that move it on.
#ifndef PENSTOCK_CLIENT_HTTP_TRANSFER_H_
#define PENSTOCK_CLIENT_HTTP_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "client/http/head_parser.h"
#include "client/http/transport.h"

namespace penstock::http {

struct EasySlot;
struct Transfer;

// Shared by the queue or timer that holds it and by a cancellation under way.
using TransferPtr = std::shared_ptr<Transfer>;

enum class TransferState {
  kNew,      // not yet seen by the I/O thread
  kWaiting,  // for a free slot
  kActive,   // attached to the multi handle
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
  EasySlot* slot = nullptr;
  std::multimap<MonotonicTime, TransferPtr>::iterator timer;  // valid while has_timer
  bool has_timer = false;

  HeadParser head;
  bool begun = false;          // response_body->Begin was called
  std::optional<Error> error;  // why a callback stopped the transfer
  std::uint64_t received = 0;
  std::uint64_t sent = 0;      // since the last rewind
  MonotonicTime first_byte{};
  MonotonicTime last_activity{};

  // libcurl's callbacks in C++ terms. Each returns false to abort, with `error` set.
  bool OnHeadLine(std::string_view line);
  bool OnBody(ByteView bytes);
  // Fills `into`; nullopt aborts, 0 is the end.
  std::optional<std::size_t> OnSend(MutableByteView into);
  bool OnRewind();

  // Calls Begin when no body byte has done so. After the last byte.
  bool FinishBody();

 private:
  bool Fail(Error why);
  bool BeginOnce();
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TRANSFER_H_
