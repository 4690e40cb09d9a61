#include "client/http/connect/connector.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "client/http/connect/address_circuit_breaker.h"
#include "client/http/connect/connection_error.h"
#include "client/http/connect/curl_global.h"
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

// The authorities of the server and of an https proxy.
SystemAuthorities AuthoritiesOf(const Request& request) {
  SystemAuthorities found{request.ca_bundle_path, request.connect == nullptr
                                                      ? std::string()
                                                      : request.connect->ca_directory_path};
  if (!found.bundle_path.empty()) return found;
  SystemAuthorities system = FindSystemAuthorities();
  if (!found.directory_path.empty()) system.directory_path = std::move(found.directory_path);
  return system;
}

// A revocation list of nothing. libcurl loads it instead of its default bundle, which NULL for
// CURLOPT_CAINFO would select again in newer versions. libcurl accepts it like a certificate, but
// it trusts nothing: without the store of the context callback, every server is refused.
constexpr std::string_view kNoAuthorities =
    "-----BEGIN X509 CRL-----\n"
    "MIGUMD0wCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEbm9uZRcNMjYxMTMwMTgwNDE1\n"
    "WhgPMjEyNjExMDYxODA0MTVaMAoGCCqGSM49BAMCA0cAMEQCIFAYscidLC4vhnDw\n"
    "avznbADYGPB0eXaIvoUYH2ynvtxeAiAfc2RLfK6K1fKFQ/qQWIsCXIKS59ICrRt9\n"
    "dFRgpYGl/g==\n"
    "-----END X509 CRL-----\n";

// libcurl's default directory stays in use unless another one is set. A path that is not a
// directory turns it off, and also libcurl's cache of parsed certificates.
constexpr const char* kNoDirectory = "/dev/null";

void LoadNoAuthorities(CURL* curl) {
  curl_blob none{const_cast<char*>(kNoAuthorities.data()), kNoAuthorities.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &none);
  curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO_BLOB, &none);
  curl_easy_setopt(curl, CURLOPT_CAPATH, kNoDirectory);
  curl_easy_setopt(curl, CURLOPT_PROXY_CAPATH, kNoDirectory);
}

// For a libcurl whose TLS is another library: it parses the bundle for each connection.
void LoadAuthorities(CURL* curl, const SystemAuthorities& authorities) {
  if (const std::string& bundle = authorities.bundle_path; !bundle.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, bundle.c_str());
    curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, bundle.c_str());
  }
  const std::string& directory = authorities.directory_path;
  const char* const path = directory.empty() ? kNoDirectory : directory.c_str();
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
  static CURLcode OnTlsContext(CURL*, void* context, void* self);
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
    : epoll_fd_(epoll_fd), resolve_(MakeList(resolve)) {}

Connector::~Connector() { curl_slist_free_all(static_cast<curl_slist*>(resolve_)); }

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
  if (resolve_ != nullptr) curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve_);
  SetTlsOptions(handle, request);
  if (request.connect != nullptr) SetConnectOptions(curl, *request.connect);
  // Zero would be libcurl's default.
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, request.connect_timeout.count())));
}

void Connector::SetTlsOptions(ConnectHandle& handle, const Request& request) {
  const bool has_proxy = HasProxyFor(request);
  if (request.endpoint.scheme != "https" && !has_proxy) return;
  CURL* const curl = handle.curl_;
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  const SystemAuthorities authorities = AuthoritiesOf(request);
  handle.authorities_ = FindStore(authorities.bundle_path, authorities.directory_path);
  curl_easy_setopt(curl, CURLOPT_SHARE, handle.authorities_->sessions());
  // Not with a proxy: libcurl reads a proxy connection over TLS itself, and polls the socket.
  handle.reads_ahead_ = !has_proxy;
  if (!UsesOurOpenSsl()) return LoadAuthorities(curl, authorities);
  curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, &ConnectHandle::Callbacks::OnTlsContext);
  curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, &handle);
  LoadNoAuthorities(curl);
}

// A replaced store lives on until its last connection ends.
std::shared_ptr<AuthorityStore> Connector::FindStore(const std::string& bundle_path,
                                                     const std::string& directory_path) {
  std::erase_if(stores_, [&](const auto& store) {
    return store->IsFor(bundle_path, directory_path) && !store->IsCurrent();
  });
  const auto found = std::ranges::find_if(
      stores_, [&](const auto& store) { return store->IsFor(bundle_path, directory_path); });
  if (found != stores_.end()) return *found;
  if (stores_.size() == kMaxStores) stores_.erase(stores_.begin());
  return stores_.emplace_back(std::make_shared<AuthorityStore>(bundle_path, directory_path));
}

// libcurl calls this for the server and for an https proxy, before the handshake.
CURLcode ConnectHandle::Callbacks::OnTlsContext(CURL*, void* context, void* self) {
  auto& handle = *static_cast<ConnectHandle*>(self);
  auto* const tls = static_cast<SSL_CTX*>(context);
  X509_STORE* const certificates = handle.authorities_->Certificates();
  if (certificates == nullptr) return CURLE_SSL_CACERT_BADFILE;
  SSL_CTX_set1_cert_store(tls, certificates);
  if (handle.reads_ahead_) LetTlsReadAhead(tls);
  return CURLE_OK;
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
