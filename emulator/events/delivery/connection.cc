#include "emulator/events/delivery/connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/io/descriptor.h"

namespace penstock::emulator::events {
namespace {

constexpr std::chrono::seconds kConnectLimit{2};
constexpr char kCaFix[] = "name a PEM file with the certificate of its authority (event-sink-ca)";

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using ContextPtr = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using AddressesPtr = std::unique_ptr<addrinfo, Deleter<freeaddrinfo>>;

Error Failed(const std::string& problem) { return Error::Make(ErrorKind::kUnavailable, problem); }

Result<void> Await(int fd, short events, const Wait& wait) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(wait.until - SystemClock().Monotonic());
    std::array<pollfd, 2> waits{{{fd, events, 0}, {wait.cancel_event, POLLIN, 0}}};
    const int found = ::poll(waits.data(), waits.size(),
                             static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (waits[1].revents != 0)
      return Error::Make(ErrorKind::kCancelled, "was not waited for: the emulator stops");
    if (found > 0) return Ok();
    if (left <= std::chrono::milliseconds(0))
      return Error::Make(ErrorKind::kTimeout, "did not respond in time");
  }
}

std::string LastReason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason == nullptr ? std::string() : std::string(": ") + reason;
}

Result<Descriptor> ConnectTo(const addrinfo& address, const Wait& wait) {
  Descriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket) return Failed(std::string("has no socket: ") + std::strerror(errno));
  const int one = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  int problem = ::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    const Wait attempt{std::min(wait.until, SystemClock().Monotonic() + kConnectLimit),
                       wait.cancel_event};
    const Result<void> waited = Await(socket.get(), POLLOUT, attempt);
    if (!waited.ok() && waited.error().kind == ErrorKind::kTimeout)
      return Failed("did not accept a connection in time");
    PENSTOCK_TRY(waited);
    socklen_t length = sizeof(problem);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &length);
  }
  if (problem == 0) return socket;
  return Failed(std::string("did not accept a connection: ") + std::strerror(problem));
}

Result<Descriptor> Connect(const SinkAddress& address, const Wait& wait) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  const AddressesPtr addresses(found);
  if (problem != 0) return Failed(std::string("has no address: ") + ::gai_strerror(problem));
  Result<Descriptor> socket = Failed("has no address");
  for (const addrinfo* each = found; each != nullptr && !socket.ok(); each = each->ai_next) {
    socket = ConnectTo(*each, wait);
    if (!socket.ok() && socket.error().kind == ErrorKind::kCancelled) break;
  }
  return socket;
}

Result<ContextPtr> NewContext(const std::string& ca_path) {
  ContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr)
    return Error::Make(ErrorKind::kResourceExhausted, "OpenSSL cannot create a TLS context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  if (ca_path.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
    return context;
  }
  // OpenSSL would wait for the writer of a FIFO.
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(ca_path, error);
  if (is_file && SSL_CTX_load_verify_file(context.get(), ca_path.c_str()) == 1) return context;
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the CA file '" + ca_path + "' cannot be used" +
                         (is_file ? LastReason() : ": it is not a regular file") +
                         "; name a readable PEM file of CA certificates");
}

// Why the handshake failed.
Error Refused(const SSL& ssl, const std::string& host) {
  const long verdict = SSL_get_verify_result(&ssl);
  if (verdict == X509_V_OK) return Failed("did not complete a TLS handshake" + LastReason());
  std::string fix = kCaFix;
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
    fix = "give a host of the certificate instead of '" + host + "'";
  if (verdict == X509_V_ERR_CERT_HAS_EXPIRED || verdict == X509_V_ERR_CERT_NOT_YET_VALID)
    fix = "renew it, or correct the machine's clock";
  return Failed(std::string("has a certificate that is not accepted: ") +
                X509_verify_cert_error_string(verdict) + "; " + fix);
}

class BioConnection final : public Connection {
 public:
  // `bio` does not own the socket.
  BioConnection(Descriptor socket, BioPtr bio) : socket_(std::move(socket)), bio_(std::move(bio)) {}

  Result<void> StartTls(const SinkAddress& address, const std::string& ca_path, const Wait& wait) {
    const Result<ContextPtr> made = NewContext(ca_path);
    if (!made.ok()) return Failed("was not contacted: " + made.error().message);
    SSL* ssl = nullptr;
    BIO* const filter = BIO_new_ssl(made->get(), /*client=*/1);
    if (filter == nullptr || BIO_get_ssl(filter, &ssl) != 1) {
      BIO_free(filter);
      return Error::Make(ErrorKind::kResourceExhausted, "OpenSSL cannot create a TLS connection");
    }
    bio_.reset(BIO_push(filter, bio_.release()));
    const bool is_address =
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address.host.c_str()) == 1;
    if (!is_address && (SSL_set1_host(ssl, address.host.c_str()) != 1 ||
                        SSL_set_tlsext_host_name(ssl, address.host.c_str()) != 1))
      return Failed("has a host name that OpenSSL does not accept");
    PENSTOCK_ASSIGN(const int done, Repeat(wait, [&] { return BIO_do_handshake(bio_.get()); }));
    return done > 0 ? Ok() : Result<void>(Refused(*ssl, address.host));
  }

  Result<void> Write(std::string_view bytes, const Wait& wait) override {
    while (!bytes.empty()) {
      const int count = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 30));
      PENSTOCK_ASSIGN(const int done,
                      Repeat(wait, [&] { return BIO_write(bio_.get(), bytes.data(), count); }));
      if (done <= 0) return Failed("closed the connection before it had the request");
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return Ok();
  }

  Result<std::size_t> Read(std::span<char> into, const Wait& wait) override {
    const int count = static_cast<int>(std::min<std::size_t>(into.size(), 1 << 30));
    PENSTOCK_ASSIGN(const int done,
                    Repeat(wait, [&] { return BIO_read(bio_.get(), into.data(), count); }));
    return static_cast<std::size_t>(std::max(done, 0));
  }

  bool idle() const override {
    pollfd state{socket_.get(), POLLIN, 0};
    return BIO_pending(bio_.get()) == 0 && ::poll(&state, 1, 0) == 0;
  }

 private:
  // Calls the operation until it does not have to wait. Returns its result; zero or less: the
  // connection has ended, or OpenSSL has an error.
  template <typename Operation>
  Result<int> Repeat(const Wait& wait, Operation operation) {
    for (;;) {
      ERR_clear_error();
      const int done = operation();
      if (done > 0 || BIO_should_retry(bio_.get()) == 0) return done;
      PENSTOCK_TRY(
          Await(socket_.get(), BIO_should_write(bio_.get()) != 0 ? POLLOUT : POLLIN, wait));
    }
  }

  Descriptor socket_;
  BioPtr bio_;  // Destroyed first: says goodbye to a TLS server.
};

}  // namespace

Result<void> CheckAuthorities(const std::string& ca_path) {
  const Result<ContextPtr> made = NewContext(ca_path);
  if (made.ok()) return Ok();
  return Error::Make(made.error().kind, "event sinks: " + made.error().message);
}

Result<std::unique_ptr<Connection>> Connection::Open(const SinkAddress& address,
                                                     const std::string& ca_path, const Wait& wait) {
  PENSTOCK_ASSIGN(Descriptor socket, Connect(address, wait));
  BioPtr bio(BIO_new_socket(socket.get(), BIO_NOCLOSE));
  if (bio == nullptr)
    return Error::Make(ErrorKind::kResourceExhausted, "OpenSSL cannot create a connection");
  auto connection = std::make_unique<BioConnection>(std::move(socket), std::move(bio));
  if (address.tls) PENSTOCK_TRY(connection->StartTls(address, ca_path, wait));
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace penstock::emulator::events
