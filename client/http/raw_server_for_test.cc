#include "client/http/raw_server_for_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "penstock/base/check.h"

namespace penstock::http {
namespace {

// Returns a socket bound to a port that the system chooses.
int BoundSocket(int& port, in_addr_t where = INADDR_LOOPBACK) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  PENSTOCK_CHECK(socket >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(where);
  socklen_t size = sizeof(address);
  PENSTOCK_CHECK(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  PENSTOCK_CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return socket;
}

}  // namespace

std::optional<std::string> RawConnection::ReadHead() {
  std::array<char, 4096> piece{};
  for (;;) {
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = buffer_.substr(0, end + 4);
      buffer_.erase(0, end + 4);
      return head;
    }
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
    if (count <= 0) return std::nullopt;
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  }
}

std::string RawConnection::ReadSome() {
  if (!buffer_.empty()) return std::exchange(buffer_, {});
  std::array<char, 65536> piece{};
  const ssize_t count = ::recv(socket_, piece.data(), piece.size(), 0);
  return {piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

std::string RawConnection::ReadBody(std::size_t count) {
  std::array<char, 65536> piece{};
  while (buffer_.size() < count) {
    const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
    if (got <= 0) break;
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
  }
  std::string body = buffer_.substr(0, count);
  buffer_.erase(0, body.size());
  return body;
}

void RawConnection::WaitForClose() {
  std::array<char, 65536> piece{};
  while (::recv(socket_, piece.data(), piece.size(), 0) > 0) {
  }
}

bool RawConnection::Send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void RawConnection::RelayTo(int port) {
  const int upstream = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  PENSTOCK_CHECK(::connect(upstream, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  RawConnection server(upstream, 0);
  RawConnection* const sides[] = {this, &server};
  pollfd readable[] = {{socket_, POLLIN, 0}, {upstream, POLLIN, 0}};
  for (bool open = true; open && ::poll(readable, 2, -1) > 0;) {
    for (const int from : {0, 1}) {
      if (readable[from].revents == 0) continue;
      const std::string bytes = sides[from]->ReadSome();
      open = open && !bytes.empty() && sides[1 - from]->Send(bytes);
    }
  }
  ::close(upstream);
}

std::string RawConnection::address() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  PENSTOCK_CHECK(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  std::array<char, INET_ADDRSTRLEN> text{};
  PENSTOCK_CHECK(::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr);
  return text.data();
}

void RawConnection::Reset() {
  const linger hard{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

RawServer::RawServer(Script script, Listens listens) : script_(std::move(script)) {
  listener_ = BoundSocket(port_, listens == Listens::kEverywhere ? INADDR_ANY : INADDR_LOOPBACK);
  PENSTOCK_CHECK(::listen(listener_, 512) == 0);
  acceptor_ = std::thread([this] { Accept(); });
}

RawServer::~RawServer() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : scripts_) thread.join();
  ::close(listener_);
}

void RawServer::Accept() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    {
      const MutexLock lock(mutex_);
      if (stopping_) {
        ::close(socket);
        return;
      }
      open_.push_back(socket);
    }
    scripts_.emplace_back([this, socket, index = connections_++] {
      RawConnection connection(socket, index);
      script_(connection);
      const MutexLock lock(mutex_);
      std::erase(open_, socket);
      ::close(socket);
    });
  }
}

Request RawServer::Get(std::string target) const {
  Request request;
  request.method = "GET";
  request.endpoint = {"http", "127.0.0.1", port_};
  request.target = std::move(target);
  request.headers = {{"Host", "127.0.0.1:" + std::to_string(port_)}};
  return request;
}

void RawServer::Ok(RawConnection& connection) {
  while (connection.ReadHead()) {
    if (!connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) return;
  }
}

int UnusedPort() {
  int port = 0;
  const int socket = BoundSocket(port);
  ::close(socket);
  return port;
}

}  // namespace penstock::http
