// Two connected sockets and the actions of a peer on the other end, for tests of code that reads
// and writes one of them.
#ifndef PENSTOCK_CLIENT_HTTP_SOCKET_PAIR_FOR_TEST_H_
#define PENSTOCK_CLIENT_HTTP_SOCKET_PAIR_FOR_TEST_H_

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/io/descriptor.h"

namespace penstock::http {

class SocketPair {
 public:
  SocketPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_), 0); }
  ~SocketPair() {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int own_fd() const { return ends_[0]; }
  Descriptor DuplicateOwn() const { return Descriptor(::dup(ends_[0])); }
  int peer_fd() const { return ends_[1]; }
  void ClosePeer() { ::close(std::exchange(ends_[1], -1)); }
  void PeerSends(std::string_view text) {
    EXPECT_EQ(::send(ends_[1], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  // Returns the available bytes; empty: none.
  std::string PeerReads() {
    std::string text(1 << 20, '\0');
    const ssize_t count = ::recv(ends_[1], text.data(), text.size(), MSG_DONTWAIT);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_SOCKET_PAIR_FOR_TEST_H_
