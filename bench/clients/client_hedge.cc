// Batches of small downloads that start together, like those of a data loader. A batch takes as
// long as its slowest download. Prints the times as one JSON line.
//
//   bench_client_hedge ENDPOINT BUCKET PREFIX BATCH BATCHES hedge|plain
//
// Each batch reads the BATCH objects PREFIX000000 and so on. Percentiles are of batches; BATCHES /
// 10 + 1 batches run before the measurement. `requests`: the number of requests sent; `reads`: the
// number of reads that the program started.
#include <algorithm>
#include <array>
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

using penstock::bench::Fail;

class Read final : public penstock::BodySink {
 public:
  void Start(penstock::Client& client, const char* bucket, std::string key,
             std::counting_semaphore<>& ended) {
    penstock::GetObjectRequest request;
    request.bucket = penstock::BucketName(bucket);
    request.key = penstock::ObjectKey(std::move(key));
    request.sink = this;
    client.Start(std::move(request), [&ended](penstock::Result<penstock::ObjectMetadata> result) {
      if (!result.ok()) Fail(result.error().ToString());
      ended.release();
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
  std::size_t filled_ = 0;
  std::array<std::byte, 128 << 10> memory_;
};

double Percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) Fail("see the head of client_hedge.cc");
  const int batch = std::atoi(argv[4]);
  const int batches = std::atoi(argv[5]);
  penstock::ClientConfig config = penstock::bench::ConfigFor(argv[1]);
  config.hedge_reads = std::string_view(argv[6]) == "hedge";
  const auto made = penstock::Client::Create(std::move(config));
  if (!made.ok()) Fail(made.error().ToString());
  penstock::Client& client = **made;
  std::vector<std::unique_ptr<Read>> reads;
  for (int i = 0; i < batch; ++i) reads.push_back(std::make_unique<Read>());
  std::counting_semaphore<> ended{0};
  const auto run = [&] {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < batch; ++i) {
      std::array<char, 16> number{};
      std::snprintf(number.data(), number.size(), "%06d", i);
      reads[static_cast<std::size_t>(i)]->Start(client, argv[2],
                                                std::string(argv[3]) + number.data(), ended);
    }
    for (int i = 0; i < batch; ++i) ended.acquire();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
        .count();
  };
  for (int i = 0; i < batches / 10 + 1; ++i) run();
  const penstock::ClientStats before = client.stats();
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) times.push_back(run());
  const penstock::ClientStats after = client.stats();
  std::printf(
      "{\"p50_ms\": %.3f, \"p99_ms\": %.3f, \"requests\": %llu, \"reads\": %d, \"hedges\": %llu, "
      "\"won\": %llu}\n",
      Percentile(times, 0.5), Percentile(times, 0.99),
      static_cast<unsigned long long>(after.requests.at("GetObject") -
                                      before.requests.at("GetObject")),
      batch * batches, static_cast<unsigned long long>(after.hedges - before.hedges),
      static_cast<unsigned long long>(after.hedges_won - before.hedges_won));
}
