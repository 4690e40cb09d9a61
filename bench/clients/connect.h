// A TCP connection for the benchmarks that use sockets directly.
#ifndef PENSTOCK_BENCH_CLIENTS_CONNECT_H_
#define PENSTOCK_BENCH_CLIENTS_CONNECT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>

#include "bench/clients/cost.h"

namespace penstock::bench {

// Connects to an IPv4 address with TCP_NODELAY. Ends the program on failure.
inline int Connect(const char* host, int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    Fail("cannot connect");
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace penstock::bench

#endif  // PENSTOCK_BENCH_CLIENTS_CONNECT_H_
