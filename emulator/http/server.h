// The wire: an HTTP/1.1 server of our own behind cpp-httplib's listener (architecture §4).
//
// Knows bytes on sockets, not S3. One epoll set holds the connections that wait, for bytes or for
// room to write; a small set of threads serves those that need not. Handlers alone block, and only
// so many at a time for a client (quotas.h).
#ifndef PENSTOCK_EMULATOR_HTTP_SERVER_H_
#define PENSTOCK_EMULATOR_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "emulator/http/accept_decision.h"
#include "emulator/s3/core/exchange.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                      // 0: any free port
  std::string tls_certificate_path;  // PEM; both set or both empty
  std::string tls_key_path;
  // 0: one per processor, at least 2; more start when requests stall, and end when idle
  int min_threads = 0;
  // half of them may wait for bodies; further bodies are gathered without a thread
  int max_threads = 256;
  // where to, beyond 64 KiB each (8 GiB in all); empty: the system's for temporary files
  std::string body_directory;
  // Memory for texts of answers (from 16 KiB each) that clients have not read. Beyond it a GET is
  // 503 SlowDown; the answer to another method may use as much again, and beyond that its
  // connection is reset.
  std::uint64_t answer_bytes = 128 << 20;
  // With 16 connections and more, threads wait for a processor instead of preempting what runs
  // (SCHED_BATCH). For clients on the same machine, where there are fewer processors than busy
  // threads.
  bool yield_to_clients = false;
  // an idle thread beyond the minimum ends, where another one is idle
  std::chrono::milliseconds retire_after{2'000};
  std::size_t max_head_bytes = 64 << 10;
  std::chrono::milliseconds idle_timeout{60'000};      // between requests
  std::chrono::milliseconds progress_timeout{20'000};  // no byte moved within a request
  // null: the system's. For dates; time-outs run on the machine's monotonic clock
  const Clock* clock = nullptr;
  // Asked about every connection, on the thread that accepts; may be empty. Must not block.
  std::function<AcceptDecision(const Arrival&)> on_accept;
  // Called on the serving thread before the end of a response leaves, with what is known of it then
  // (ended, bytes, whole): whoever has the response has it later. Again where the end did not leave
  // at once; not for a response that ends early. May be empty. Must not block.
  std::function<void(s3::Exchange&)> on_ending;
  // Called on the serving thread once the response has left or failed, before the connection's next
  // request; may be empty. Also for requests that never reached the handler (operation and space
  // unset). Must not block.
  std::function<void(const s3::Exchange&)> on_finished;
};

// Thread safety: port() and Stop() from any thread.
class Server {
 public:
  // Listens before it returns. kInvalidArgument for a bad certificate, kUnavailable when the port
  // is taken. `handler` outlives the server.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, s3::Handler& handler);
  virtual ~Server() = default;
  virtual int port() const = 0;
  // Stops accepting, lets requests in progress finish for up to `grace`, then shuts every
  // connection down. Idempotent.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SERVER_H_
