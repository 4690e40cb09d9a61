// A server that sends exactly the bytes of a test's script: plain sockets on 127.0.0.1, one thread
// per connection.
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

// One accepted connection, used by the thread of its script.
class RawConnection {
 public:
  RawConnection(int socket, int index) : socket_(socket), index_(index) {}
  int index() const { return index_; }  // 0 for the first connection of the server

  // Returns the request line and headers with the blank line. Nullopt if the client has closed.
  std::optional<std::string> ReadHead();
  // Returns the available bytes, at least one. Empty if the client has closed.
  std::string ReadSome();
  // Returns exactly `count` bytes, or fewer if the client has closed.
  std::string ReadBody(std::size_t count);
  // Waits until the client has closed or reset the connection.
  void WaitForClose();
  bool Send(std::string_view text);
  // Relays bytes between the client and 127.0.0.1:`port` until one of them has closed.
  void RelayTo(int port);
  // Returns the local address that the client connected to.
  std::string address() const;
  // Closes the connection so that the client gets a reset.
  void Reset();

 private:
  int socket_;
  int index_;
  std::string buffer_;
};

class RawServer {
 public:
  using Script = std::function<void(RawConnection&)>;

  // Runs `script` for every connection and closes the connection when it returns. Listens on
  // 127.0.0.1, or on every address of the machine.
  enum class Listens { kLoopback, kEverywhere };
  explicit RawServer(Script script, Listens listens = Listens::kLoopback);
  ~RawServer();

  int port() const { return port_; }
  int connections() const { return connections_; }
  // Returns a GET for this server, with a Host header.
  Request Get(std::string target = "/") const;

  // Responds to every request with 200 and "ok".
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
  std::vector<std::thread> scripts_;  // used by the accepting thread until it has ended
  std::thread acceptor_;
};

// Returns a port of 127.0.0.1 without a listener.
int UnusedPort();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_RAW_SERVER_FOR_TEST_H_
