// TLS for accepted sockets, with OpenSSL. One context per server, one TlsStream per connection.
#ifndef PENSTOCK_EMULATOR_HTTP_SOCKET_TLS_H_
#define PENSTOCK_EMULATOR_HTTP_SOCKET_TLS_H_

#include <chrono>
#include <memory>
#include <string>

#include "emulator/http/socket/accept_decision.h"
#include "emulator/http/socket/stream.h"
#include "penstock/base/result.h"

namespace penstock::emulator::http {

// A stream that needs a handshake first.
class TlsStream : public Stream {
 public:
  using Stream::Stream;
  // Continues the handshake with what has arrived. kOk: it is complete. Call it before reads and
  // writes.
  virtual IoStatus Handshake() = 0;
  // The last incomplete operation waits for room to write, not for bytes.
  virtual bool waits_for_room() const = 0;
};

// The server's certificate and key, TLS 1.2 or later. Thread safety: Accept may be called from any
// thread.
class TlsContext {
 public:
  // Paths of PEM files; the certificate file may contain the chain. Returns kInvalidArgument,
  // naming the file, if one cannot be used.
  static Result<std::unique_ptr<TlsContext>> Create(const std::string& certificate_path,
                                                    const std::string& key_path);
  virtual ~TlsContext() = default;
  // The certificate may sign others, so that the flaw is the only reason for a client to refuse a
  // flawed certificate (flawed_certificates.h).
  virtual bool may_sign() const = 0;
  // Always takes ownership of `fd`. Returns null when OpenSSL is out of memory. The context must
  // outlive the stream. Each flawed certificate is created at its first use. Threads that use the
  // stream must block SIGPIPE, because OpenSSL writes without MSG_NOSIGNAL.
  virtual std::unique_ptr<TlsStream> Accept(int fd, CertificateFlaw flaw) = 0;
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SOCKET_TLS_H_
