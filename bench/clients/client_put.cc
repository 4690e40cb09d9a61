// Uploads the same memory several times as one object and prints the cost as one JSON line.
//
//   bench_client_put penstock ENDPOINT BUCKET KEY SIZE ROUNDS
//   bench_client_put send     HOST PORT TARGET SIZE ROUNDS
//
// `send` is the lower bound: one connection, a hand-written PUT, send() from the same memory; no
// checksum, no parts. The memory is written once before the measurement, as a tensor is. CPU is
// user plus system time of this process.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "bench/clients/connect.h"
#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "penstock/client.h"
#include "penstock/transfer.h"

namespace {

using penstock::ByteView;
using penstock::bench::Connect;
using penstock::bench::CpuSeconds;
using penstock::bench::Fail;
using penstock::bench::MakeClient;

// Pseudo-random bytes.
ByteView Tensor(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("no memory for the tensor");
  madvise(memory, size, MADV_HUGEPAGE);
  std::mt19937_64 random(1);
  auto* const words = static_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < size / sizeof(std::uint64_t); ++i) words[i] = random();
  return {static_cast<const std::byte*>(memory), size};
}

void PutWithPenstock(const std::shared_ptr<penstock::Client>& client, char** arguments,
                     ByteView data) {
  const auto result = penstock::Upload(client, penstock::BucketName(arguments[3]),
                                       penstock::ObjectKey(arguments[4]), data, {});
  if (!result.ok()) Fail(result.error().ToString());
}

void SendAll(int socket, const char* data, std::size_t size) {
  constexpr std::size_t kStep = 256 << 10;
  while (size > 0) {
    const ssize_t count = send(socket, data, std::min(size, kStep), MSG_NOSIGNAL);
    if (count <= 0) Fail("send failed");
    data += count;
    size -= static_cast<std::size_t>(count);
  }
}

void PutWithSend(int socket, const std::string& head, ByteView data) {
  SendAll(socket, head.data(), head.size());
  SendAll(socket, reinterpret_cast<const char*>(data.data()), data.size());
  char response[4096];
  const ssize_t count = recv(socket, response, sizeof response, 0);
  const std::string_view text(response, count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!text.starts_with("HTTP/1.1 200"))
    Fail("the response is " + std::string(text.substr(0, 200)));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 7 ? argv[1] : "";
  if (mode != "penstock" && mode != "send") Fail("see the head of client_put.cc");
  const std::size_t size = std::strtoull(argv[5], nullptr, 10);
  const int rounds = std::atoi(argv[6]);
  const ByteView data = Tensor(size);

  std::shared_ptr<penstock::Client> client;
  int socket = -1;
  std::string head;
  if (mode == "penstock") {
    client = MakeClient(argv[2]);
  } else {
    socket = Connect(argv[2], std::atoi(argv[3]));
    head = "PUT " + std::string(argv[4]) + " HTTP/1.1\r\nHost: " + argv[2] + ":" + argv[3] +
           "\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  }
  const auto put = [&] {
    if (client) {
      PutWithPenstock(client, argv, data);
    } else {
      PutWithSend(socket, head, data);
    }
  };
  const auto requests = [&] {
    std::uint64_t sum = 0;
    if (client) {
      for (const auto& [operation, count] : client->stats().requests) sum += count;
    }
    return static_cast<double>(sum);
  };
  put();  // opens connections and grows congestion windows
  const double requests_before = requests();
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) put();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double sent = (requests() - requests_before) / rounds;
  std::printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"bytes\": %.0f, \"requests\": %.1f}\n", seconds,
              CpuSeconds() - cpu, static_cast<double>(size) * rounds, client ? sent : 1.0);
  return 0;
}
