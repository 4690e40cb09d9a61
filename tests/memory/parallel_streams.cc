// Runs many streams at once and prints the memory used as one JSON line.
//
//   parallel_streams read ENDPOINT BUCKET KEY THREADS SIZE LIMIT
//     Each thread reads the object.
//   parallel_streams turns ENDPOINT BUCKET KEY READERS SIZE LIMIT
//     One thread reads READERS streams in turn, one block each.
//   parallel_streams write ENDPOINT BUCKET PREFIX THREADS SIZE LIMIT
//     Each thread writes SIZE bytes to the key PREFIX plus its number.
//
// LIMIT is the argument of SetMemoryLimit. Memory is in KiB, from /proc/self/status. A reader frees
// a block before it requests the next, and all writers write the same megabyte, so all growth is
// caused by Penstock. `left_kib`: the growth after all streams have ended.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "penstock/client.h"
#include "penstock/memory.h"
#include "penstock/transfer.h"

namespace {

using penstock::BucketName;
using penstock::ObjectKey;

struct Task {
  std::shared_ptr<penstock::ObjectStore> store;
  BucketName bucket;
  std::string key;
  std::uint64_t size = 0;
};

[[noreturn]] void Fail(const std::string& message) {
  std::cerr << "parallel_streams: " << message << '\n';
  std::_Exit(1);
}

void Read(const Task& task) {
  const auto stream = penstock::ObjectStream::Open(
      task.store, {.bucket = task.bucket, .key = ObjectKey(task.key)}, {});
  std::uint64_t total = 0;
  for (;;) {
    const auto block = stream->Next();
    if (!block.ok()) Fail(block.error().ToString());
    if (!*block) break;
    if ((*block)->offset != total) Fail("a block came out of order");
    total += (*block)->size;
  }
  if (total != task.size) Fail("a reader got " + std::to_string(total) + " bytes");
}

void ReadInTurn(const Task& task, std::size_t count) {
  std::vector<std::unique_ptr<penstock::ObjectStream>> streams;
  for (std::size_t i = 0; i < count; ++i) {
    streams.push_back(penstock::ObjectStream::Open(
        task.store, {.bucket = task.bucket, .key = ObjectKey(task.key)}, {}));
  }
  std::uint64_t total = 0;
  for (std::size_t ended = 0; ended < streams.size();) {
    ended = 0;
    for (const auto& stream : streams) {
      const auto block = stream->Next();
      if (!block.ok()) Fail(block.error().ToString());
      *block ? total += (*block)->size : ++ended;
    }
  }
  if (total != task.size * count) Fail("the readers got " + std::to_string(total) + " bytes");
}

void Write(const Task& task, penstock::ByteView piece, std::size_t number) {
  const auto writer = penstock::ObjectWriter::Create(
      task.store, task.bucket, ObjectKey(task.key + std::to_string(number)), {});
  for (std::uint64_t written = 0; written < task.size; written += piece.size()) {
    if (const auto result = writer->Write(piece); !result.ok()) Fail(result.error().ToString());
  }
  if (const auto result = writer->Finish(); !result.ok()) Fail(result.error().ToString());
}

std::uint64_t MemoryKib(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10);
  }
  Fail("the kernel does not say how much memory this is");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc == 8 ? argv[1] : "";
  if (verb != "read" && verb != "turns" && verb != "write")
    Fail("see the head of parallel_streams.cc");
  penstock::ClientConfig config;
  config.endpoint_url = argv[2];
  config.region = "us-east-1";
  config.addressing_style = penstock::AddressingStyle::kPath;
  const auto limited = penstock::SetMemoryLimit(std::strtoull(argv[7], nullptr, 10));
  if (!limited.ok()) Fail(limited.error().ToString());
  auto client = penstock::Client::Create(config);
  if (!client.ok()) Fail(client.error().ToString());
  const Task task{std::move(client).value(), BucketName(argv[3]), argv[4],
                  std::strtoull(argv[6], nullptr, 10)};
  const std::vector<std::byte> piece(1 << 20, std::byte{7});

  const std::uint64_t before = MemoryKib("VmRSS:");
  std::vector<std::jthread> threads;
  const std::size_t count = std::strtoull(argv[5], nullptr, 10);
  if (verb == "turns") ReadInTurn(task, count);
  for (std::size_t i = 0; verb != "turns" && i < count; ++i) {
    threads.emplace_back([&, i] { verb == "read" ? Read(task) : Write(task, piece, i); });
  }
  threads.clear();
  const penstock::MemoryBudget::Usage usage = penstock::MemoryBudget::PerProcess().usage();
  std::printf(
      "{\"grown_kib\": %llu, \"left_kib\": %llu, \"peak_held\": %llu, \"held\": %llu, "
      "\"beyond_limit\": %llu}\n",
      static_cast<unsigned long long>(MemoryKib("VmHWM:") - before),
      static_cast<unsigned long long>(std::max(MemoryKib("VmRSS:"), before) - before),
      static_cast<unsigned long long>(usage.peak_held), static_cast<unsigned long long>(usage.held),
      static_cast<unsigned long long>(usage.beyond_limit));
  return 0;
}
