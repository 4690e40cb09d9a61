// The listening socket and its accept loop: the one part of the wire that is cpp-httplib's.
#ifndef PENSTOCK_EMULATOR_HTTP_LISTENER_H_
#define PENSTOCK_EMULATOR_HTTP_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::http {

// Thread safety: port() and Stop() from any thread.
class Listener {
 public:
  // Called on the accept thread with each accepted socket, which it takes over. Must not block.
  using OnSocket = std::function<void(int fd)>;

  // Listens before it returns. `port` 0: any free one. kUnavailable when the port is taken or the
  // host is not this machine's. Accepted sockets use the cubic congestion control where the kernel
  // has it (BBR ruins loopback).
  static Result<std::unique_ptr<Listener>> Start(const std::string& host, int port,
                                                 OnSocket on_socket);
  virtual ~Listener() = default;
  virtual int port() const = 0;
  // Returns when no further socket will be handed over. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_LISTENER_H_
