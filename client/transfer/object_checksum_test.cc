#include "client/transfer/object_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace penstock::transfer {
namespace {

// The check values of "123456789".
constexpr std::string_view kDigits = "123456789";
const ObjectChecksum kChecksums[] = {
    {Crc::kCrc64Nvme, "rosUhgp5mIg="}, {Crc::kCrc32c, "4waSgw=="}, {Crc::kCrc32, "y/Q5Jg=="}};

ChecksumPiece Piece(Crc crc, std::uint64_t begin, std::uint64_t end) {
  return {{begin, end}, crc, UpdateCrc(crc, AsBytes(kDigits.substr(begin, end - begin)), 0)};
}

Result<void> VerifyPieces(const ObjectChecksum& checksum, std::vector<ChecksumPiece> pieces,
                          ByteView object) {
  return CompareCrc(checksum, CombinePieces(checksum.crc, std::move(pieces), 0, object));
}

TEST(ObjectChecksumTest, PiecesInAnyOrderMatchTheObject) {
  for (const ObjectChecksum& checksum : kChecksums) {
    const Crc crc = checksum.crc;
    EXPECT_TRUE(VerifyPieces(checksum, {Piece(crc, 7, 9), Piece(crc, 0, 4), Piece(crc, 4, 7)},
                             AsBytes(kDigits))
                    .ok());
    EXPECT_TRUE(VerifyPieces(checksum, {Piece(crc, 0, 9)}, AsBytes(kDigits)).ok());
  }
}

TEST(ObjectChecksumTest, WrongPieceIsDataLossThatNamesBothValues) {
  for (const ObjectChecksum& checksum : kChecksums) {
    ChecksumPiece wrong = Piece(checksum.crc, 4, 9);
    wrong.value ^= 1;
    const auto result =
        VerifyPieces(checksum, {Piece(checksum.crc, 0, 4), wrong}, AsBytes(kDigits));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(result.error().message.find(checksum.expected), std::string::npos);
    EXPECT_NE(result.error().message.find("have CRC"), std::string::npos);
  }
}

TEST(ObjectChecksumTest, PiecesWithoutAValueAreComputedFromTheObject) {
  const ObjectChecksum& checksum = kChecksums[0];
  const std::vector<ChecksumPiece> pieces = {Piece(Crc::kCrc64Nvme, 0, 4), {{4, 9}, Crc::kNone, 0}};
  EXPECT_TRUE(VerifyPieces(checksum, pieces, AsBytes(kDigits)).ok());
  EXPECT_FALSE(VerifyPieces(checksum, pieces, AsBytes("123456780")).ok());
}

TEST(ObjectChecksumTest, CombinesPiecesOfARange) {
  const ByteView rest = AsBytes(kDigits).subspan(4);
  EXPECT_EQ(
      CombinePieces(Crc::kCrc32c, {{{6, 9}, Crc::kNone, 0}, Piece(Crc::kCrc32c, 4, 6)}, 4, rest),
      UpdateCrc(Crc::kCrc32c, rest, 0));
}

TEST(ObjectChecksumTest, PrefixEndsAtTheFirstGap) {
  const ObjectChecksum& checksum = kChecksums[1];
  const auto add = [](PiecewiseChecksum& object, std::uint64_t begin, std::uint64_t end) {
    return object.Add({begin, end}, Piece(Crc::kCrc32c, begin, end).value).ok();
  };
  PiecewiseChecksum object(checksum, kDigits.size());
  EXPECT_EQ(object.prefix()->bytes, 0u);
  EXPECT_TRUE(add(object, 5, 7));
  EXPECT_EQ(object.prefix()->bytes, 0u);
  EXPECT_TRUE(add(object, 0, 2));
  EXPECT_EQ(object.prefix()->bytes, 2u);
  EXPECT_TRUE(add(object, 2, 5));
  EXPECT_EQ(object.prefix()->bytes, 7u);
  EXPECT_EQ(object.prefix()->crc, Piece(Crc::kCrc32c, 0, 7).value);
  EXPECT_TRUE(add(object, 0, 2));
  EXPECT_FALSE(object.prefix().has_value());
}

TEST(ObjectChecksumTest, VerifiesTheEmptyObject) {
  EXPECT_TRUE(VerifyPieces({Crc::kCrc64Nvme, "AAAAAAAAAAA="}, {}, {}).ok());
  EXPECT_FALSE(VerifyPieces({Crc::kCrc64Nvme, "rosUhgp5mIg="}, {}, {}).ok());
}

TEST(ObjectChecksumTest, PrefersCrc64NvmeAndIgnoresOthers) {
  ObjectMetadata metadata;
  EXPECT_EQ(ChecksumOf(metadata).crc, Crc::kNone);
  metadata.checksums = {{"sha256", "x"}, {"crc32", "y/Q5Jg=="}};
  EXPECT_EQ(ChecksumOf(metadata).crc, Crc::kCrc32);
  metadata.checksums.emplace_back("crc64nvme", "rosUhgp5mIg=");
  EXPECT_EQ(ChecksumOf(metadata).crc, Crc::kCrc64Nvme);
  EXPECT_EQ(ChecksumOf(metadata).expected, "rosUhgp5mIg=");
}

TEST(ObjectChecksumTest, AcceptsEverythingWithoutAChecksum) {}

// Adds the pieces one by one and returns the result after each.
std::vector<bool> Verdicts(const ObjectChecksum& checksum,
                           const std::vector<ChecksumPiece>& pieces) {
  PiecewiseChecksum arrived(checksum, kDigits.size());
  std::vector<bool> verdicts;
  for (const ChecksumPiece& piece : pieces)
    verdicts.push_back(arrived.Add(piece.range, piece.value).ok());
  return verdicts;
}

TEST(PiecewiseChecksumTest, LastPieceInAnyOrderFails) {
  for (const ObjectChecksum& checksum : kChecksums) {
    std::vector<ChecksumPiece> pieces;
    for (const std::uint64_t begin : {0, 1, 4, 6}) {
      pieces.push_back(Piece(checksum.crc, begin,
                             begin == 0   ? 1
                             : begin == 1 ? 4
                             : begin == 4 ? 6
                                          : 9));
    }
    std::sort(pieces.begin(), pieces.end(),
              [](const auto& a, const auto& b) { return a.range < b.range; });
    do {
      EXPECT_EQ(Verdicts(checksum, pieces), std::vector<bool>(4, true));
      for (ChecksumPiece& wrong : pieces) {
        wrong.value ^= 1;
        EXPECT_EQ(Verdicts(checksum, pieces), (std::vector<bool>{true, true, true, false}));
        wrong.value ^= 1;
      }
    } while (std::next_permutation(pieces.begin(), pieces.end(),
                                   [](const auto& a, const auto& b) { return a.range < b.range; }));
  }
}

TEST(PiecewiseChecksumTest, ComparesOnlyIfPiecesCoverTheObjectOnce) {
  ObjectChecksum checksum = kChecksums[0];
  checksum.expected = "AAAAAAAAAAA=";
  const Crc crc = checksum.crc;
  EXPECT_EQ(Verdicts(checksum, {Piece(crc, 0, 4), Piece(crc, 5, 9)}),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(Verdicts(checksum, {Piece(crc, 0, 5), Piece(crc, 4, 9)}),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(Verdicts(checksum, {Piece(crc, 4, 9), Piece(crc, 4, 9), Piece(crc, 0, 4)}),
            (std::vector<bool>{true, true, true}));
  EXPECT_EQ(Verdicts(checksum, {{{0, 10}, crc, 1}, Piece(crc, 0, 9)}),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(Verdicts(checksum, {Piece(crc, 0, 9)}), (std::vector<bool>{false}));
}

}  // namespace
}  // namespace penstock::transfer
