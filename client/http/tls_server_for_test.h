// A server that says exactly what a test tells it to, over TLS, and in as many pieces as the test
// wants.
#ifndef PENSTOCK_CLIENT_HTTP_TLS_SERVER_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_TLS_SERVER_FOR_TEST_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/http/raw_server_for_test.h"

namespace penstock::http {

// One accepted connection after its handshake, used by its script's thread.
class TlsConnection {
 public:
  struct Session;
  TlsConnection(RawConnection& raw, Session& session) : raw_(raw), session_(session) {}
  RawConnection& raw() { return raw_; }

  // Request line and headers with the blank line; nullopt when the client is gone.
  std::optional<std::string> ReadHead();
  // `text` as records of its own, which Flush sends in one piece with what was said before.
  void Say(std::string_view text);
  bool Flush();
  bool Send(std::string_view text) {
    Say(text);
    return Flush();
  }
  // Says that nothing more comes.
  void Farewell();

 private:
  RawConnection& raw_;
  Session& session_;
  std::string read_;
};

class TlsServer {
 public:
  using Script = std::function<void(TlsConnection&)>;

  // Runs `script` for every connection whose handshake succeeds.
  explicit TlsServer(Script script);
  ~TlsServer();

  int port() const { return server_->port(); }
  int connections() const { return server_->connections(); }
  // A GET for this server that trusts its certificate.
  Request Get(std::string target = "/") const;

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
  std::unique_ptr<RawServer> server_;  // last: its threads use the rest
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TLS_SERVER_FOR_TEST_H_
