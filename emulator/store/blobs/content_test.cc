#include "emulator/store/blobs/content.h"

#include <gtest/gtest.h>

#include <string>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

class TextBlob final : public Blob {
 public:
  explicit TextBlob(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::optional<ByteView> Memory() const override { return AsBytes(text_); }
  int FileDescriptor() const override { return -1; }

 private:
  std::string text_;
};

class LostBlob final : public Blob {
 public:
  std::uint64_t size() const override { return 5; }
  std::optional<ByteView> Memory() const override { return std::nullopt; }
  int FileDescriptor() const override { return -1; }
};

const Content kContent{
    {{std::make_shared<TextBlob>("xabcx"), {1, 4}}, {std::make_shared<TextBlob>("defgh"), {0, 5}}}};

TEST(Content, SubReturnsAnyRange) {
  const std::string whole = "abcdefgh";
  for (std::uint64_t begin = 0; begin <= 8; ++begin) {
    for (std::uint64_t end = begin; end <= 8; ++end) {
      EXPECT_EQ(testing::Text(kContent.Sub({begin, end})), whole.substr(begin, end - begin))
          << begin << ' ' << end;
    }
  }
}

TEST(Content, ReadsAcrossSlices) {
  std::string text(4, '\0');
  ASSERT_TRUE(
      ReadContent(kContent, 2, {reinterpret_cast<std::byte*>(text.data()), text.size()}).ok());
  EXPECT_EQ(text, "cdef");
}

TEST(Content, ReadingBeyondTheEndIsAnError) {
  std::string text(4, '\0');
  EXPECT_FALSE(
      ReadContent(kContent, 5, {reinterpret_cast<std::byte*>(text.data()), text.size()}).ok());
}

TEST(Content, AnUnreadableFileIsAnInternalError) {
  const Content lost{{{std::make_shared<LostBlob>(), {0, 5}}}};
  std::string text(5, '\0');
  const auto read = ReadContent(lost, 0, {reinterpret_cast<std::byte*>(text.data()), text.size()});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kInternal);
}

}  // namespace
}  // namespace penstock::emulator::store
