// Downloads one small object many times, IN_FLIGHT downloads at a time, and prints the cost of each
// as one JSON line.
//
//   bench_client_get_small penstock ENDPOINT BUCKET KEY REQUESTS IN_FLIGHT
//   bench_client_get_small bare     HOST PORT TARGET REQUESTS IN_FLIGHT
//
// `bare` is the lower bound: one epoll loop over IN_FLIGHT connections, one send and one recv per
// request, and no parsing but for the size of a response. CPU is user plus system time of this
// process.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clients/connect.h"
#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "penstock/client.h"

namespace {

using penstock::bench::Connect;
using penstock::bench::CpuSeconds;
using penstock::bench::Fail;
using penstock::bench::MakeClient;

// Runs downloads one after the other.
class Lane final : public penstock::BodySink {
 public:
  Lane(penstock::Client& client, std::string bucket, std::string key, std::atomic<int>& left,
       std::counting_semaphore<>& ended)
      : client_(client),
        bucket_(std::move(bucket)),
        key_(std::move(key)),
        left_(left),
        ended_(ended) {}

  void Next() {
    if (left_.fetch_sub(1) <= 0) return ended_.release();
    penstock::GetObjectRequest request;
    request.bucket = bucket_;
    request.key = key_;
    request.sink = this;
    client_.Start(std::move(request), [this](penstock::Result<penstock::ObjectMetadata> result) {
      if (!result.ok()) Fail(result.error().ToString());
      Next();
    });
  }

  penstock::Result<void> Begin(const penstock::ObjectMetadata&,
                               std::optional<std::uint64_t>) override {
    filled_ = 0;
    return penstock::Ok();
  }
  penstock::MutableByteView Window() override {
    return penstock::MutableByteView(memory_).subspan(filled_);
  }
  penstock::Result<void> Commit(std::size_t count) override {
    filled_ += count;
    return penstock::Ok();
  }

 private:
  penstock::Client& client_;
  const penstock::BucketName bucket_;
  const penstock::ObjectKey key_;
  std::atomic<int>& left_;
  std::counting_semaphore<>& ended_;
  std::size_t filled_ = 0;
  std::array<std::byte, 64 << 10> memory_;
};

void GetWithPenstock(penstock::Client& client, char** arguments, int requests, int in_flight) {
  std::atomic<int> left{requests};
  std::counting_semaphore<> ended{0};
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < in_flight; ++i)
    lanes.push_back(std::make_unique<Lane>(client, arguments[3], arguments[4], left, ended));
  for (const auto& lane : lanes) lane->Next();
  for (int i = 0; i < in_flight; ++i) ended.acquire();
}

// The size in bytes of the response at the front of `text`, with its body; 0: the head is
// incomplete.
std::size_t ResponseBytes(std::string_view text) {
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  if (!text.starts_with("HTTP/1.1 200"))
    Fail("the response is " + std::string(text.substr(0, 200)));
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const std::size_t length = text.find(kLength);
  std::size_t body = 0;
  std::from_chars(text.data() + length + kLength.size(), text.data() + text.size(), body);
  return head + 4 + body;
}

void GetWithEpoll(const std::vector<int>& sockets, const std::string& request, int requests) {
  const int set = epoll_create1(0);
  std::array<char, 64 << 10> buffer;
  int sent = 0;
  int done = 0;
  const auto ask = [&](int fd) {
    if (sent++ >= requests) return;
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
      Fail("send failed");
  };
  for (const int fd : sockets) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
    ask(fd);
  }
  while (done < requests) {
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(set, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const ssize_t got = recv(events[i].data.fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) Fail("the connection ended");
      // One recv() returns a whole small response.
      if (ResponseBytes({buffer.data(), static_cast<std::size_t>(got)}) !=
          static_cast<std::size_t>(got))
        Fail("not a whole response");
      ++done;
      ask(events[i].data.fd);
    }
  }
  close(set);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 7 ? argv[1] : "";
  if (mode != "penstock" && mode != "bare") Fail("see the head of client_get_small.cc");
  const int requests = std::atoi(argv[5]);
  const int in_flight = std::atoi(argv[6]);
  std::unique_ptr<penstock::Client> client;
  std::vector<int> sockets;
  std::string request;
  if (mode == "penstock") {
    client = MakeClient(argv[2]);
  } else {
    for (int i = 0; i < in_flight; ++i) sockets.push_back(Connect(argv[2], std::atoi(argv[3])));
    request = "GET " + std::string(argv[4]) + " HTTP/1.1\r\nHost: " + argv[2] + ":" + argv[3] +
              "\r\n\r\n";
  }
  const auto get = [&](int count) {
    if (client) {
      GetWithPenstock(*client, argv, count, in_flight);
    } else {
      GetWithEpoll(sockets, request, count);
    }
  };
  get(10 * in_flight);  // opens connections
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  get(requests);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"seconds\": %.6f, \"requests\": %.1f, \"cpu_us\": %.3f}\n", seconds,
              requests / seconds, (CpuSeconds() - cpu) / requests * 1e6);
  return 0;
}
