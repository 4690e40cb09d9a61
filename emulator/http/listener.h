// The listening socket and its accept loop, based on cpp-httplib.
#ifndef PENSTOCK_EMULATOR_HTTP_LISTENER_H_
#define PENSTOCK_EMULATOR_HTTP_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "penstock/base/result.h"

namespace penstock::emulator::http {

// Thread safety: port() and Stop() may be called from any thread.
class Listener {
 public:
  // Called on the accept thread with each accepted socket; takes ownership of it. Must not block.
  using OnSocket = std::function<void(int fd)>;

  // Listens before it returns. Port 0 picks any free port. Returns kUnavailable when the port is
  // taken or the host is not an address of this machine. Accepted sockets use the cubic congestion
  // control if the kernel has it (BBR is slow on loopback).
  static Result<std::unique_ptr<Listener>> Start(const std::string& host, int port,
                                                 OnSocket on_socket);
  virtual ~Listener() = default;
  virtual int port() const = 0;
  // Returns when `on_socket` will not be called any more. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_LISTENER_H_
