#include "client/transfer/upload/upload_plan.h"

#include <gtest/gtest.h>

#include "client/transfer/part_plan.h"

namespace penstock::transfer {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kGiB = 1ull << 30;

std::uint64_t Requests(std::uint64_t size) {
  const std::uint64_t part = KnownPartSize(size, {}).value();
  return (size + part - 1) / part + 2;
}

TEST(KnownPartSize, OneGibibyteTakes34Requests) {
  EXPECT_EQ(KnownPartSize(kGiB, {}).value(), 32 * kMiB);
  EXPECT_EQ(Requests(kGiB), 34u);
}

TEST(KnownPartSize, ObjectsUpToTwoGibibytesTakeAtMost34Requests) {
  for (std::uint64_t size = 64 * kMiB + 1; size <= 2 * kGiB; size += 7 * kMiB + 13)
    EXPECT_LE(Requests(size), 34u) << size;
}

TEST(KnownPartSize, StaysBetween8And64MiBIfTenThousandPartsSuffice) {
  EXPECT_EQ(KnownPartSize(1, {}).value(), 8 * kMiB);
  EXPECT_EQ(KnownPartSize(100 * kGiB, {}).value(), 64 * kMiB);
  EXPECT_EQ(KnownPartSize(10'000 * 64 * kMiB, {}).value(), 64 * kMiB);
  EXPECT_EQ(KnownPartSize(10'000 * 64 * kMiB + 1, {}).value(), 65 * kMiB);
  EXPECT_FALSE(KnownPartSize(kMaxObjectBytes + 1, {}).ok());
}

TEST(KnownPartSize, UsesTheConfiguredSize) {
  UploadOptions options;
  options.part_size_bytes = 5 * kMiB;
  EXPECT_EQ(KnownPartSize(kGiB, options).value(), 5 * kMiB);
  EXPECT_EQ(KnownPartSize(100 * kGiB, options).value(),
            11 * kMiB);  // 10,000 parts of 11 MiB are enough
}

std::uint64_t Quick(std::uint64_t written, const UploadOptions& options) {
  return StreamPartSize(written, options, Connections::kQuick);
}

std::uint64_t Slow(std::uint64_t written, const UploadOptions& options) {
  return StreamPartSize(written, options, Connections::kSlow);
}

TEST(StreamPartSize, GrowsWithTheBytesWritten) {
  EXPECT_EQ(Quick(0, {}), 8 * kMiB);
  EXPECT_EQ(Quick(64 * kMiB, {}), 16 * kMiB);
  EXPECT_EQ(Quick(512 * kMiB, {}), 32 * kMiB);
  EXPECT_EQ(Quick(4 * kGiB, {}), 64 * kMiB);
  EXPECT_EQ(Quick(100 * kGiB, {}), 128 * kMiB);
}

TEST(StreamPartSize, GrowsLaterOnSlowConnections) {
  EXPECT_EQ(Slow(2 * kGiB - 1, {}), 8 * kMiB);
  EXPECT_EQ(Slow(2 * kGiB, {}), 16 * kMiB);
  EXPECT_EQ(Slow(8 * kGiB, {}), 32 * kMiB);
  EXPECT_EQ(Slow(32 * kGiB, {}), 64 * kMiB);
  EXPECT_EQ(Slow(100 * kGiB, {}), 128 * kMiB);
}

TEST(BorrowedPartSize, IsOneSixteenthBetween8And64MiB) {
  EXPECT_EQ(BorrowedPartSize(1), 8 * kMiB);
  EXPECT_EQ(BorrowedPartSize(kGiB / 2), 32 * kMiB);
  EXPECT_EQ(BorrowedPartSize(100 * kGiB), 64 * kMiB);
}

// Returns the number of parts for a stream of `size` bytes.
int PartsOf(std::uint64_t size, std::uint64_t (*next)(std::uint64_t, const UploadOptions&)) {
  int parts = 0;
  for (std::uint64_t written = 0; written < size; written += next(written, {})) ++parts;
  return parts;
}

TEST(StreamPartSize, OneGibibyteTakes52PartsAndTenThousandHoldOneTenthOfTheMaximum) {
  EXPECT_EQ(PartsOf(kGiB, Quick), 52);
  EXPECT_LE(PartsOf(kMaxObjectBytes / 10, Quick), kMaxParts);
  EXPECT_LE(PartsOf(kMaxObjectBytes / 10, Slow), kMaxParts);
}

TEST(StreamPartSize, UsesConfiguredSizesAndHints) {
  UploadOptions options;
  options.part_size_bytes = 5 * kMiB;
  EXPECT_EQ(Quick(0, options), 5 * kMiB);
  EXPECT_EQ(Quick(kGiB, options), 5 * kMiB);
  options.size_hint_bytes = 100'000 * kMiB;
  EXPECT_EQ(Quick(0, options), 10 * kMiB);
  options.part_size_bytes.reset();
  EXPECT_EQ(Quick(0, options), 64 * kMiB);
}

TEST(MinPartSize, IsS3sMinimumAndGrowsSoThatTenThousandHoldAQuarterOfTheMaximum) {
  EXPECT_EQ(MinPartSize(0, {}), 5 * kMiB);
  EXPECT_EQ(MinPartSize(1000 * kGiB, {}), kGiB);
  EXPECT_LE(PartsOf(kMaxObjectBytes / 4, MinPartSize), kMaxParts);
}

TEST(PlanInFlight, UsesTheConfiguredLimit) {
  UploadOptions options;
  options.max_parallel_parts = 3;
  options.part_size_bytes = 10;
  for (const std::optional<PartRate>& rate :
       {std::optional<PartRate>(), std::optional(PartRate{1, milliseconds(1000)})}) {
    EXPECT_EQ(PlanInFlight(rate, 0, options).parts, 3);
    EXPECT_EQ(PlanInFlight(rate, 0, options).held_bytes, 30u);
  }
}

TEST(PlanInFlight, UsesFewPartsAndLittleMemoryOnFastConnections) {
  EXPECT_EQ(PlanInFlight(std::nullopt, 0, {}).parts, 4);
  EXPECT_EQ(PlanInFlight(PartRate{16 * kMiB, milliseconds(40)}, 0, {}).parts, 4);
  const InFlightLimit here = PlanInFlight(PartRate{16 * kMiB, milliseconds(16)}, 0, {});
  EXPECT_EQ(here.parts, 2);
  EXPECT_LE(here.held_bytes, 64 * kMiB);
}

TEST(PlanInFlight, UsesManyPartsOnSlowConnections) {
  // S3: about 90 MB/s per connection.
  const InFlightLimit s3 = PlanInFlight(PartRate{16 * kMiB, milliseconds(186)}, 0, {});
  EXPECT_EQ(s3.connections, Connections::kSlow);
  EXPECT_EQ(s3.parts, 16);
  EXPECT_EQ(s3.held_bytes, 14 * 8 * kMiB);  // with the part being filled: within 128 MiB
  EXPECT_EQ(PlanInFlight(PartRate{16 * kMiB, milliseconds(186)}, 2 * kGiB, {}).held_bytes,
            256 * kMiB);
}

}  // namespace
}  // namespace penstock::transfer
