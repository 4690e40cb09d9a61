// The remote address of a connection as a small value. It is kept for every request, and converted
// to text only for failed ones.
#ifndef PENSTOCK_CLIENT_HTTP_PEER_ADDRESS_H_
#define PENSTOCK_CLIENT_HTTP_PEER_ADDRESS_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

namespace penstock::http {

struct PeerAddress {
  std::array<std::uint8_t, 16> ip{};  // an IPv4 address uses the first four bytes
  std::uint16_t port = 0;
  std::uint8_t ip_bytes = 0;  // 4, 16, or 0: unknown

  // Unknown if the family is neither IPv4 nor IPv6.
  static PeerAddress Of(const sockaddr* address);
  // The remote end of a connected socket; unknown if it is not connected.
  static PeerAddress OfSocket(int fd);
  // Parses an IP literal without brackets.
  static PeerAddress OfText(const std::string& ip, int port);

  bool known() const { return ip_bytes != 0; }
  // "192.0.2.1:443" or "[2001:db8::1]:443"; empty if unknown.
  std::string ToString() const;
  bool operator==(const PeerAddress&) const = default;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_PEER_ADDRESS_H_
