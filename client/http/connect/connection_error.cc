#include "client/http/connect/connection_error.h"

#include <curl/curl.h>
#include <fcntl.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/io/descriptor.h"
#include "client/http/connect/system_authorities.h"
#include "client/http/uri.h"

namespace penstock::http {
namespace {

Error Unavailable(std::string message) {
  return Error::Make(ErrorKind::kUnavailable, std::move(message));
}

std::string PeerName(const Request& request, const std::optional<EnvironmentProxy>& proxy) {
  const std::string server = Authority(request.endpoint);
  return proxy ? server + " (through the proxy " + proxy->address + ")" : server;
}

// The host that a connection is made to.
std::string ProxyName(const Request& request, const EnvironmentProxy& proxy) {
  return "the proxy " + proxy.address + " (" + proxy.variable + ") on the way to " +
         Authority(request.endpoint);
}

std::string Detail(const Request& request, const ConnectFailure& failure) {
  if (failure.detail.empty()) return curl_easy_strerror(static_cast<CURLcode>(failure.curl_code));
  std::string detail(failure.detail);
  ProxySecrets().Redact(detail);
  if (request.connect != nullptr && request.connect->proxy_url)
    ProxySecrets(*request.connect->proxy_url).Redact(detail);
  return detail;
}

Error TooManyFiles(const std::string& peer) {
  return Error::Make(
      ErrorKind::kResourceExhausted,
      "no connection to " + peer + ": too many open files; raise the limit (ulimit -n)");
}

Error UnreachableError(const Request& request, const std::string& peer,
                       const ConnectFailure& failure) {
  switch (failure.os_error) {
    case ECONNREFUSED:
      return Unavailable("connection refused by " + peer + ": nothing listens there");
    case EMFILE:
    case ENFILE: return TooManyFiles(peer);
    case 0: return Unavailable("no connection to " + peer + ": " + Detail(request, failure));
    default:
      return Unavailable("no connection to " + peer + ": " +
                         std::generic_category().message(failure.os_error));
  }
}

Error SilentProxyError(const Request& request, const EnvironmentProxy& proxy,
                       const std::string& limit) {
  std::string message = ProxyName(request, proxy) + " accepted the connection but did not answer";
  // libcurl does not report whether a SOCKS proxy has connected to the server.
  if (!proxy.forwards && request.endpoint.scheme == "https")
    message += ", or the server did not answer the TLS handshake,";
  return Error::Make(ErrorKind::kTimeout, message + " within " + limit + ": check that " +
                                              proxy.variable +
                                              " has the scheme and port of the proxy");
}

// The connect timeout includes the proxy's response and, with https://, the TLS handshake.
Error ConnectTimeout(const Request& request, const std::optional<EnvironmentProxy>& proxy,
                     const ConnectFailure& failure) {
  const std::string limit = std::to_string(request.connect_timeout.count()) + " ms";
  if (!failure.connected) {
    const std::string first = proxy ? ProxyName(request, *proxy) : Authority(request.endpoint);
    return Error::Make(ErrorKind::kTimeout, "no connection to " + first + " within " + limit);
  }
  if (proxy && failure.tunnel_status == 0) return SilentProxyError(request, *proxy, limit);
  return Error::Make(ErrorKind::kTimeout,
                     PeerName(request, proxy) +
                         " accepted the connection but did not answer the TLS handshake within " +
                         limit + "; if the server speaks plain http, use an http:// URL");
}

// The proxy has responded to CONNECT, but not with a tunnel.
std::optional<Error> TunnelError(const Request& request, const EnvironmentProxy& proxy,
                                 const ConnectFailure& failure) {
  if (failure.tunnel_head_too_long) {
    return Error::Make(ErrorKind::kUnsupported,
                       ProxyName(request, proxy) + " answered CONNECT with a head of more than " +
                           std::to_string(kMaxTunnelHeadBytes) + " bytes: check that " +
                           proxy.variable + " names an HTTP proxy");
  }
  if (failure.tunnel_status == 407) return ProxyCredentialsError(request, proxy);
  if (failure.tunnel_status == 0 || failure.tunnel_status / 100 == 2) return std::nullopt;
  return Unavailable(ProxyName(request, proxy) + " answered CONNECT with status " +
                     std::to_string(failure.tunnel_status) +
                     ": allow the connection there, or exclude the host by no_proxy");
}

// `proxy_variable`: the peer is an https proxy, whose URL is there. Empty: the peer is the server.
Error HandshakeError(const Request& request, const std::string& peer,
                     const std::string& proxy_variable, const ConnectFailure& failure) {
  // OpenSSL's message if the first record is not TLS: a server without TLS sent text. A retry would
  // fail in the same way.
  if (failure.detail.find("wrong version number") != std::string_view::npos) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        peer + " answered the TLS handshake with plain text: " +
            (proxy_variable.empty() ? "if the server speaks plain http, use an http:// URL"
                                    : "if it speaks plain http, use http:// in " + proxy_variable));
  }
  return Unavailable("TLS handshake with " + peer + " failed: " + Detail(request, failure));
}

Error ClientCertificateError(const Request& request, const std::string& peer,
                             const ConnectFailure& failure) {
  const std::string path =
      request.connect != nullptr ? request.connect->client_certificate_path : std::string();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "cannot connect to " + peer + ": the client certificate '" + path +
                         "' or its key cannot be used: " + Detail(request, failure))
      .About("client_certificate_path");
}

Error AuthoritiesError(const Request& request, const std::string& peer) {
  const std::string& own = request.ca_bundle_path;
  const std::string path = own.empty() ? FindSystemAuthorities().bundle_path : own;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file && (errno == EMFILE || errno == ENFILE)) return TooManyFiles(peer);
  const std::string message =
      own.empty()
          ? "cannot read the system's CA certificates '" + FindSystemAuthorities().bundle_path +
                "', which verify https servers: install the package ca-certificates, or "
                "name a PEM file with certificates in AWS_CA_BUNDLE, SSL_CERT_FILE or the "
                "client's ca_bundle_path"
          : "cannot read the CA bundle '" + own +
                "' of the client's ca_bundle_path, of AWS_CA_BUNDLE or of the profile's "
                "ca_bundle; give a PEM file with certificates";
  return Error::Make(ErrorKind::kInvalidArgument, message).About("ca_bundle_path");
}

}  // namespace

Error ProxyUrlError(const Request& request, const EnvironmentProxy& proxy) {
  return Error::Make(ErrorKind::kInvalidArgument,
                     "cannot connect to " + Authority(request.endpoint) + ": the proxy URL in " +
                         proxy.variable + " " + proxy.fault);
}

Error ConnectError(const Request& request, const ConnectFailure& failure) {
  const std::string server = Authority(request.endpoint);
  const std::optional<EnvironmentProxy> proxy = ProxyFor(request);
  // `peer` is the server that had to respond; `first` is the host that the connection was made to.
  const std::string peer = PeerName(request, proxy);
  const std::string first = proxy ? ProxyName(request, *proxy) : server;
  // The handshake with an https proxy precedes CONNECT. A forwarded request needs no other one.
  const bool proxy_handshake = proxy && proxy->is_tls && failure.tunnel_status == 0;
  if (proxy) {
    // The environment may have changed since the connection was begun.
    if (!proxy->fault.empty() && !failure.connected) return ProxyUrlError(request, *proxy);
    if (auto refused = TunnelError(request, *proxy, failure)) return *std::move(refused);
  }
  switch (failure.curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return Unavailable("cannot resolve host '" + request.endpoint.host + "'");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Unavailable("cannot resolve the host of " +
                         (proxy ? first : "the proxy on the way to " + server));
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED: return UnreachableError(request, first, failure);
    case CURLE_OPERATION_TIMEDOUT: return ConnectTimeout(request, proxy, failure);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
      return Error::Make(ErrorKind::kUnauthenticated,
                         "TLS certificate of " + (proxy_handshake ? first : peer) +
                             " was not accepted: " + Detail(request, failure));
    case CURLE_SSL_CERTPROBLEM: return ClientCertificateError(request, peer, failure);
    case CURLE_SSL_CACERT_BADFILE: return AuthoritiesError(request, peer);
    case CURLE_SSL_CONNECT_ERROR:
      return HandshakeError(request, proxy_handshake ? first : peer,
                            proxy_handshake ? proxy->variable : std::string(), failure);
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return Unavailable("connection to " + peer +
                         " was lost before a request: " + Detail(request, failure));
    case CURLE_OUT_OF_MEMORY:
      return Error::Make(ErrorKind::kResourceExhausted,
                         "out of memory while connecting to " + peer);
    default: return Unavailable("cannot connect to " + peer + ": " + Detail(request, failure));
  }
}

Error ProxyCredentialsError(const Request& request, const EnvironmentProxy& proxy) {
  const std::string problem = proxy.authorization.empty()
                                  ? " requires credentials"
                                  : " refused the credentials in " + proxy.variable;
  return Error::Make(ErrorKind::kUnauthenticated,
                     ProxyName(request, proxy) + problem +
                         " (407): write user:password@ before the host in " + proxy.variable +
                         ", special characters of both as %XX; the client sends Basic credentials");
}

Error LostConnectionError(const Request& request, const LostConnection& lost) {
  const std::string peer = PeerName(request, ProxyFor(request));
  const std::string reason = lost.detail.empty() ? "" : ": " + std::string(lost.detail);
  if (!lost.head_received) {
    return Unavailable("connection to " + peer + " was lost before a response, after " +
                       std::to_string(lost.sent_bytes) + " bytes of the request body were sent" +
                       reason);
  }
  const std::string received = std::to_string(lost.received_bytes);
  const std::string lengths = lost.expected_bytes
                                  ? "expected " + std::to_string(*lost.expected_bytes) +
                                        " bytes of body, received " + received
                                  : "received " + received + " bytes of a body of unknown length";
  return Unavailable("response from " + peer + " was cut short: " + lengths + reason);
}

}  // namespace penstock::http
