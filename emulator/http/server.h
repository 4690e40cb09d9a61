// The HTTP/1.1 server of the emulator, behind cpp-httplib's listener.
//
// It knows bytes on sockets, not S3. One epoll set holds the connections that wait for bytes or for
// room to write. A small pool of threads serves the ready ones. Only handlers block, and a limited
// number of them may wait for clients (connection_quotas.h).
#ifndef PENSTOCK_EMULATOR_HTTP_SERVER_H_
#define PENSTOCK_EMULATOR_HTTP_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "emulator/http/socket/accept_decision.h"
#include "emulator/message/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                      // 0: any free port
  std::string tls_certificate_path;  // PEM; both set or both empty
  std::string tls_key_path;
  // 0: one per processor, at least 2. More start when requests stall, and end when idle.
  int min_threads = 0;
  // Half of them may wait for request bodies. Further bodies are stored without a thread.
  int max_threads = 256;
  // Directory for the parts of such bodies beyond 64 KiB each (8 GiB in all). Empty: the system's
  // temporary directory.
  std::string body_directory;
  // Limit for generated responses of 16 KiB or more that clients have not read yet. Beyond it a GET
  // gets 503 SlowDown. Responses to other methods may use the same amount again; beyond that the
  // connection is reset.
  std::uint64_t response_bytes = 128 << 20;
  // From 16 connections on, threads wait for a processor instead of preempting the running thread
  // (SCHED_BATCH). For clients on the same machine with fewer processors than busy threads.
  bool yield_to_clients = false;
  // Idle time after which a thread beyond the minimum ends, if another thread is idle.
  std::chrono::milliseconds retire_after{2'000};
  std::size_t max_head_bytes = 64 << 10;
  std::chrono::milliseconds idle_timeout{60'000};      // between requests
  std::chrono::milliseconds progress_timeout{20'000};  // no byte moved within a request
  // For dates. Null: the system clock. Timeouts always use the machine's monotonic clock.
  const Clock* clock = nullptr;
  // Called for every connection on the accepting thread. May be empty. Must not block.
  std::function<AcceptDecision(const Arrival&)> on_accept;
  // Called on the serving thread before the last bytes of a response are sent, with the result so
  // far (ended, bytes, whole); the client cannot have the whole response earlier. Called again when
  // the last bytes could not be sent at once. Not called for a response that ends early. May be
  // empty. Must not block.
  std::function<void(message::Exchange&)> on_ending;
  // Called on the serving thread after the response has been sent or has failed, before the
  // connection's next request. Also called for requests that never reached the handler. May be
  // empty. Must not block.
  std::function<void(const message::Exchange&)> on_finished;
};

// Thread safety: all methods may be called from any thread.
class Server {
 public:
  // Listens before it returns. Returns kInvalidArgument for a bad certificate and kUnavailable when
  // the port is taken. `handler` must outlive the server.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, message::Handler& handler);
  virtual ~Server() = default;
  virtual int port() const = 0;
  virtual std::size_t open_connections() const = 0;
  // Stops accepting, waits up to `grace` for requests in progress, then shuts down every
  // connection. Idempotent.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SERVER_H_
