// The other end of a connection as a small value: kept for every request, made into text only for
// those that fail.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_PEER_ADDRESS_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_PEER_ADDRESS_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

namespace penstock::http {

struct PeerAddress {
  std::array<std::uint8_t, 16> ip{};  // an IPv4 address in the first four
  std::uint16_t port = 0;
  std::uint8_t ip_bytes = 0;  // 4, 16, or 0: unknown

  // Unknown where the family is neither IPv4 nor IPv6.
  static PeerAddress Of(const sockaddr* address);
  // Of the other end of a connected socket; unknown where it has none.
  static PeerAddress OfSocket(int fd);
  // Of a literal without brackets.
  static PeerAddress OfText(const std::string& ip, int port);

  bool known() const { return ip_bytes != 0; }
  // "192.0.2.1:443", "[2001:db8::1]:443"; empty where unknown.
  std::string ToString() const;
  bool operator==(const PeerAddress&) const = default;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_PEER_ADDRESS_H_
