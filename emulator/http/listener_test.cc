#include "emulator/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(Listener, HandsOverSocketsAndReportsItsPort) {
  std::promise<int> accepted;
  auto listener = Listener::Start("127.0.0.1", 0, [&](int fd) { accepted.set_value(fd); });
  ASSERT_TRUE(listener.ok());
  EXPECT_GT((*listener)->port(), 0);
  TestClient client((*listener)->port());
  EXPECT_TRUE(client.connected());
  const int fd = accepted.get_future().get();
  char name[32] = {};
  socklen_t size = sizeof name;
  ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
  EXPECT_STREQ(name, "cubic");
  ::close(fd);
}

TEST(Listener, RefusesATakenPort) {
  auto first = Listener::Start("127.0.0.1", 0, [](int fd) { ::close(fd); });
  ASSERT_TRUE(first.ok());
  auto second = Listener::Start("127.0.0.1", (*first)->port(), [](int fd) { ::close(fd); });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find(std::to_string((*first)->port())), std::string::npos);
}

TEST(Listener, RefusesAForeignAddress) {
  auto listener = Listener::Start("192.0.2.1", 0, [](int fd) { ::close(fd); });
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.error().kind, ErrorKind::kUnavailable);
}

TEST(Listener, QueuesABurstBeyondTheBacklogOfCppHttplib) {
  std::promise<void> go;
  std::shared_future<void> may_go = go.get_future().share();
  std::atomic<int> handed_over{0};
  auto listener = Listener::Start("127.0.0.1", 0, [&](int fd) {
    may_go.wait();  // blocks the accept thread: all other connections must fit the backlog
    ::close(fd);
    ++handed_over;
  });
  ASSERT_TRUE(listener.ok());
  std::vector<int> sockets;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>((*listener)->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 100; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(sockets.back(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    pollfd entry{sockets.back(), POLLOUT, 0};
    // Beyond the backlog the kernel drops the last step of the handshake. The connection then needs
    // a retransmission after 1 s.
    ASSERT_EQ(::poll(&entry, 1, 500), 1) << "connection " << i;
    int error = -1;
    socklen_t size = sizeof error;
    ::getsockopt(sockets.back(), SOL_SOCKET, SO_ERROR, &error, &size);
    ASSERT_EQ(error, 0);
  }
  tcp_info info{};
  socklen_t size = sizeof info;
  ASSERT_EQ(::getsockopt(sockets[99], IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  EXPECT_EQ(info.tcpi_state, TCP_ESTABLISHED);
  go.set_value();
  for (const int fd : sockets) ::close(fd);
}

TEST(Listener, StopsAtOnceAndTwice) {
  auto listener = Listener::Start("127.0.0.1", 0, [](int fd) { ::close(fd); });
  ASSERT_TRUE(listener.ok());
  const int port = (*listener)->port();
  (*listener)->Stop();
  (*listener)->Stop();
  EXPECT_FALSE(TestClient(port).connected());
}

std::vector<int> DescriptorsListeningOn(int port) {
  std::vector<int> found;
  for (int fd = 0; fd < 1024; ++fd) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_in address{};
    size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    if (ntohs(address.sin_port) == port) found.push_back(fd);
  }
  return found;
}

TEST(Listener, AcceptsAgainAfterErrorsOfAccept) {
  std::atomic<int> accepted{0};
  auto listener = Listener::Start("127.0.0.1", 0, [&](int fd) {
    ::close(fd);
    accepted.fetch_add(1);
    accepted.notify_all();
  });
  ASSERT_TRUE(listener.ok());
  const int port = (*listener)->port();
  const int copy = DescriptorsListeningOn(port).back();  // the listener's own, made last
  for (int round = 0; round < 3; ++round) {
    std::vector<int> listening = DescriptorsListeningOn(port);
    std::erase(listening, copy);
    ASSERT_EQ(listening.size(), 1U) << "round " << round;
    const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(::dup2(other, listening[0]), listening[0]);
    ::close(other);
    // The accept() that has begun gets the first connection. The next one fails (ENOTSOCK).
    for (int i = 0; i < 2; ++i) {
      const int before = accepted.load();
      TestClient client(port);
      ASSERT_TRUE(client.connected());
      accepted.wait(before);
    }
  }
  EXPECT_EQ(accepted.load(), 6);
}

TEST(Listener, StopsWithoutAFreeDescriptor) {
  std::atomic<int> accepted{-1};
  auto listener = Listener::Start("127.0.0.1", 0, [&](int fd) { accepted = fd; });
  ASSERT_TRUE(listener.ok());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>((*listener)->port()));
  std::vector<int> descriptors = {::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit low{static_cast<rlim_t>(descriptors[0]) + 16, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low);
  for (int copy = 0; (copy = ::fcntl(descriptors[0], F_DUPFD_CLOEXEC, 0)) >= 0;)
    descriptors.push_back(copy);
  // An accept() that has begun may have reserved a descriptor. The next one fails (EMFILE).
  ASSERT_EQ(::connect(descriptors[0], reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  (*listener)->Stop();
  ::setrlimit(RLIMIT_NOFILE, &before);
  if (accepted >= 0) descriptors.push_back(accepted);
  for (const int fd : descriptors) ::close(fd);
}

TEST(Listener, DoesNotChangeSigpipe) {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  auto listener = Listener::Start("127.0.0.1", 0, [](int fd) { ::close(fd); });
  ASSERT_TRUE(listener.ok());
  struct sigaction after {};
  ::sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  EXPECT_NE(after.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace penstock::emulator::http
