#include "client/http/direct/direct_connector.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "client/http/curl/tls_read_ahead.h"
#include "client/http/direct/address_circuit_breaker.h"
#include "client/http/uri.h"
#include "penstock/base/clock.h"

namespace penstock::http {

ConnectHandle::~ConnectHandle() {
  curl_multi_remove_handle(connector_.multi_, handle_);
  curl_easy_cleanup(handle_);
  std::erase(connector_.lost_, this);
}

int ConnectHandle::Socket() const {
  curl_socket_t fd = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(handle_, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK) return -1;
  return fd == CURL_SOCKET_BAD ? -1 : static_cast<int>(fd);
}

curl_socket_t ConnectHandle::OnOpenSocket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  const PeerAddress peer = PeerAddress::Of(&address->addr);
  if (peer.known() && !handle.tries_all_ &&
      AddressCircuitBreaker::PerProcess().Avoids(peer, SystemClock().Monotonic())) {
    handle.skipped_ = true;
    handle.connector_.lost_.push_back(&handle);
    return CURL_SOCKET_BAD;  // libcurl tries the host's next address
  }
  if (peer.known()) handle.tried_.push_back(peer);
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void ConnectHandle::RecordResult(CURLcode code) const {
  AddressCircuitBreaker& circuit = AddressCircuitBreaker::PerProcess();
  const bool unreachable = code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT;
  if (code != CURLE_OK && !unreachable) return;
  const int fd = code == CURLE_OK ? Socket() : -1;
  const PeerAddress winner = fd < 0 ? PeerAddress() : PeerAddress::OfSocket(fd);
  for (const PeerAddress& address : tried_) {
    if (address == winner) break;
    // An address of the other family may only have been slower.
    if (!winner.known() || winner.ip_bytes == address.ip_bytes)
      circuit.OnFailure(address, SystemClock().Monotonic());
  }
  if (winner.known()) circuit.OnSuccess(winner);
}

CurlFailure ConnectHandle::Failure(CURLcode code) const {
  return FailureOf(handle_, code, error_text_.data());
}

DirectConnector::DirectConnector(CURLSH* share, std::size_t max_connections, int epoll_fd,
                                 const std::vector<std::string>& resolve)
    : share_(share), resolve_(resolve), epoll_fd_(epoll_fd), multi_(curl_multi_init()) {
  if (multi_ == nullptr) return;
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(max_connections));
}

DirectConnector::~DirectConnector() {
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
}

std::optional<int> DirectConnector::FromTag(std::uint64_t tag) {
  if ((tag & 1) == 0) return std::nullopt;
  return static_cast<int>(static_cast<std::uint32_t>(tag >> 1));
}

std::unique_ptr<ConnectHandle> DirectConnector::Connect(const Request& request, void* owner,
                                                        bool tries_all) {
  CURL* const handle = multi_ == nullptr ? nullptr : curl_easy_init();
  if (handle == nullptr) return nullptr;
  auto made = std::make_unique<ConnectHandle>(*this, handle);
  made->owner_ = owner;
  made->tries_all_ = tries_all;
  made->url_ = request.endpoint.scheme + "://" + Authority(request.endpoint);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, made.get());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, made->error_text_.data());
  curl_easy_setopt(handle, CURLOPT_URL, made->url_.c_str());
  curl_easy_setopt(handle, CURLOPT_CONNECT_ONLY, 1L);
  SetConnectionOptions(handle, share_, request.ca_bundle_path);
  // Not with a proxy: libcurl reads a proxy connection over TLS itself, and polls the socket.
  if (request.endpoint.scheme == "https" && !HasProxyFor("https")) LetTlsReadAhead(handle);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &ConnectHandle::OnOpenSocket);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, made.get());
  resolve_.Apply(handle);
  SetConnectTimeout(handle, request.connect_timeout);
  if (curl_multi_add_handle(multi_, handle) != CURLM_OK) return nullptr;
  return made;
}

int DirectConnector::OnSocket(CURL* easy, curl_socket_t fd, int what, void* self, void* known) {
  auto& connector = *static_cast<DirectConnector*>(self);
  ConnectHandle* handle = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &handle);
  if (handle != nullptr && what == CURL_POLL_REMOVE && known != nullptr) {
    --handle->sockets_;
    connector.lost_.push_back(handle);
  }
  if (handle != nullptr && what != CURL_POLL_REMOVE && known == nullptr) ++handle->sockets_;
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(connector.epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
    curl_multi_assign(connector.multi_, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events =
      ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  event.data.u64 = Tag(fd);
  ::epoll_ctl(connector.epoll_fd_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
  curl_multi_assign(connector.multi_, fd, self);
  return 0;
}

int DirectConnector::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& connector = *static_cast<DirectConnector*>(self);
  connector.timer_ = timeout_ms < 0
                         ? MonotonicTime::max()
                         : SystemClock().Monotonic() + std::chrono::milliseconds(timeout_ms);
  return 0;
}

// If an address refuses or is skipped, libcurl 7.88 tries the next one only when its timer is due:
// after 200 ms, and then after half of the connect timeout. If it waits for nothing else, unpausing
// the handle makes it run at once.
void DirectConnector::TryNextAddresses() {
  for (ConnectHandle* const handle : std::exchange(lost_, {})) {
    if (handle->sockets_ > 0 || handle->Socket() >= 0) continue;  // it still waits, or is connected
    curl_easy_pause(handle->handle_, CURLPAUSE_ALL);
    curl_easy_pause(handle->handle_, CURLPAUSE_CONT);
  }
}

void DirectConnector::OnEvents(int fd, std::uint32_t events) {
  const int what = ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                   ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                   ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
  int running = 0;
  curl_multi_socket_action(multi_, fd, what, &running);
  TryNextAddresses();
}

void DirectConnector::OnTime(MonotonicTime now) {
  if (now < timer_) return;
  timer_ = MonotonicTime::max();
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  TryNextAddresses();
}

void DirectConnector::Finished(const std::function<void(void* owner, CURLcode code)>& callback) {
  if (multi_ == nullptr) return;
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    ConnectHandle* handle = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
    callback(handle->owner_, code);
  }
}

}  // namespace penstock::http
