// Downloads one object several times into the same buffer and prints the cost as one JSON line.
//
//   bench_client_get penstock ENDPOINT BUCKET KEY SIZE ROUNDS PART_MIB PARALLEL   (0 0: the
//   client's own plan) bench_client_get recv     HOST PORT TARGET SIZE ROUNDS
//
// `recv` is the lower bound: one connection, a hand-written request, recv() into the final buffer.
// The buffer is written once before the measurement, as the buffers of a pool are. CPU is user plus
// system time of this process.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "bench/clients/connect.h"
#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "penstock/client.h"
#include "penstock/transfer.h"

namespace {

using penstock::MutableByteView;
using penstock::bench::Connect;
using penstock::bench::CpuSeconds;
using penstock::bench::Fail;

MutableByteView Pool(std::size_t size) {
  constexpr std::size_t kHuge = 2u << 20;
  const std::size_t rounded = (size + kHuge - 1) / kHuge * kHuge;
  void* memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("no memory for the buffer");
  madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 1, rounded);
  return {static_cast<std::byte*>(memory), size};
}

void GetWithPenstock(penstock::Client& client, char** arguments, MutableByteView buffer) {
  penstock::DownloadRequest request;
  request.bucket = penstock::BucketName(arguments[3]);
  request.key = penstock::ObjectKey(arguments[4]);
  const std::uint64_t part_mib = std::strtoull(arguments[7], nullptr, 10);
  if (part_mib > 0) request.options.part_size_bytes = part_mib << 20;
  if (const int parallel = std::atoi(arguments[8]); parallel > 0)
    request.options.max_parallel_parts = parallel;
  request.destination = [buffer](std::uint64_t size) -> penstock::Result<MutableByteView> {
    if (size != buffer.size()) Fail("the object has " + std::to_string(size) + " bytes");
    return buffer;
  };
  const auto result = penstock::Download(client, std::move(request));
  if (!result.ok()) Fail(result.error().ToString());
}

void GetWithRecv(int socket, const std::string& request, MutableByteView buffer) {
  if (send(socket, request.data(), request.size(), 0) != static_cast<ssize_t>(request.size()))
    Fail("send failed");
  // Receives the head at the front of the buffer, moves the bytes after it to the front, and
  // receives the rest in place.
  std::size_t have = 0;
  std::string_view head;
  for (;;) {
    const ssize_t count = recv(socket, buffer.data() + have, 4096, 0);
    if (count <= 0) Fail("the connection ended inside the head");
    have += static_cast<std::size_t>(count);
    const std::string_view text(reinterpret_cast<const char*>(buffer.data()), have);
    const std::size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos) continue;
    if (!text.starts_with("HTTP/1.1 200"))
      Fail("the response is " + std::string(text.substr(0, 200)));
    head = text.substr(0, end + 4);
    break;
  }
  have -= head.size();
  std::memmove(buffer.data(), buffer.data() + head.size(), have);
  while (have < buffer.size()) {
    const ssize_t count = recv(socket, buffer.data() + have, buffer.size() - have, 0);
    if (count <= 0) Fail("the connection ended inside the body");
    have += static_cast<std::size_t>(count);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 6 ? argv[1] : "";
  if (!(mode == "penstock" && argc == 9) && !(mode == "recv" && argc == 7))
    Fail("see the head of client_get.cc");
  const std::size_t size = std::strtoull(argv[5], nullptr, 10);
  const int rounds = std::atoi(argv[6]);
  const MutableByteView buffer = Pool(size);

  std::unique_ptr<penstock::Client> client;
  int socket = -1;
  std::string request;
  if (mode == "penstock") {
    client = penstock::bench::MakeClient(argv[2]);
  } else {
    socket = Connect(argv[2], std::atoi(argv[3]));
    request = "GET " + std::string(argv[4]) + " HTTP/1.1\r\nHost: " + argv[2] + ":" + argv[3] +
              "\r\n\r\n";
  }
  const auto get = [&] {
    if (client) {
      GetWithPenstock(*client, argv, buffer);
    } else {
      GetWithRecv(socket, request, buffer);
    }
  };
  get();  // opens connections and grows congestion windows
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) get();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"bytes\": %.0f, \"peak_mib\": %.1f}\n", seconds,
              CpuSeconds() - cpu, static_cast<double>(size) * rounds,
              static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
