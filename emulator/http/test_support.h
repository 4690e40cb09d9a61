// Test support for this folder: a client that sends raw bytes, handlers made from functions, and
// blobs.
#ifndef PENSTOCK_EMULATOR_HTTP_TEST_SUPPORT_H_
#define PENSTOCK_EMULATOR_HTTP_TEST_SUPPORT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/http/parsing/head_parser.h"
#include "emulator/http/server.h"
#include "emulator/http/socket/stream.h"
#include "emulator/message/exchange.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {

inline constexpr std::chrono::milliseconds kTestTimeout{20'000};  // far longer than any test needs

struct TestResponse {
  int status = 0;  // 0: the connection ended before a response
  std::string status_line;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::optional<std::string> Find(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (EqualsIgnoreCase(key, name)) return value;
    }
    return std::nullopt;
  }
};

// A TCP connection with blocking calls under a deadline.
class TestClient {
 public:
  explicit TestClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  TestClient(TestClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        arrived_(std::move(other.arrived_)) {}
  TestClient(const TestClient&) = delete;
  ~TestClient() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_; }

  // Returns false when the peer has closed the connection.
  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void EndSending() { ::shutdown(fd_, SHUT_WR); }

  // Reads one response; interim responses count. `to_head`: the request was HEAD.
  TestResponse Read(bool to_head = false) {
    TestResponse response;
    std::size_t end = 0;
    while ((end = arrived_.find("\r\n\r\n")) == std::string::npos) {
      if (!More()) return response;
    }
    ParseHead(response, Take(end + 4));
    if (to_head || response.status < 200 || response.status == 204 || response.status == 304)
      return response;
    if (response.Find("Transfer-Encoding") == "chunked") {
      ReadChunks(response);
    } else if (const auto length = response.Find("Content-Length")) {
      const std::size_t size = std::stoull(*length);
      while (arrived_.size() < size && More()) {
      }
      response.body = Take(std::min(size, arrived_.size()));
    }
    return response;
  }

  TestResponse SendRequest(std::string_view request, bool to_head = false) {
    Send(request);
    return Read(to_head);
  }

  // Returns everything until the peer closes. `error` becomes 0 for an orderly close, else errno
  // (ETIMEDOUT: no close within the deadline).
  std::string ReadToEnd(int* error = nullptr) {
    while (More()) {
    }
    if (error != nullptr) *error = error_;
    return std::move(arrived_);
  }
  bool EndsOrderly() {
    int error = -1;
    const std::string rest = ReadToEnd(&error);
    return error == 0 && rest.empty();
  }
  // Whether nothing has arrived and the peer has not closed the connection so far.
  bool Silent() const {
    pollfd entry{fd_, POLLIN, 0};
    return arrived_.empty() && ::poll(&entry, 1, 0) == 0;
  }

 private:
  bool More() {
    pollfd entry{fd_, POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(kTestTimeout.count())) != 1) {
      error_ = ETIMEDOUT;
      return false;
    }
    std::vector<char> buffer(256 << 10);
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (got > 0) arrived_.append(buffer.data(), static_cast<std::size_t>(got));
    error_ = got < 0 ? errno : 0;
    return got > 0;
  }

  std::string Take(std::size_t bytes) {
    std::string taken = arrived_.substr(0, bytes);
    arrived_.erase(0, bytes);
    return taken;
  }

  static void ParseHead(TestResponse& response, std::string head) {
    std::size_t at = head.find("\r\n");
    response.status_line = head.substr(0, at);
    response.status = std::stoi(response.status_line.substr(9, 3));
    while ((at += 2) < head.size() - 2) {
      const std::size_t end = head.find("\r\n", at);
      const std::string line = head.substr(at, end - at);
      const std::size_t colon = line.find(": ");
      response.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
      at = end;
    }
  }

  void ReadChunks(TestResponse& response) {
    for (;;) {
      std::size_t end = 0;
      while ((end = arrived_.find("\r\n")) == std::string::npos) {
        if (!More()) return;
      }
      const std::size_t size = std::stoull(Take(end + 2), nullptr, 16);
      while (arrived_.size() < size + 2 && More()) {
      }
      response.body += Take(size);
      Take(2);
      if (size == 0) return;
    }
  }

  int fd_;
  bool connected_ = false;
  int error_ = 0;
  std::string arrived_;
};

// A connected pair: a server-side stream and the client's descriptor. Uses TCP, so that RST and
// sendfile behave as in production.
struct Pipe {
  Pipe() {
    const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listening, 1), 0);
    EXPECT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
    peer = std::make_unique<TestClient>(ntohs(address.sin_port));
    stream = std::make_unique<PlainStream>(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK));
    ::close(listening);
  }
  std::unique_ptr<TestClient> peer;
  std::unique_ptr<PlainStream> stream;
};

// Accepts all bytes at once and counts them.
class CountingStream final : public Stream {
 public:
  CountingStream() : Stream(-1) {}
  IoResult TryRead(MutableByteView) override { return {IoStatus::kEnd, 0}; }
  IoResult Write(std::span<const ByteView> pieces, More, std::chrono::milliseconds) override {
    std::size_t bytes = 0;
    for (const ByteView piece : pieces) bytes += piece.size();
    taken += bytes;
    return {IoStatus::kOk, bytes};
  }
  IoResult SendFile(int, std::uint64_t, std::uint64_t count) override {
    taken += count;
    return {IoStatus::kOk, count};
  }
  std::uint64_t taken = 0;
};

class FunctionHandler final : public message::Handler {
 public:
  using Function = std::function<void(message::Exchange&)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void Handle(message::Exchange& exchange) override { function_(exchange); }

 private:
  Function function_;
};

inline void RespondWith(message::Exchange& exchange, std::string text) {
  exchange.response.body = std::move(text);
}

// Returns the whole body, or "error CODE" if reading it failed.
inline std::string ReadBody(message::BodyReader& body, std::size_t step = 64 << 10) {
  std::string text;
  std::vector<std::byte> buffer(step);
  for (;;) {
    const Result<std::size_t> got = body.Read(buffer);
    if (!got.ok()) return "error " + got.error().code;
    if (*got == 0) return text;
    text.append(AsText(ByteView(buffer).first(*got)));
  }
}

// A server on any free port. Fails the test and returns null when it cannot start.
inline std::unique_ptr<Server> StartServer(message::Handler& handler, ServerOptions options = {}) {
  Result<std::unique_ptr<Server>> server = Server::Start(std::move(options), handler);
  if (!server.ok()) ADD_FAILURE() << server.error().ToString();
  return server.ok() ? std::move(*server) : nullptr;
}

class MemoryBlob final : public Blob {
 public:
  explicit MemoryBlob(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::optional<ByteView> Memory() const override { return AsBytes(text_); }
  int FileDescriptor() const override { return -1; }

 private:
  std::string text_;
};

class FileBlob final : public Blob {
 public:
  explicit FileBlob(std::string_view text)
      : fd_(::memfd_create("blob", MFD_CLOEXEC)), size_(text.size()) {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~FileBlob() override { ::close(fd_); }
  std::uint64_t size() const override { return size_; }
  std::optional<ByteView> Memory() const override { return std::nullopt; }
  int FileDescriptor() const override { return fd_; }

 private:
  int fd_;
  std::uint64_t size_;
};

// A file of blocks. Blocks that end after `damaged_from` fail their check.
class DamagedBlob final : public Blob {
 public:
  DamagedBlob(std::string_view text, std::uint64_t block, std::uint64_t damaged_from)
      : file_(text), block_(block), damaged_from_(damaged_from) {}
  std::uint64_t size() const override { return file_.size(); }
  std::optional<ByteView> Memory() const override { return std::nullopt; }
  int FileDescriptor() const override { return file_.FileDescriptor(); }
  Result<std::uint64_t> Checked(ByteRange range) const override {
    const std::uint64_t end = (range.begin / block_ + 1) * block_;
    if (end > damaged_from_) return Error::Make(ErrorKind::kDataLoss, "damaged");
    return std::min(end, range.end) - range.begin;
  }

 private:
  const FileBlob file_;
  const std::uint64_t block_;
  const std::uint64_t damaged_from_;
};

inline Content ContentOf(BlobPtr blob) {
  const std::uint64_t size = blob->size();
  return Content{{{std::move(blob), {0, size}}}};
}

// Text that differs at every position from its neighbours and from other seeds.
inline std::string PatternText(std::size_t bytes, std::uint64_t seed = 1) {
  std::string text(bytes, '\0');
  std::uint64_t x = seed;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    text[i] = static_cast<char>(x >> (i % 8 * 8));
  }
  return text;
}

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_TEST_SUPPORT_H_
