#include "emulator/store/sqlite/log_checksums.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

using Verdict = LogChecksums::Verdict;

constexpr int kPage = 512;
constexpr int kFrame = kFrameHeaderBytes + kPage;

std::vector<std::byte> HeaderOf(std::uint32_t page_size, std::uint8_t sequence) {
  std::vector<std::byte> header(kLogHeaderBytes);
  const std::uint32_t words[] = {0x377f0683, 3007000, page_size, sequence};
  for (std::size_t i = 0; i < 16; ++i)
    header[i] = static_cast<std::byte>(words[i / 4] >> (24 - i % 4 * 8));
  return header;
}

std::vector<std::byte> BytesOf(const LogPart& part, int content) {
  return std::vector<std::byte>(static_cast<std::size_t>(part.size),
                                static_cast<std::byte>(content));
}

class LogChecksumsTest : public ::testing::Test {
 protected:
  void SetUp() override { log_.Restart(HeaderOf(kPage, 7).data()); }
  // Offsets of the parts of a frame.
  static std::int64_t Header(int frame) { return kLogHeaderBytes + (frame - 1) * kFrame; }
  static std::int64_t Page(int frame) { return Header(frame) + kFrameHeaderBytes; }
  void Set(std::int64_t offset, int content) {
    const LogPart part = log_.PartAt(offset);
    ASSERT_TRUE(log_.Set(part, BytesOf(part, content).data()));
  }
  Verdict Check(std::int64_t offset, int content) const {
    const LogPart part = log_.PartAt(offset);
    return log_.Check(part, BytesOf(part, content).data());
  }

  LogChecksums log_{"a-wal"};
};

TEST_F(LogChecksumsTest, PartsCoverTheLogWithoutGaps) {
  EXPECT_EQ(log_.PartAt(0), (LogPart{0, kLogHeaderBytes, 0, false}));
  std::int64_t end = 0;
  for (std::int64_t offset = 0; offset < Header(1000); ++offset) {
    const LogPart part = log_.PartAt(offset);
    ASSERT_LE(part.begin, offset);
    ASSERT_GT(part.begin + part.size, offset);
    if (offset < end) continue;
    ASSERT_EQ(part.begin, end);
    end = part.begin + part.size;
  }
  EXPECT_EQ(log_.PartAt(Header(1000)), (LogPart{Header(1000), kFrameHeaderBytes, 1000, false}));
  EXPECT_EQ(log_.PartAt(Page(1000) + 5), (LogPart{Page(1000), kPage, 1000, true}));
}

TEST_F(LogChecksumsTest, EachPartHasItsOwnChecksum) {
  for (int frame = 1; frame < 300; ++frame) {
    Set(Header(frame), frame);
    EXPECT_EQ(Check(Page(frame), 1), Verdict::kUnknown) << frame;
    Set(Page(frame), frame + 1);
  }
  for (int frame = 1; frame < 300; ++frame) {
    EXPECT_EQ(Check(Header(frame), frame), Verdict::kMatches) << frame;
    EXPECT_EQ(Check(Header(frame), frame + 1), Verdict::kDiffers) << frame;
    EXPECT_EQ(Check(Page(frame), frame + 1), Verdict::kMatches) << frame;
    EXPECT_EQ(Check(Page(frame), frame), Verdict::kDiffers) << frame;
  }
  EXPECT_EQ(Check(Page(100'000), 0), Verdict::kUnknown);
}

TEST_F(LogChecksumsTest, DetectsAChangeOfAnyBit) {
  const LogPart part = log_.PartAt(Page(1));
  std::vector<std::byte> bytes = BytesOf(part, 0xA5);
  ASSERT_TRUE(log_.Set(part, bytes.data()));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << bit % 8);
    bytes[bit / 8] ^= mask;
    ASSERT_EQ(log_.Check(part, bytes.data()), Verdict::kDiffers) << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_EQ(log_.Check(part, bytes.data()), Verdict::kMatches);
}

TEST_F(LogChecksumsTest, ForgetsEveryPartOfARange) {
  for (int frame = 1; frame <= 3; ++frame) {
    Set(Header(frame), 1);
    Set(Page(frame), 1);
  }
  log_.Forget(Page(1) + kPage - 1, Header(3) + 1);
  EXPECT_EQ(Check(Header(1), 1), Verdict::kMatches);
  EXPECT_EQ(Check(Page(1), 2), Verdict::kUnknown);
  EXPECT_EQ(Check(Header(2), 2), Verdict::kUnknown);
  EXPECT_EQ(Check(Page(2), 2), Verdict::kUnknown);
  EXPECT_EQ(Check(Header(3), 2), Verdict::kUnknown);
  EXPECT_EQ(Check(Page(3), 1), Verdict::kMatches);
}

TEST_F(LogChecksumsTest, ATruncationForgetsWhatItRemoves) {
  for (int frame = 1; frame <= 200; ++frame) Set(Page(frame), 1);
  log_.Truncate(Header(100));
  EXPECT_EQ(Check(Page(99), 1), Verdict::kMatches);
  for (const int frame : {100, 101, 128, 200})
    EXPECT_EQ(Check(Page(frame), 1), Verdict::kUnknown) << frame;
  log_.Truncate(0);
  EXPECT_EQ(Check(Page(1), 1), Verdict::kUnknown);
}

TEST_F(LogChecksumsTest, TheFirstHeaderIsAdopted) {
  LogChecksums log("b-wal");
  const std::vector<std::byte> no_header(kLogHeaderBytes, std::byte{1});
  log.AdoptHeader(no_header.data());
  EXPECT_EQ(log.page_size(), 0);
  log.AdoptHeader(HeaderOf(1000, 1).data());
  EXPECT_EQ(log.page_size(), 0) << "not a page size";
  log.AdoptHeader(HeaderOf(4096, 3).data());
  log.AdoptHeader(HeaderOf(512, 4).data());
  EXPECT_EQ(log.page_size(), 4096);
  EXPECT_EQ(log.checkpoint_sequence(), 3u);
}

TEST_F(LogChecksumsTest, ARestartReplacesTheHeaderAndClearsTheDamage) {
  Set(Page(1), 1);
  const std::uint64_t counted = DiagnosticCounts()["database.page_damaged"];
  log_.AddDamage(log_.PartAt(Page(1)));
  log_.AddDamage(log_.PartAt(Page(1)));
  EXPECT_TRUE(log_.is_damaged());
  EXPECT_EQ(DiagnosticCounts()["database.page_damaged"], counted + 1);
  log_.Restart(HeaderOf(kPage, 8).data());
  EXPECT_FALSE(log_.is_damaged());
  EXPECT_EQ(log_.checkpoint_sequence(), 8u);
  EXPECT_EQ(Check(Page(1), 2), Verdict::kDiffers) << "the file still has the frame";
  log_.AddDamage(log_.PartAt(Page(1)));
  EXPECT_EQ(DiagnosticCounts()["database.page_damaged"], counted + 2) << "another frame 1";
  log_.Restart(HeaderOf(2 * kPage, 9).data());
  EXPECT_EQ(log_.page_size(), 2 * kPage);
  EXPECT_EQ(Check(Page(1), 2), Verdict::kUnknown) << "frames are elsewhere";
}

}  // namespace
}  // namespace penstock::emulator::store
