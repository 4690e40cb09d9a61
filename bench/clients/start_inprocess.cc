// Starts an in-memory emulator in this process, sends one request and stops it; prints the medians
// as one JSON line.
//
//   bench_start_inprocess TIMES
//
// `milliseconds`: from the call of Emulator::Start to the first byte of a response.
// `stop_milliseconds`: the destruction. The first start loads pages and fills caches of the
// process; it is reported as `first_milliseconds` only.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clients/cost.h"
#include "penstock/emulator.h"

namespace {

using penstock::bench::Fail;
using penstock::emulator::Emulator;

double Milliseconds(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

void AskOnce(int port) {
  static constexpr std::string_view kRequest =
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  char byte = 0;
  const bool responded =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(fd, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0 &&
      ::recv(fd, &byte, 1, 0) == 1;
  ::close(fd);
  if (!responded) Fail("the emulator did not respond");
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int times = argc == 2 ? std::atoi(argv[1]) : 0;
  if (times < 2) Fail("usage: bench_start_inprocess TIMES (2 or more)");
  std::vector<double> starts;
  std::vector<double> stops;
  double first = 0;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto emulator = Emulator::Start({});
    if (!emulator.ok()) Fail(emulator.error().ToString());
    AskOnce((*emulator)->options().port);
    const double taken = Milliseconds(begin);
    const auto end = std::chrono::steady_clock::now();
    emulator->reset();
    if (i == 0) {
      first = taken;
      continue;
    }
    starts.push_back(taken);
    stops.push_back(Milliseconds(end));
  }
  std::printf(
      "{\"milliseconds\": %.4f, \"first_milliseconds\": %.4f, \"stop_milliseconds\": %.4f}\n",
      Median(starts), first, Median(stops));
}
