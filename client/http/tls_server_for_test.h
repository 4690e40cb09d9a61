// A TLS server that sends exactly the bytes of a test's script, in as many segments as the test
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

// One accepted connection after its handshake, used by the thread of its script.
class TlsConnection {
 public:
  struct Session;
  TlsConnection(RawConnection& raw, Session& session) : raw_(raw), session_(session) {}
  RawConnection& raw() { return raw_; }

  // Returns the request line and headers with the blank line. Nullopt if the client has closed.
  std::optional<std::string> ReadHead();
  // Writes `text` in its own records. Flush sends all records written so far at once.
  void Write(std::string_view text);
  bool Flush();
  bool Send(std::string_view text) {
    Write(text);
    return Flush();
  }
  // Returns whether the handshake resumed a session of an earlier connection.
  bool resumed() const;
  // Sends a close_notify alert.
  void SendCloseNotify();

 private:
  RawConnection& raw_;
  Session& session_;
  std::string read_;
};

class TlsServer {
 public:
  using Script = std::function<void(TlsConnection&)>;

  // Runs `script` for every connection whose handshake succeeds.
  enum class ClientCertificate { kNone, kRequired };
  explicit TlsServer(Script script,
                     ClientCertificate client_certificate = ClientCertificate::kNone);
  ~TlsServer();

  int port() const { return server_->port(); }
  int connections() const { return server_->connections(); }
  // The key of the server's certificate, which a client may show too.
  std::string key_path() const;
  // The same key, encrypted with kKeyPassword.
  std::string encrypted_key_path() const;
  static constexpr std::string_view kKeyPassword = "secret";
  // The name that OpenSSL looks for its certificate by, in a directory of authorities.
  std::string hashed_name() const;
  // Returns a GET for this server that trusts its certificate.
  Request Get(std::string target = "/") const;

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
  std::unique_ptr<RawServer> server_;  // last: its threads use the other members
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_TLS_SERVER_FOR_TEST_H_
