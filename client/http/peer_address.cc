#include "client/http/peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace penstock::http {

PeerAddress PeerAddress::Of(const sockaddr* address) {
  PeerAddress peer;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    std::memcpy(peer.ip.data(), &v4.sin_addr, 4);
    peer.port = ntohs(v4.sin_port);
    peer.ip_bytes = 4;
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    std::memcpy(peer.ip.data(), &v6.sin6_addr, 16);
    peer.port = ntohs(v6.sin6_port);
    peer.ip_bytes = 16;
  }
  return peer;
}

PeerAddress PeerAddress::OfSocket(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return Of(reinterpret_cast<const sockaddr*>(&storage));
}

PeerAddress PeerAddress::OfText(const std::string& ip, int port) {
  PeerAddress peer;
  peer.port = static_cast<std::uint16_t>(port);
  if (::inet_pton(AF_INET, ip.c_str(), peer.ip.data()) == 1) {
    peer.ip_bytes = 4;
  } else if (::inet_pton(AF_INET6, ip.c_str(), peer.ip.data()) == 1) {
    peer.ip_bytes = 16;
  } else {
    return {};
  }
  return peer;
}

std::string PeerAddress::ToString() const {
  if (!known()) return {};
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(ip_bytes == 4 ? AF_INET : AF_INET6, ip.data(), text, sizeof text);
  const std::string host = ip_bytes == 4 ? text : "[" + std::string(text) + "]";
  return host + ":" + std::to_string(port);
}

}  // namespace penstock::http
