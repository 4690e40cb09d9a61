#include "client/http/connect/connector.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "client/http/connect/address_circuit_breaker.h"
#include "client/http/connect/connection_error.h"
#include "client/http/connect/environment_proxy.h"
#include "client/http/connect/system_authorities.h"
#include "client/http/connect/tls_read_ahead.h"
#include "client/http/uri.h"
#include "penstock/base/clock.h"

namespace penstock::http {
namespace {

curl_slist* MakeList(const std::vector<std::string>& entries) {
  curl_slist* list = nullptr;
  for (const std::string& entry : entries) {
    curl_slist* const longer = curl_slist_append(list, entry.c_str());
    if (longer != nullptr) list = longer;  // otherwise out of memory, and handles will fail too
  }
  return list;
}

// The share is used by one thread only, so it needs no lock functions.
CURLSH* MakeShare() {
  CURLSH* const share = curl_share_init();
  if (share != nullptr) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}

// The authorities of the server and of an https proxy. libcurl's default directory stays in use
// beside CURLOPT_CAINFO, and NULL selects that default again in newer versions. A path that is not
// a directory turns it off. With any path libcurl keeps no parsed certificates
// (CURLOPT_CA_CACHE_TIMEOUT), so the next connection reads a bundle that was replaced.
void SetAuthorities(CURL* curl, const Request& request) {
  if (request.endpoint.scheme != "https" && !HasProxyFor(request)) return;
  std::string bundle = request.ca_bundle_path;
  std::string directory =
      request.connect == nullptr ? std::string() : request.connect->ca_directory_path;
  if (bundle.empty()) {
    SystemAuthorities system = FindSystemAuthorities();
    bundle = std::move(system.bundle_path);
    if (directory.empty()) directory = std::move(system.directory_path);
  }
  if (!bundle.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, bundle.c_str());
    curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, bundle.c_str());
  }
  const char* const path = directory.empty() ? "/dev/null" : directory.c_str();
  curl_easy_setopt(curl, CURLOPT_CAPATH, path);
  curl_easy_setopt(curl, CURLOPT_PROXY_CAPATH, path);
}

// libcurl copies the strings.
void SetConnectOptions(CURL* curl, const ConnectSettings& settings) {
  const auto set = [curl](CURLoption option, const std::string& value) {
    if (!value.empty()) curl_easy_setopt(curl, option, value.c_str());
  };
  set(CURLOPT_SSLCERT, settings.client_certificate_path);
  set(CURLOPT_SSLKEY, settings.client_key_path);
  // Without a password, also an empty one, OpenSSL asks for it on the terminal.
  if (!settings.client_certificate_path.empty())
    curl_easy_setopt(curl, CURLOPT_KEYPASSWD, settings.client_key_password.c_str());
  if (!settings.proxy_url) return;
  // An empty string, and not the absence of the option, overrides the environment.
  curl_easy_setopt(curl, CURLOPT_PROXY, settings.proxy_url->c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, settings.no_proxy.c_str());
}

}  // namespace

struct ConnectHandle::Callbacks {
  static curl_socket_t OnOpenSocket(void* self, curlsocktype, curl_sockaddr* address);
  static int OnCloseSocket(void* self, curl_socket_t fd);
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);
  static std::size_t OnTunnelHead(char* line, std::size_t, std::size_t bytes, void* self);
};

ConnectHandle::~ConnectHandle() {
  curl_multi_remove_handle(multi_, curl_);
  curl_easy_cleanup(curl_);
  curl_multi_cleanup(multi_);
  std::erase(connector_.connecting_, this);
  std::erase(connector_.finished_, this);
  std::erase_if(connector_.by_socket_, [this](const auto& row) { return row.second == this; });
}

int ConnectHandle::Socket() const {
  curl_socket_t fd = CURL_SOCKET_BAD;
  if (code_ != CURLE_OK || curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK)
    return -1;
  return fd == CURL_SOCKET_BAD ? -1 : static_cast<int>(fd);
}

Descriptor ConnectHandle::TakeSocket() { return Descriptor(taken_ = Socket()); }

curl_socket_t ConnectHandle::Callbacks::OnOpenSocket(void* self, curlsocktype,
                                                     curl_sockaddr* address) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  const PeerAddress peer = PeerAddress::Of(&address->addr);
  if (peer.known() && !handle.tries_all_ &&
      AddressCircuitBreaker::PerProcess().Avoids(peer, SystemClock().Monotonic())) {
    handle.skipped_ = handle.lost_ = true;
    return CURL_SOCKET_BAD;  // libcurl tries the host's next address
  }
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  // Without a socket (EMFILE), nothing is known about the address.
  if (peer.known() && fd >= 0) handle.tried_.push_back(peer);
  return fd;
}

int ConnectHandle::Callbacks::OnCloseSocket(void* self, curl_socket_t fd) {
  if (fd == static_cast<ConnectHandle*>(self)->taken_) return 0;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0)
    static_cast<ConnectHandle*>(self)->reached_peer_ = true;
  return ::close(fd);
}

void ConnectHandle::RecordResult() const {
  AddressCircuitBreaker& circuit = AddressCircuitBreaker::PerProcess();
  const bool unreachable = code_ == CURLE_COULDNT_CONNECT || code_ == CURLE_OPERATION_TIMEDOUT;
  if (code_ != CURLE_OK && !unreachable) return;
  const int fd = Socket();
  const PeerAddress winner = fd < 0 ? PeerAddress() : PeerAddress::OfSocket(fd);
  for (const PeerAddress& address : tried_) {
    if (address == winner) break;
    // An address of the other family may only have been slower.
    if (!winner.known() || winner.ip_bytes == address.ip_bytes)
      circuit.OnFailure(address, SystemClock().Monotonic());
  }
  if (winner.known()) circuit.OnSuccess(winner);
}

Error ConnectHandle::ErrorOf(const Request& request) const {
  ConnectFailure failure;
  failure.curl_code = code_ == CURLE_OK ? CURLE_COULDNT_CONNECT : code_;
  failure.detail = error_text_.data();
  long os_error = 0;
  curl_easy_getinfo(curl_, CURLINFO_OS_ERRNO, &os_error);
  failure.os_error = static_cast<int>(os_error);
  failure.connected = reached_peer_;
  failure.tunnel_status = tunnel_status_;
  failure.tunnel_head_too_long = tunnel_head_bytes_ > kMaxTunnelHeadBytes;
  return ConnectError(request, failure);
}

Connector::Connector(int epoll_fd, const std::vector<std::string>& resolve)
    : epoll_fd_(epoll_fd), share_(MakeShare()), resolve_(MakeList(resolve)) {}

Connector::~Connector() {
  if (share_ != nullptr) curl_share_cleanup(share_);
  curl_slist_free_all(static_cast<curl_slist*>(resolve_));
}

std::optional<int> Connector::FromTag(std::uint64_t tag) {
  if ((tag & 1) == 0) return std::nullopt;
  return static_cast<int>(static_cast<std::uint32_t>(tag >> 1));
}

std::unique_ptr<ConnectHandle> Connector::Connect(const Request& request, void* owner,
                                                  bool tries_all) {
  connecting_.reserve(connecting_.size() + 1);
  CURLM* const multi = curl_multi_init();
  CURL* const curl = multi == nullptr ? nullptr : curl_easy_init();
  if (curl == nullptr) {
    curl_multi_cleanup(multi);
    return nullptr;
  }
  std::unique_ptr<ConnectHandle> made(new ConnectHandle(*this, multi, curl));
  made->owner_ = owner;
  made->tries_all_ = tries_all;
  SetOptions(*made, request);
  connecting_.push_back(made.get());
  if (curl_multi_add_handle(multi, curl) != CURLM_OK) return nullptr;
  return made;
}

// Each new connection resolves its host again and tries the addresses in random order, so that
// connections use all addresses of a service.
void Connector::SetOptions(ConnectHandle& handle, const Request& request) {
  static_assert(ConnectHandle::kErrorTextBytes >= CURL_ERROR_SIZE);
  CURLM* const multi = handle.multi_;
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &ConnectHandle::Callbacks::OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &handle);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &ConnectHandle::Callbacks::OnTimer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &handle);
  CURL* const curl = handle.curl_;
  handle.url_ = request.endpoint.scheme + "://" + Authority(request.endpoint);
  curl_easy_setopt(curl, CURLOPT_URL, handle.url_.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, handle.error_text_.data());
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, &ConnectHandle::Callbacks::OnOpenSocket);
  curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &handle);
  curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, &ConnectHandle::Callbacks::OnCloseSocket);
  curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, &handle);
  curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  // Otherwise the end of an attempt waits for the thread that resolves the name.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  // S3 does not support HTTP/2.
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 15L);
  curl_easy_setopt(curl, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  // A cached lookup keeps its order, so all connections of a burst would use the first address.
  curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &ConnectHandle::Callbacks::OnTunnelHead);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &handle);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_SHARE, share_);
  if (resolve_ != nullptr) curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve_);
  SetAuthorities(curl, request);
  if (request.connect != nullptr) SetConnectOptions(curl, *request.connect);
  // Not with a proxy: libcurl reads a proxy connection over TLS itself, and polls the socket.
  if (request.endpoint.scheme == "https" && !HasProxyFor(request)) LetTlsReadAhead(curl);
  // Zero would be libcurl's default.
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, request.connect_timeout.count())));
}

int ConnectHandle::Callbacks::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  Connector& connector = handle.connector_;
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(connector.epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
    if (std::erase(handle.sockets_, fd) == 0) return 0;
    handle.lost_ = true;
    connector.by_socket_.erase(fd);
    return 0;
  }
  const bool known = std::ranges::find(handle.sockets_, fd) != handle.sockets_.end();
  if (!known) {
    handle.sockets_.push_back(fd);
    connector.by_socket_[fd] = &handle;
  }
  epoll_event event{};
  event.events =
      ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  event.data.u64 = Connector::Tag(fd);
  ::epoll_ctl(connector.epoll_fd_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
  return 0;
}

int ConnectHandle::Callbacks::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  handle.timer_ = timeout_ms < 0
                      ? MonotonicTime::max()
                      : SystemClock().Monotonic() + std::chrono::milliseconds(timeout_ms);
  handle.connector_.timer_ = std::min(handle.connector_.timer_, handle.timer_);
  return 0;
}

// A line of the proxy's response to CONNECT. libcurl reads that response byte by byte until the
// socket is empty, also the body of a refusal, while the other connections of this thread wait. So
// a long head and a refusal end the attempt here, with CURLE_WRITE_ERROR. libcurl limits the length
// of one line to 16 KiB.
std::size_t ConnectHandle::Callbacks::OnTunnelHead(char* line, std::size_t, std::size_t bytes,
                                                   void* self) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  handle.tunnel_head_bytes_ += bytes;
  constexpr std::size_t kStatusAt = std::string_view("HTTP/1.1 ").size();
  if (const std::string_view text(line, bytes);
      text.starts_with("HTTP/1.") && bytes >= kStatusAt + 3)
    std::from_chars(line + kStatusAt, line + kStatusAt + 3, handle.tunnel_status_);
  const bool refused = handle.tunnel_status_ != 0 && handle.tunnel_status_ / 100 != 2;
  return refused || handle.tunnel_head_bytes_ > kMaxTunnelHeadBytes ? 0 : bytes;
}

// If an address refuses or is skipped, libcurl 7.88 tries the next one only when its timer is due:
// after 200 ms, and then after half of the connect timeout. If it waits for nothing else, unpausing
// the handle makes it run at once.
void ConnectHandle::TryNextAddress() {
  if (!std::exchange(lost_, false) || !sockets_.empty() || Socket() >= 0) return;
  curl_easy_pause(curl_, CURLPAUSE_ALL);
  curl_easy_pause(curl_, CURLPAUSE_CONT);
}

void ConnectHandle::Run(int fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
  int left = 0;
  const CURLMsg* const message = curl_multi_info_read(multi_, &left);
  if (message == nullptr || message->msg != CURLMSG_DONE) return TryNextAddress();
  code_ = message->data.result;
  timer_ = MonotonicTime::max();
  std::erase(connector_.connecting_, this);
  connector_.finished_.push_back(this);
}

void Connector::OnEvents(int fd, std::uint32_t events) {
  const auto found = by_socket_.find(fd);
  if (found == by_socket_.end()) return;  // an event of a socket that libcurl has closed since
  found->second->Run(fd, ((events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                             ((events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                             ((events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0));
}

void Connector::OnTime(MonotonicTime now) {
  if (now < timer_) return;
  const std::vector<ConnectHandle*> all = connecting_;  // Run removes those that have finished
  for (ConnectHandle* const handle : all) {
    if (handle->timer_ > now) continue;
    handle->timer_ = MonotonicTime::max();
    handle->Run(CURL_SOCKET_TIMEOUT, 0);
  }
  timer_ = MonotonicTime::max();
  for (const ConnectHandle* const handle : connecting_) timer_ = std::min(timer_, handle->timer_);
}

void Connector::Finished(const std::function<void(void* owner)>& callback) {
  while (!finished_.empty()) {
    const ConnectHandle* const handle = finished_.front();
    finished_.erase(finished_.begin());
    callback(handle->owner_);  // may destroy handles
  }
}

}  // namespace penstock::http
