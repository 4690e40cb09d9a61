// One client's connection: its requests, one after the other, from head to answer.
//
// Knows HTTP messages. Which thread serves it and when is the engine's.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "emulator/api/exchange.h"
#include "emulator/http/body_reader.h"
#include "emulator/http/framing.h"
#include "emulator/http/head_parser.h"
#include "emulator/http/input_buffer.h"
#include "emulator/http/request_ids.h"
#include "emulator/http/response_writer.h"
#include "emulator/http/stream.h"
#include "emulator/http/tls.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::http {

// What all connections of a server share. Everything pointed to outlives them.
struct ConnectionSettings {
  api::Handler* handler = nullptr;
  const Clock* clock = nullptr;
  RequestIdSource* ids = nullptr;
  const std::atomic<bool>* stopping = nullptr;  // true: no further request on any connection
  HeadLimits limits;
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds progress_timeout{20'000};
  std::function<void(const api::Exchange&)> on_finished;  // may be empty
};

// What a serving thread lends to the connection it serves.
struct ServingTools {
  ResponseWriter writer;
  DateCache dates;
};

// Owned by one thread at a time: the one that serves it, or nobody while it waits. The time limit of the wait is watched
// by a third party through ExpireWait, which never touches anything else.
class WireConnection {
 public:
  enum class Next { kWait, kClose };

  // `handshake`: the stream itself when it is TLS, else null.
  WireConnection(std::uint64_t id, std::unique_ptr<Stream> stream, TlsStream* handshake, const ConnectionSettings& settings);

  // Serves every request that has arrived whole or begun its body. kWait: nothing more has arrived; call StartWait and
  // watch the socket. kClose: destroy the connection.
  Next Serve(ServingTools& tools);

  // The connection waits from now on; after this only the thread that is told of new bytes may touch it.
  void StartWait(MonotonicTime now);
  // Thread safety: any thread while the connection lives. If it waits, and has waited to its limit by `now`, ends the
  // wait: its socket reports an event and the next Serve answers or closes.
  void ExpireWait(MonotonicTime now);
  // Thread safety: as ExpireWait. Ends every wait on the socket, also those of a request in progress.
  void Interrupt() { stream_->Interrupt(); }

  std::uint64_t id() const { return facts_.id; }
  int fd() const { return stream_->fd(); }

 private:
  Next ServeWaiting(ServingTools& tools);
  std::size_t FindHead();
  bool ServeRequest(std::size_t head_bytes, ServingTools& tools);
  // The views of a served request die with its pinned head; a refusal of the next one must not find them.
  void ForgetRequest();
  void CallHandler(api::Exchange& exchange);
  bool Answer(api::Exchange& exchange, const Framing& framing, WireBodyReader& body, ServingTools& tools);
  SendResult Send(const api::Exchange& exchange, bool can_keep, ServingTools& tools);
  // Sends an error document for a request that never reached the handler.
  void Refuse(const Error& error, ServingTools& tools);
  bool stopping() const { return settings_.stopping->load(std::memory_order_relaxed); }

  const ConnectionSettings& settings_;
  std::unique_ptr<Stream> stream_;
  TlsStream* handshake_;  // null once done
  InputBuffer buffer_;
  std::size_t scanned_ = 0;             // of the head that is arriving
  MonotonicTime head_began_{};          // when its first byte was seen; epoch: not yet
  api::RequestHead request_;
  api::Connection facts_;
  // 0: served; kExpired; otherwise the time (nanoseconds, monotonic) until which it may wait.
  std::atomic<std::int64_t> wait_until_{0};
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_H_
