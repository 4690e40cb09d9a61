// Progress reports of downloads, uploads and writers.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/fake_clock.h"
#include "client/transfer/download/range_fetch.h"
#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

UploadOptions SmallParts(std::vector<TransferProgress>& reports) {
  UploadOptions options;
  options.single_put_limit_bytes = 20;
  options.part_size_bytes = 10;
  options.min_part_size_bytes = 1;
  options.progress = [&reports](const TransferProgress& progress) { reports.push_back(progress); };
  return options;
}

void ExpectWhole(const std::vector<TransferProgress>& reports, std::uint64_t bytes) {
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().bytes_done, bytes);
  EXPECT_EQ(reports.back().bytes_total, bytes);
}

TEST(TransferProgress, DownloadEndsWithTheTotal) {
  const auto store = MakeStore();
  const Bytes content = MakeContent(95);
  Put(*store, content);
  Bytes memory;
  std::vector<TransferProgress> reports;
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.begin = 5;
  request.options.part_size_bytes = 10;
  request.options.progress = [&reports](const TransferProgress& progress) {
    reports.push_back(progress);
  };
  request.destination = [&memory](std::uint64_t size) -> Result<MutableByteView> {
    memory.resize(size);
    return MutableByteView(memory);
  };
  ASSERT_TRUE(Download(*store, std::move(request)).ok());
  ExpectWhole(reports, 90);
}

TEST(TransferProgress, FailedDownloadNeverReportsTheTotal) {
  const auto store = MakeStore();
  std::vector<TransferProgress> reports;
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.options.progress = [&reports](const TransferProgress& progress) {
    reports.push_back(progress);
  };
  request.destination = [](std::uint64_t) -> Result<MutableByteView> { return MutableByteView(); };
  ASSERT_FALSE(Download(*store, std::move(request)).ok());
  EXPECT_TRUE(reports.empty());
}

TEST(TransferProgress, UploadsEndWithTheTotal) {
  const auto store = MakeStore();
  for (const std::uint64_t size : {0u, 20u, 95u}) {
    std::vector<TransferProgress> reports;
    ASSERT_TRUE(Upload(store, kBucket, kKey, MakeContent(size), SmallParts(reports)).ok());
    ExpectWhole(reports, size);
  }
}

TEST(TransferProgress, WriterReportsTheTotalAtTheEnd) {
  const auto store = MakeStore();
  for (const std::uint64_t size : {15u, 95u}) {
    std::vector<TransferProgress> reports;
    const auto writer = ObjectWriter::Create(store, kBucket, kKey, SmallParts(reports));
    ASSERT_TRUE(writer->Write(MakeContent(size)).ok());
    EXPECT_TRUE(reports.empty());
    ASSERT_TRUE(writer->Finish().ok());
    ExpectWhole(reports, size);
  }
}

// The clock advances with each piece, so every piece is reported: 7 bytes at a time, and a body
// that breaks off once.
TEST(TransferProgress, CountsEachByteOfARetriedBodyOnce) {
  FakeClock clock;
  std::vector<std::uint64_t> reports;
  ProgressMeter meter(
      [&](const TransferProgress& progress) {
        reports.push_back(progress.bytes_done);
        clock.Advance(ProgressMeter::kInterval);
      },
      clock);
  clock.Advance(ProgressMeter::kInterval);
  const auto inner = MakeStore(Completion::kInline);
  Put(*inner, MakeContent(40));
  FaultyObjectStore store(inner, [](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation != "GetObject" || point.ordinal != 0) return std::nullopt;
    return MakeFault(ErrorKind::kUnavailable, Fault::Moment::kRetried, 20);
  });
  Bytes memory(40);
  RangeFetchSpec spec;
  spec.bucket = kBucket;
  spec.key = kKey;
  spec.range = {0, 40};
  spec.progress = &meter;
  spec.place = [&memory](const ObjectMetadata&, std::uint64_t) -> Result<Placement> {
    return Placement{MutableByteView(memory)};
  };
  auto call = MakePending<RangeFetched>();
  StartRangeFetch(store, std::move(spec), call.done);
  ASSERT_TRUE(call.pending.Get().ok());
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back(), 40u);
}

}  // namespace
}  // namespace penstock::transfer
