#include "client/transfer/download/stream_checksum.h"

#include <gtest/gtest.h>

#include "client/transfer/checksummed_store_test_support.h"

namespace penstock::transfer {
namespace {

class StreamChecksumTest : public ::testing::Test {
 protected:
  StreamChecksum Expecting(const Bytes& object) {
    return {PiecewiseChecksum({Crc::kCrc64Nvme, Crc64Text(object)}, object.size()),
            Crc::kCrc64Nvme};
  }
  ByteView Piece(std::uint64_t begin, std::uint64_t end) const {
    return ByteView(content_).subspan(begin, end - begin);
  }
  Result<void> Add(StreamChecksum& checksum, std::uint64_t begin, std::uint64_t end) const {
    return checksum.Add({begin, end}, UpdateCrc(Crc::kCrc64Nvme, Piece(begin, end), 0),
                        end == content_.size());
  }

  const Bytes content_ = MakeContent(100);
};

TEST_F(StreamChecksumTest, BlocksInOrderMatchTheObject) {
  StreamChecksum checksum = Expecting(content_);
  EXPECT_TRUE(Add(checksum, 0, 40).ok());
  EXPECT_TRUE(Add(checksum, 40, 90).ok());
  EXPECT_TRUE(Add(checksum, 90, 100).ok());
}

TEST_F(StreamChecksumTest, LastBlockFailsIfAnyBlockWasWrong) {
  StreamChecksum checksum = Expecting(MakeContent(100, 2));
  EXPECT_TRUE(Add(checksum, 0, 99).ok());
  EXPECT_EQ(Add(checksum, 99, 100).error().kind, ErrorKind::kDataLoss);
}

TEST_F(StreamChecksumTest, BlocksReturnedAgainCountOnce) {
  StreamChecksum checksum = Expecting(content_);
  EXPECT_TRUE(Add(checksum, 0, 40).ok());
  checksum.Keep(Piece(0, 7));
  EXPECT_TRUE(Add(checksum, 7, 60).ok());
  checksum.Keep({});
  EXPECT_TRUE(Add(checksum, 7, 100).ok());
}

TEST_F(StreamChecksumTest, VerifiesTheRestOfTheLastBlockAgain) {
  StreamChecksum checksum = Expecting(content_);
  EXPECT_TRUE(Add(checksum, 0, 100).ok());
  checksum.Keep(Piece(0, 80));
  EXPECT_TRUE(Add(checksum, 80, 100).ok());
  checksum.Keep(Piece(80, 90));
  EXPECT_EQ(checksum.Add({90, 100}, 1, true).error().kind, ErrorKind::kDataLoss);
}

TEST_F(StreamChecksumTest, VerifiesADroppedWholeObjectWhenItIsFetchedAgain) {
  ObjectMetadata metadata;
  metadata.size = content_.size();
  metadata.checksums = {{"crc64nvme", Crc64Text(content_)}};
  for (const std::uint64_t used : {0, 30}) {
    for (const bool flipped : {false, true}) {
      StreamChecksum checksum;
      EXPECT_TRUE(checksum.Add({0, 100}, 0, true).ok());
      checksum.ExpectAgain(metadata);
      if (used > 0) checksum.Keep(Piece(0, used));
      EXPECT_EQ(checksum.crc(), Crc::kCrc64Nvme);
      const std::uint64_t value = UpdateCrc(Crc::kCrc64Nvme, Piece(used, 100), 0);
      EXPECT_EQ(checksum.Add({used, 100}, value ^ (flipped ? 1 : 0), true).ok(), !flipped);
    }
  }
}

TEST(StreamChecksum, AcceptsEverythingWithoutAnExpectedChecksum) {
  StreamChecksum none;
  EXPECT_EQ(none.crc(), Crc::kNone);
  EXPECT_TRUE(none.Add({0, 10}, 5, true).ok());
  none.Keep({});
  EXPECT_TRUE(none.Add({0, 10}, 6, true).ok());
}

}  // namespace
}  // namespace penstock::transfer
