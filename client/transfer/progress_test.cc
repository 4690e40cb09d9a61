// Progress as downloads, uploads and writers tell it.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/fake_clock.h"
#include "client/transfer/download/range_fetch.h"
#include "client/transfer/transfer_test_support.h"
#include "penstock/waiter.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

UploadOptions SmallParts(std::vector<TransferProgress>& told) {
  UploadOptions options;
  options.single_put_limit_bytes = 20;
  options.part_size_bytes = 10;
  options.min_part_size_bytes = 1;
  options.progress = [&told](const TransferProgress& progress) { told.push_back(progress); };
  return options;
}

void ExpectWhole(const std::vector<TransferProgress>& told, std::uint64_t bytes) {
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().bytes_done, bytes);
  EXPECT_EQ(told.back().bytes_total, bytes);
}

TEST(TransferProgress, ADownloadEndsWithAllOfIt) {
  const auto store = MakeStore();
  const Bytes content = MakeContent(95);
  Put(*store, content);
  Bytes memory;
  std::vector<TransferProgress> told;
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.begin = 5;
  request.options.part_size_bytes = 10;
  request.options.progress = [&told](const TransferProgress& progress) {
    told.push_back(progress);
  };
  request.destination = [&memory](std::uint64_t size) -> Result<MutableByteView> {
    memory.resize(size);
    return MutableByteView(memory);
  };
  ASSERT_TRUE(Download(*store, std::move(request)).ok());
  ExpectWhole(told, 90);
}

TEST(TransferProgress, AFailedDownloadIsNeverToldToBeWhole) {
  const auto store = MakeStore();
  std::vector<TransferProgress> told;
  DownloadRequest request;
  request.bucket = kBucket;
  request.key = kKey;
  request.options.progress = [&told](const TransferProgress& progress) {
    told.push_back(progress);
  };
  request.destination = [](std::uint64_t) -> Result<MutableByteView> { return MutableByteView(); };
  ASSERT_FALSE(Download(*store, std::move(request)).ok());
  EXPECT_TRUE(told.empty());
}

TEST(TransferProgress, UploadsInOneAndInPartsEndWithAllOfThem) {
  const auto store = MakeStore();
  for (const std::uint64_t size : {0u, 20u, 95u}) {
    std::vector<TransferProgress> told;
    ASSERT_TRUE(Upload(store, kBucket, kKey, MakeContent(size), SmallParts(told)).ok());
    ExpectWhole(told, size);
  }
}

TEST(TransferProgress, AWriterKnowsTheTotalAtItsEnd) {
  const auto store = MakeStore();
  for (const std::uint64_t size : {15u, 95u}) {
    std::vector<TransferProgress> told;
    const auto writer = ObjectWriter::Create(store, kBucket, kKey, SmallParts(told));
    ASSERT_TRUE(writer->Write(MakeContent(size)).ok());
    EXPECT_TRUE(told.empty());
    ASSERT_TRUE(writer->Finish().ok());
    ExpectWhole(told, size);
  }
}

// Every piece is told, because the clock moves on with each: 7 bytes at a time, and a body that
// breaks off once.
TEST(TransferProgress, CountsEachByteOfARetriedBodyOnce) {
  FakeClock clock;
  std::vector<std::uint64_t> told;
  ProgressMeter meter(
      [&](const TransferProgress& progress) {
        told.push_back(progress.bytes_done);
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
  Waiter<RangeFetched> waiter;
  StartRangeFetch(store, std::move(spec), waiter.Done());
  ASSERT_TRUE(waiter.Wait({}, std::stop_source()).ok());
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), 40u);
}

}  // namespace
}  // namespace penstock::transfer
