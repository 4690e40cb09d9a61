// Shared by the emulator's tests: a temporary directory and a small HTTP client that signs.
//
// Test support only. The client signs with the server's own functions, so these tests do not show
// agreement with S3. The published vectors and the foreign clients do.
#ifndef PENSTOCK_EMULATOR_SERVER_SERVER_FIXTURE_H_
#define PENSTOCK_EMULATOR_SERVER_SERVER_FIXTURE_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::server {

// A new directory in the system's temporary directory. Removed by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct HttpResponse {
  int status = 0;    // 0: no response
  std::string text;  // head and body as received
};

// A connection to `endpoint` ("http://127.0.0.1:1234"). Reads time out after 10 s without a byte.
class Wire {
 public:
  explicit Wire(const std::string& endpoint)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::size_t colon = endpoint.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(endpoint.c_str() + colon + 1)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ =
        ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Wire() { ::close(descriptor_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void Send(std::string_view bytes) const {
    while (connected_ && !bytes.empty()) {
      const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void EndSending() const { ::shutdown(descriptor_, SHUT_WR); }
  // Returns up to `longest` bytes, fewer at the end. `reset`: whether the end was an RST; may be
  // null.
  std::string Receive(std::size_t longest, bool* reset = nullptr) const {
    std::string text;
    char buffer[4096];
    while (connected_ && text.size() < longest) {
      const ssize_t count =
          ::recv(descriptor_, buffer, std::min(sizeof buffer, longest - text.size()), 0);
      if (count < 0 && errno == ECONNRESET && reset != nullptr) *reset = true;
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
  }
  // Waits for bytes and returns what has arrived; empty at the end.
  std::string ReceiveSome() const {
    std::string text(64 << 10, '\0');
    const ssize_t count = connected_ ? ::recv(descriptor_, text.data(), text.size(), 0) : 0;
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }
  // Reads the response to the end of the connection.
  HttpResponse Finish() const {
    HttpResponse response{0, Receive(std::string::npos)};
    if (response.text.starts_with("HTTP/1.1 "))
      response.status = std::atoi(response.text.c_str() + 9);
    return response;
  }

 private:
  const int descriptor_;
  bool connected_ = false;
};

inline HttpResponse Exchange(const std::string& endpoint, const std::string& request) {
  const Wire wire(endpoint);
  wire.Send(request);
  return wire.Finish();
}

inline HttpResponse Plain(const std::string& endpoint, const std::string& method,
                          const std::string& target) {
  return Exchange(
      endpoint,
      method + " " + target +
          " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}

struct SignedRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query in canonical form
  std::string body;
  std::string access_key = "penstock";
  std::string secret = "penstock-secret";
  std::string more_headers;  // unsigned, each with CRLF
};

// Returns the bytes of the signed request.
inline std::string SignedText(const std::string& endpoint, const SignedRequest& request) {
  const WallTime now = SystemClock().Now();
  const std::string date = FormatAmzDate(now);
  const std::string scope = FormatAmzDay(now) + "/us-east-1/s3/aws4_request";
  const std::string hash = HexEncode(Sha256(AsBytes(request.body)));
  const std::string host = endpoint.substr(endpoint.find("://") + 3);
  s3::RequestHead head;
  head.method = request.method;
  head.headers = {{"host", host}, {"x-amz-content-sha256", hash}, {"x-amz-date", date}};
  const std::size_t question = request.target.find('?');
  const std::string canonical = auth::CanonicalRequest(
      {.head = head,
       .raw_path = std::string_view(request.target).substr(0, question),
       .raw_query = question == std::string::npos
                        ? std::string_view()
                        : std::string_view(request.target).substr(question + 1),
       .query_leave_out = "",
       .signed_headers = {"host", "x-amz-content-sha256", "x-amz-date"},
       .payload_hash = hash});
  const std::string day = FormatAmzDay(now);
  const Sha256Digest key = auth::DeriveSigningKey(
      {.secret = request.secret, .day = day, .region = "us-east-1", .service = "s3"});
  const std::string signature =
      auth::Signature(HmacSha256Key(key), auth::StringToSign(date, scope, canonical));
  return request.method + " " + request.target + " HTTP/1.1\r\nHost: " + host +
         "\r\nx-amz-content-sha256: " + hash + "\r\nx-amz-date: " + date +
         "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + request.access_key + "/" + scope +
         ", SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" + signature +
         "\r\nContent-Length: " + std::to_string(request.body.size()) +
         "\r\nConnection: close\r\n" + request.more_headers + "\r\n" + request.body;
}

inline HttpResponse Send(const std::string& endpoint, const SignedRequest& request) {
  return Exchange(endpoint, SignedText(endpoint, request));
}

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_SERVER_FIXTURE_H_
