#include "emulator/faults/actions/replayed_body.h"

#include <array>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

class TextBody final : public s3::BodyReader {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> Read(MutableByteView buffer) override {
    const std::size_t count = std::min(buffer.size(), text_.size() - at_);
    std::memcpy(buffer.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> Length() const override { return text_.size(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return trailers_;
  }

 private:
  const std::string text_;
  std::size_t at_ = 0;
  const std::vector<std::pair<std::string, std::string>> trailers_{{"x-amz-checksum-crc32", "v"}};
};

std::string ReadAll(s3::BodyReader& body, std::size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  while (const std::size_t got =
             body.Read({reinterpret_cast<std::byte*>(buffer.data()), buffer.size()}).value())
    all.append(buffer, 0, got);
  return all;
}

TEST(ReplayedBodyTest, RepeatsTheBody) {
  TextBody inner("0123456789");
  KeptBody kept(inner);
  EXPECT_EQ(ReadAll(kept, 3), "0123456789");
  ASSERT_TRUE(kept.whole());
  RepeatedBody repeated(kept, kept);
  EXPECT_EQ(repeated.Length(), 10U);
  EXPECT_EQ(repeated.Trailers().size(), 1U);
  EXPECT_EQ(ReadAll(repeated, 4), "0123456789");
}

TEST(ReplayedBodyTest, LongBodyIsReadButNotKept) {
  TextBody inner(std::string(KeptBody::kMost + 1, 'x'));
  KeptBody kept(inner);
  EXPECT_EQ(ReadAll(kept, 1 << 20).size(), KeptBody::kMost + 1);
  EXPECT_FALSE(kept.whole());
  EXPECT_TRUE(kept.kept().empty());
}

}  // namespace
}  // namespace penstock::emulator::faults
