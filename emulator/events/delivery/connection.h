// A connection to the HTTP server of a sink, with or without TLS.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_CONNECTION_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "emulator/events/delivery/sink_address.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::events {

// The end of a wait: kTimeout after `until`, kCancelled once the descriptor is readable.
struct Wait {
  MonotonicTime until;
  int cancel_event;
};

// Loads the CA certificates. Returns kInvalidArgument with the file and the fix. Empty: the
// system's certificates, or those of SSL_CERT_FILE and SSL_CERT_DIR.
Result<void> CheckAuthorities(const std::string& ca_path);

// Errors say what the server did, in words that continue "http://host:80 ".
//
// Thread safety: one thread, which must block SIGPIPE.
class Connection {
 public:
  // Resolves the name, which takes as long as the system's resolver does, and connects to the first
  // address that accepts a connection within 2 s. With TLS, requires a certificate for the host
  // from an authority of `ca_path`.
  static Result<std::unique_ptr<Connection>> Open(const SinkAddress& address,
                                                  const std::string& ca_path, const Wait& wait);
  virtual ~Connection() = default;

  virtual Result<void> Write(std::string_view bytes, const Wait& wait) = 0;
  // Returns the number of bytes that have arrived; zero: the server has closed the connection.
  virtual Result<std::size_t> Read(std::span<char> into, const Wait& wait) = 0;
  // Nothing has arrived, not even the end of the connection. Never waits.
  virtual bool idle() const = 0;
};

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_CONNECTION_H_
