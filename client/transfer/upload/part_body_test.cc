#include "client/transfer/upload/part_body.h"

#include <gtest/gtest.h>

#include "base/crc/named_crc.h"
#include "base/fake_clock.h"
#include "client/transfer/transfer_test_support.h"

namespace penstock::transfer {
namespace {

std::uint64_t CrcOf(ByteView bytes) { return UpdateCrc(Crc::kCrc64Nvme, bytes, 0); }

Bytes ReadAll(PartBody& part, std::size_t limit) {
  Bytes all;
  for (ByteView next = part.Next(limit); !next.empty(); next = part.Next(limit)) {
    EXPECT_LE(next.size(), limit);
    all.insert(all.end(), next.begin(), next.end());
  }
  return all;
}

// 10 bytes on the heap, 20 borrowed, 30 in pooled memory.
PartBody Mixed(BufferPool& pool, ByteView content) {
  PartBody part(100);
  part.AddHeap(10);
  part.Append(content.first(4));
  part.Append(content.subspan(4, 6));
  part.Borrow(content.subspan(10, 20));
  part.AddMemory(pool.Take(1).value());
  part.Append(content.subspan(30, 30));
  return part;
}

class PartBodyTest : public ::testing::Test {
 protected:
  MemoryBudget budget_{64 << 20};
  BufferPool pool_{budget_};
  const Bytes content_ = MakeContent(60);
};

TEST_F(PartBodyTest, ReturnsItsPiecesInOrderAndAgainAfterRewind) {
  PartBody part = Mixed(pool_, content_);
  EXPECT_EQ(part.size(), 60u);
  EXPECT_EQ(part.room(), 40u);
  for (const std::size_t limit : {1, 7, 60, 1000}) {
    EXPECT_EQ(ReadAll(part, limit), content_);
    part.Rewind();
  }
}

TEST_F(PartBodyTest, AppendsOnlyUpToItsCapacity) {
  PartBody part(12);
  EXPECT_EQ(part.Append(content_), 0u) << "no memory yet";
  part.AddHeap(5);
  EXPECT_EQ(part.writable(), 5u);
  EXPECT_EQ(part.Append(content_), 5u);
  part.AddMemory(pool_.Take(1).value());
  EXPECT_EQ(part.writable(), 7u);
  EXPECT_EQ(part.Append(ByteView(content_).subspan(5)), 7u);
  EXPECT_EQ(part.room(), 0u);
  EXPECT_EQ(ReadAll(part, 100), Bytes(content_.begin(), content_.begin() + 12));
}

TEST_F(PartBodyTest, KnowsTheChecksumOfCopiedBytesImmediately) {
  PartBody part(60);
  part.AddHeap(60);
  part.Append(content_);
  EXPECT_EQ(part.crc64nvme(), CrcOf(content_));
  EXPECT_EQ(PartBody().crc64nvme(), CrcOf({}));
}

TEST_F(PartBodyTest, ComputesTheChecksumOfBorrowedBytesWhenFirstRead) {
  Bytes content = content_;
  PartBody part = PartBody::Of(content);
  part.set_follows_checksum(true);
  EXPECT_TRUE(part.borrows());
  EXPECT_EQ(part.crc64nvme(), std::nullopt);
  part.Next(20);
  part.Rewind();  // as for a retry
  part.Next(10);
  EXPECT_EQ(part.crc64nvme(), std::nullopt);
  ReadAll(part, 7);
  EXPECT_EQ(part.crc64nvme(), CrcOf(content_));
  content[5] ^= std::byte{1};  // not read for the checksum again
  part.Rewind();
  ReadAll(part, 7);
  EXPECT_EQ(part.crc64nvme(), CrcOf(content_));
}

TEST_F(PartBodyTest, DoesNotComputeAKnownChecksum) {
  PartBody part(2 * content_.size());
  part.Borrow(content_, 7);
  part.Borrow({}, 9);
  EXPECT_EQ(part.crc64nvme(), 7u);
  EXPECT_EQ(ReadAll(part, 7), content_);
  EXPECT_EQ(part.Crc(), 7u);
}

TEST_F(PartBodyTest, ComputesNoChecksumUnlessRequested) {
  PartBody part = PartBody::Of(content_);
  ReadAll(part, 7);
  EXPECT_EQ(part.crc64nvme(), std::nullopt);
  EXPECT_EQ(part.Crc(), CrcOf(content_));
  EXPECT_EQ(part.crc64nvme(), CrcOf(content_));
}

TEST_F(PartBodyTest, CombinesTheChecksumsOfItsPieces) {
  EXPECT_EQ(Mixed(pool_, content_).Crc(), CrcOf(content_));
}

TEST_F(PartBodyTest, ComputesTheChecksumOfLargeCopies) {
  const Bytes content = MakeContent(300'001);
  PartBody part(content.size());
  part.AddMemory(pool_.Take(content.size()).value());
  EXPECT_EQ(part.Append(content), content.size());
  EXPECT_EQ(part.crc64nvme(), CrcOf(content));
}

TEST_F(PartBodyTest, JoinedPartsAreOneBody) {
  PartBody whole;
  whole.Join(Mixed(pool_, content_));
  PartBody next(9);
  next.AddHeap(9);
  next.Append(ByteView(content_).first(5));
  whole.Join(std::move(next));
  EXPECT_EQ(whole.room(), 4u);
  EXPECT_EQ(whole.Append(ByteView(content_).subspan(5)), 4u);
  Bytes expected = content_;
  expected.insert(expected.end(), content_.begin(), content_.begin() + 9);
  EXPECT_EQ(ReadAll(whole, 13), expected);
  EXPECT_EQ(whole.Crc(), CrcOf(expected));
}

TEST_F(PartBodyTest, ReportsProgressAndSubtractsBytesThatAreReadAgain) {
  std::vector<std::uint64_t> reports;
  FakeClock clock;
  ProgressMeter meter(
      [&](const TransferProgress& progress) { reports.push_back(progress.bytes_done); }, clock);
  PartBody part = PartBody::Of(content_);
  part.set_progress(&meter);
  part.Next(40);
  part.Rewind();
  clock.Advance(ProgressMeter::kInterval);
  part.Next(50);
  part.Next(10);
  meter.Finish(60);
  EXPECT_EQ(reports, (std::vector<std::uint64_t>{50, 60}));
}

TEST_F(PartBodyTest, CountsAndReleasesItsMemory) {
  {
    PartBody part = Mixed(pool_, content_);
    EXPECT_EQ(part.held_bytes(), BufferPool::kUnit + 10);
    part.SetInFlight(true);
    EXPECT_EQ(budget_.usage().in_flight, BufferPool::kUnit);
  }
  EXPECT_EQ(budget_.usage().held, 0u);
  EXPECT_EQ(budget_.usage().in_flight, 0u);
}

}  // namespace
}  // namespace penstock::transfer
