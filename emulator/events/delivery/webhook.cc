#include "emulator/events/delivery/webhook.h"

#include <httplib.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/base/clock.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::events {
namespace {

// A stop waits for a connection attempt, so that it is short.
constexpr std::chrono::seconds kConnectTimeout{2};
constexpr std::chrono::milliseconds kBetweenStops{20};
// The bodies of responses are discarded. The connection is closed on a longer one.
constexpr std::size_t kMostResponseBytes = 64 << 10;

// Returns the numeric addresses of a host name. Blocks as long as the system's resolver does.
Result<std::vector<std::string>> Resolve(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  if (problem != 0) {
    return Error::Make(ErrorKind::kUnavailable,
                       "host '" + host + "' has no address: " + ::gai_strerror(problem));
  }
  std::vector<std::string> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  return addresses;
}

// Ends a client's request that takes longer than a limit. The timeouts of cpp-httplib are for one
// read or write: a server that sends slowly, or interim responses without end, would block the
// sink.
class Deadline {
 public:
  Deadline(httplib::Client& client, std::chrono::milliseconds limit)
      : thread_([this, &client, limit] { Watch(client, SystemClock().Monotonic() + limit); }) {}
  ~Deadline() {
    {
      const MutexLock lock(mutex_);
      done_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const { return passed_; }

 private:
  void Watch(httplib::Client& client, MonotonicTime until) {
    while (!AwaitDone(until)) {
      passed_ = true;
      client.stop();  // Repeated, because it does nothing before the request has a socket.
      until = SystemClock().Monotonic() + kBetweenStops;
    }
  }

  bool AwaitDone(MonotonicTime until) {
    const MutexLock lock(mutex_);
    while (!done_ && changed_.WaitUntil(mutex_, until)) continue;
    return done_;
  }

  std::atomic<bool> passed_{false};
  Mutex mutex_;
  CondVar changed_;
  bool done_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class Webhook final : public Sink {
 public:
  Webhook(const SinkAddress& address, std::chrono::milliseconds limit)
      : name_(address.Describe()), address_(address), limit_(limit) {}

  std::size_t most() const override { return 1; }

  Result<void> Send(std::string_view name_space,
                    std::span<const store::StoredEvent> events) override {
    for (const store::StoredEvent& stored : events) {
      const Result<void> posted = Post(RequestOf(name_space, stored));
      if (posted.ok()) continue;
      SetClient(nullptr);
      return Error::Make(ErrorKind::kUnavailable, name_ + " " + posted.error().message +
                                                      "; event " + std::to_string(stored.number) +
                                                      " for '" + stored.event.destination +
                                                      "' will be sent again");
    }
    return Ok();
  }

  void Cancel() override {
    cancelled_ = true;
    // Waits for a connection attempt, at most kConnectTimeout.
    if (const auto client = CurrentClient()) client->stop();
  }

 private:
  using Client = std::shared_ptr<httplib::Client>;

  httplib::Request RequestOf(std::string_view name_space, const store::StoredEvent& stored) const {
    httplib::Request request;
    request.method = "POST";
    request.path = address_.path;
    request.body = stored.event.message;
    request.set_header("Host", name_.substr(name_.find("//") + 2));
    request.set_header("User-Agent", "Penstock");
    request.set_header("Content-Type", "application/json");
    request.set_header("x-penstock-destination", stored.event.destination);
    request.set_header("x-penstock-event", std::to_string(stored.number));
    request.set_header("x-penstock-namespace", std::string(name_space));
    return request;
  }

  // Uses the connection of the previous request, or else the first address that responds.
  Result<void> Post(httplib::Request request) {
    if (const auto client = CurrentClient()) return PostTo(*client, request);
    PENSTOCK_ASSIGN(const std::vector<std::string> addresses, Resolve(address_.host));
    Result<void> posted = Error::Make(ErrorKind::kUnavailable, "has no address");
    for (const std::string& address : addresses) {
      // With a name, cpp-httplib would resolve it under the lock of stop().
      auto client = std::make_shared<httplib::Client>(address, address_.port);
      client->set_connection_timeout(kConnectTimeout);
      client->set_read_timeout(2 * limit_);  // The deadline is earlier.
      client->set_write_timeout(2 * limit_);
      client->set_keep_alive(true);
      client->set_tcp_nodelay(true);
      SetClient(client);
      posted = PostTo(*client, request);
      if (posted.ok()) break;
    }
    return posted;
  }

  Result<void> PostTo(httplib::Client& client, httplib::Request& request) {
    if (cancelled_) return Error::Make(ErrorKind::kCancelled, "was not contacted: stopping");
    int status = 0;
    std::size_t received = 0;
    request.response_handler = [&status](const httplib::Response& response) {
      status = response.status;
      return true;
    };
    // The last two parameters have different types in different releases of cpp-httplib.
    request.content_receiver = [&received](const char*, std::size_t length, auto, auto) {
      received += length;
      return received <= kMostResponseBytes;
    };
    const Deadline deadline(client, limit_);
    const httplib::Result result = client.send(request);
    // Without a body the handler is not called.
    if (status == 0 && result) status = result->status;
    if (status / 100 == 2) return Ok();
    std::string problem = "did not respond: " + httplib::to_string(result.error());
    if (deadline.passed())
      problem = "did not respond within " + std::to_string(limit_.count()) + " ms";
    if (status != 0) problem = "responded with status " + std::to_string(status);
    return Error::Make(ErrorKind::kUnavailable, problem);
  }

  Client CurrentClient() {
    const MutexLock lock(mutex_);
    return client_;
  }
  void SetClient(Client client) {
    const MutexLock lock(mutex_);
    client_.swap(client);
  }

  const std::string name_;
  const SinkAddress address_;
  const std::chrono::milliseconds limit_;
  std::atomic<bool> cancelled_{false};
  Mutex mutex_;
  Client client_ PENSTOCK_GUARDED_BY(mutex_);  // shared with Cancel; null: not connected
};

}  // namespace

std::unique_ptr<Sink> MakeWebhook(const SinkAddress& address, std::chrono::milliseconds limit) {
  return std::make_unique<Webhook>(address, limit);
}

}  // namespace penstock::emulator::events
