#include "emulator/faults/actions/replayed_body.h"

#include <array>

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

std::string ReadAll(s3::BodyReader& body, std::size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  while (const std::size_t got =
             body.Read({reinterpret_cast<std::byte*>(buffer.data()), buffer.size()}).value())
    all.append(buffer, 0, got);
  return all;
}

TEST(ReplayedBodyTest, RepeatsTheBody) {
  TextBody inner;
  inner.text = "0123456789";
  inner.trailers = {{"x-amz-checksum-crc32", "v"}};
  KeptBody kept(inner, nullptr);
  EXPECT_EQ(ReadAll(kept, 3), "0123456789");
  ASSERT_TRUE(kept.whole());
  RepeatedBody repeated(kept, kept);
  EXPECT_EQ(repeated.Length(), 10U);
  EXPECT_EQ(repeated.Trailers().size(), 1U);
  EXPECT_EQ(ReadAll(repeated, 4), "0123456789");
}

TEST(ReplayedBodyTest, LongBodyIsReadButNotKept) {
  TextBody inner;
  inner.text.assign(KeptBody::kMax + 1, 'x');
  KeptBody kept(inner, nullptr);
  EXPECT_EQ(ReadAll(kept, 1 << 20).size(), KeptBody::kMax + 1);
  EXPECT_FALSE(kept.whole());
  EXPECT_TRUE(kept.pieces().empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
