// Sends PUT or GET requests for objects of SIZE bytes, one request per object, IN_FLIGHT at a time,
// and prints their cost as one JSON line. PENSTOCK_DATA_PLANE selects the data plane.
//
//   bench_client_plane get|put ENDPOINT BUCKET SIZE REQUESTS IN_FLIGHT
//
// A GET reads the object "k", which must exist. CPU is user plus system time of this process.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "penstock/client.h"

namespace {

using penstock::bench::CpuSeconds;
using penstock::bench::Fail;

struct Work {
  penstock::Client& client;
  penstock::BucketName bucket;
  bool puts;
  std::atomic<int> left{0};
  std::counting_semaphore<> ended{0};
};

// Runs requests one after the other, from and into its own memory.
class Lane final : public penstock::BodySink, public penstock::BodySource {
 public:
  Lane(Work& work, std::size_t size) : work_(work), memory_(Pages(size + 1)) {
    std::ranges::fill(memory_, std::byte{'x'});
  }

  void Next() {
    if (work_.left.fetch_sub(1) <= 0) return work_.ended.release();
    const auto done = [this](const auto& result) {
      if (!result.ok()) Fail(result.error().ToString());
      if (position_ != size()) Fail("moved " + std::to_string(position_) + " bytes");
      Next();
    };
    if (work_.puts) {
      penstock::PutObjectRequest request;
      request.bucket = work_.bucket;
      request.key = penstock::ObjectKey("k");
      request.body = this;
      work_.client.Start(std::move(request), done);
    } else {
      penstock::GetObjectRequest request;
      request.bucket = work_.bucket;
      request.key = penstock::ObjectKey("k");
      request.sink = this;
      work_.client.Start(std::move(request), done);
    }
  }

  penstock::Result<void> Begin(const penstock::ObjectMetadata&,
                               std::optional<std::uint64_t>) override {
    position_ = 0;
    return penstock::Ok();
  }
  penstock::MutableByteView Window() override { return memory_.subspan(position_); }
  penstock::Result<void> Commit(std::size_t count) override {
    position_ += count;
    return penstock::Ok();
  }

  std::uint64_t size() const override { return memory_.size() - 1; }
  void Rewind() override { position_ = 0; }
  penstock::ByteView Next(std::size_t limit) override {
    const penstock::ByteView rest =
        penstock::ByteView(memory_).subspan(position_, memory_.size() - 1 - position_);
    const penstock::ByteView next = rest.first(std::min(limit, rest.size()));
    position_ += next.size();
    return next;
  }

 private:
  // Returns memory at the start of a page. malloc's large blocks start 16 bytes after one: on AMD
  // Zen 3 and 4, copies from other pages to such an address take twice as long (glibc bug 30994).
  static penstock::MutableByteView Pages(std::size_t size) {
    const std::size_t whole = (size + 4095) / 4096 * 4096;
    return {static_cast<std::byte*>(std::aligned_alloc(4096, whole)), size};
  }

  Work& work_;
  // One byte more than the object, so that a window is never empty. Kept until the process ends.
  penstock::MutableByteView memory_;
  std::size_t position_ = 0;
};

void Run(Work& work, const std::vector<std::unique_ptr<Lane>>& lanes, int requests) {
  work.left = requests;
  for (const auto& lane : lanes) lane->Next();
  for (std::size_t i = 0; i < lanes.size(); ++i) work.ended.acquire();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 7 ? argv[1] : "";
  if (mode != "get" && mode != "put") Fail("see the head of client_plane.cc");
  const std::size_t size = std::strtoull(argv[4], nullptr, 10);
  const int requests = std::atoi(argv[5]);
  const int in_flight = std::atoi(argv[6]);
  const std::unique_ptr<penstock::Client> client = penstock::bench::MakeClient(argv[2]);
  Work work{*client, penstock::BucketName(argv[3]), mode == "put"};
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < in_flight; ++i) lanes.push_back(std::make_unique<Lane>(work, size));
  Run(work, lanes, 4 * in_flight);  // opens connections and grows congestion windows
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  Run(work, lanes, requests);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double used = CpuSeconds() - cpu;
  const double gigabytes = static_cast<double>(size) * requests / 1e9;
  std::printf("{\"seconds\": %.6f, \"cpu_per_gb\": %.6f, \"requests_per_cpu_s\": %.1f}\n", seconds,
              used / gigabytes, requests / used);
  return 0;
}
