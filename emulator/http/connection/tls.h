// TLS for accepted sockets, with OpenSSL. One context per server, one TlsStream per connection.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_TLS_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_TLS_H_

#include <chrono>
#include <memory>
#include <string>

#include "emulator/http/accept_decision.h"
#include "emulator/http/connection/stream.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

// A stream that still has to shake hands.
class TlsStream : public Stream {
 public:
  using Stream::Stream;
  // Takes the handshake as far as what has arrived carries it; kOk: it is done. Before anything
  // else.
  virtual IoStatus Handshake() = 0;
  // What came to nothing for now waits for room to write, not for bytes.
  virtual bool waits_for_room() const = 0;
};

// The server's certificate and key, TLS 1.2 and later. Thread safety: Accept from any thread.
class TlsContext {
 public:
  // PEM files; the certificate file may hold its chain. kInvalidArgument names the file that cannot
  // be used.
  static Result<std::unique_ptr<TlsContext>> Create(const std::string& certificate_path,
                                                    const std::string& key_path);
  virtual ~TlsContext() = default;
  // Its certificate may sign others: what clients that trust it refuse of a flawed one is the flaw
  // (flawed_certificates.h).
  virtual bool may_sign() const = 0;
  // Takes over `fd` in every case. Null when OpenSSL has no memory for it. The context outlives the
  // stream. Flawed certificates are made once each, for the first that is to meet them. Threads
  // that use the stream must block SIGPIPE: OpenSSL writes without MSG_NOSIGNAL.
  virtual std::unique_ptr<TlsStream> Accept(int fd, CertificateFlaw flaw) = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_TLS_H_
