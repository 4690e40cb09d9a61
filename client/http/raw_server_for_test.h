// A server that says exactly what a test tells it to: plain sockets on 127.0.0.1, one thread per
// connection.
#ifndef PENSTOCK_CLIENT_HTTP_RAW_SERVER_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_RAW_SERVER_FOR_TEST_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client/http/transport.h"
#include "penstock/base/mutex.h"

namespace penstock::http {

// One accepted connection, used by its script's thread.
class RawConnection {
 public:
  RawConnection(int socket, int index) : socket_(socket), index_(index) {}
  int index() const { return index_; }  // 0 for the first connection of the server

  // Request line and headers with the blank line; nullopt when the client is gone.
  std::optional<std::string> ReadHead();
  // What has come, at least a byte; empty when the client is gone.
  std::string ReadSome();
  // Exactly `count` bytes, fewer when the client is gone.
  std::string ReadBody(std::size_t count);
  // Waits until the client has closed or reset the connection.
  void WaitForClose();
  bool Send(std::string_view text);
  // Which of this machine's addresses the client came to.
  std::string address() const;
  // Closes so that the client sees a reset.
  void Reset();

 private:
  int socket_;
  int index_;
  std::string buffer_;
};

class RawServer {
 public:
  using Script = std::function<void(RawConnection&)>;

  // Runs `script` for every connection; the connection is closed when it returns.
  // On 127.0.0.1, or on every address of the machine.
  enum class Listens { kLoopback, kEverywhere };
  explicit RawServer(Script script, Listens listens = Listens::kLoopback);
  ~RawServer();

  int port() const { return port_; }
  int connections() const { return connections_; }
  // A GET for this server, with a Host header.
  Request Get(std::string target = "/") const;

  // Answers every request with 200 and "ok".
  static void Ok(RawConnection& connection);

 private:
  void Accept();

  Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  Mutex mutex_;
  bool stopping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::vector<int> open_ PENSTOCK_GUARDED_BY(mutex_);
  std::vector<std::thread> scripts_;  // the accepting thread's until it has ended
  std::thread acceptor_;
};

// A port of 127.0.0.1 on which nobody listens.
int UnusedPort();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_RAW_SERVER_FOR_TEST_H_
