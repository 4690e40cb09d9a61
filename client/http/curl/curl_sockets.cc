#include "client/http/curl/curl_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "client/http/direct/peer_address.h"

namespace penstock::http {
namespace {

PeerAddress LocalEnd(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  return ::getsockname(fd, address, &length) == 0 ? PeerAddress::Of(address) : PeerAddress();
}

PeerAddress AddressFromInfo(CURL* handle, CURLINFO ip_info, CURLINFO port_info) {
  const char* ip = nullptr;
  long port = 0;
  curl_easy_getinfo(handle, ip_info, &ip);
  curl_easy_getinfo(handle, port_info, &port);
  return ip == nullptr ? PeerAddress() : PeerAddress::OfText(ip, static_cast<int>(port));
}

}  // namespace

void CurlSockets::Install(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &CurlSockets::OnOpen);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, &CurlSockets::OnClose);
  curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, this);
}

// Compares both addresses, because connections to two peers may share a local port.
std::optional<int> CurlSockets::Of(CURL* handle) const {
  const PeerAddress local = AddressFromInfo(handle, CURLINFO_LOCAL_IP, CURLINFO_LOCAL_PORT);
  const PeerAddress peer = AddressFromInfo(handle, CURLINFO_PRIMARY_IP, CURLINFO_PRIMARY_PORT);
  if (!local.known() || !peer.known()) return std::nullopt;
  for (const int fd : open_) {
    if (LocalEnd(fd) == local && PeerAddress::OfSocket(fd) == peer) return fd;
  }
  return std::nullopt;
}

bool CurlSockets::HaveInput() const {
  return std::ranges::any_of(open_, [](int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  });
}

curl_socket_t CurlSockets::OnOpen(void* self, curlsocktype, curl_sockaddr* address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) static_cast<CurlSockets*>(self)->open_.push_back(fd);
  return fd;
}

int CurlSockets::OnClose(void* self, curl_socket_t fd) {
  auto& sockets = *static_cast<CurlSockets*>(self);
  std::erase(sockets.open_, fd);
  sockets.closed_ = true;
  return ::close(fd);
}

}  // namespace penstock::http
