#include "emulator/store/blobs/block_checksums.h"

#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

std::string Packed(ByteView bytes, std::size_t step) {
  BlockHasher hasher;
  for (std::size_t at = 0; at < bytes.size(); at += step)
    hasher.Update(bytes.subspan(at, std::min(step, bytes.size() - at)));
  return hasher.Finish();
}

TEST(BlockChecksums, DoNotDependOnTheSizeOfUpdates) {
  const std::string body = testing::Body(2 * kBlockBytes + 10);
  const std::string packed = Packed(AsBytes(body), body.size());
  ASSERT_TRUE(FitsSize(packed, body.size()));
  EXPECT_EQ(ChecksumOf(packed, 0), Crc32c(AsBytes(body).first(kBlockBytes)));
  EXPECT_EQ(ChecksumOf(packed, 2), Crc32c(AsBytes(body).last(10)));
  for (const std::size_t step :
       {std::size_t{7777}, std::size_t{kBlockBytes}, std::size_t{kBlockBytes + 1}}) {
    EXPECT_EQ(Packed(AsBytes(body), step), packed) << step;
  }
}

TEST(BlockChecksums, FitOnlyTheirNumberOfBlocks) {
  const std::string packed = Packed(AsBytes(testing::Body(kBlockBytes)), kBlockBytes);
  EXPECT_TRUE(FitsSize(packed, kBlockBytes));
  EXPECT_TRUE(FitsSize(packed, 1));
  EXPECT_FALSE(FitsSize(packed, kBlockBytes + 1));
  EXPECT_FALSE(FitsSize(packed, 0));
  EXPECT_TRUE(FitsSize("", 0));
}

TEST(BlockChecksums, OneChangedBitDoesNotMatch) {
  std::string body = testing::Body(1000);
  const std::string packed = Packed(AsBytes(body), 1000);
  EXPECT_TRUE(Matches(packed, AsBytes(body)));
  body[999] ^= 1;
  EXPECT_FALSE(Matches(packed, AsBytes(body)));
}

TEST(VerifiedBlobs, APartlyVerifiedBlobKeepsItsBits) {
  VerifiedBlobs verified;
  verified.BitsOf(5, 100)->Set(70);
  EXPECT_TRUE(verified.BitsOf(5, 100)->Test(70));
  EXPECT_FALSE(verified.BitsOf(5, 100)->Test(69));
  EXPECT_FALSE(verified.BitsOf(6, 100)->Test(70));
  verified.Forget(5);
  EXPECT_FALSE(verified.BitsOf(5, 100)->Test(70));
}

TEST(VerifiedBlobs, VerifyingTheLastBlockCompletesABlob) {
  VerifiedBlobs verified;
  const std::int64_t id = (std::int64_t{1} << 40) + 4095;
  const auto bits = verified.BitsOf(id, 2);
  EXPECT_FALSE(bits->Set(1));
  EXPECT_FALSE(bits->Set(1)) << "counted twice";
  EXPECT_FALSE(bits->all());
  EXPECT_TRUE(bits->Set(0));
  EXPECT_TRUE(bits->all());
  verified.MarkWhole(id);
  EXPECT_EQ(verified.BitsOf(id, 2), nullptr);
  EXPECT_NE(verified.BitsOf(id + 1, 2), nullptr);
  EXPECT_NE(verified.BitsOf(id - 64, 2), nullptr);
}

TEST(VerifiedBlobs, ADamagedBlobStaysUnverifiedUntilItIsForgotten) {
  VerifiedBlobs verified;
  const auto partly = verified.BitsOf(5, 100);
  partly->Set(70);
  verified.MarkWhole(6);
  for (const std::int64_t id : {5, 6}) {
    verified.MarkDamaged(id);
    verified.MarkWhole(id);  // by a read that began before
    ASSERT_NE(verified.BitsOf(id, 100), nullptr);
    EXPECT_FALSE(verified.BitsOf(id, 100)->Test(70));
    verified.Forget(id);
    verified.MarkWhole(id);
    EXPECT_EQ(verified.BitsOf(id, 100), nullptr);
  }
}

}  // namespace
}  // namespace penstock::emulator::store
