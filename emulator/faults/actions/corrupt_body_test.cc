#include "emulator/faults/actions/corrupt_body.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

class Bytes final : public store::Blob {
 public:
  explicit Bytes(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::optional<ByteView> Memory() const override { return AsBytes(text_); }
  int FileDescriptor() const override { return -1; }

 private:
  const std::string text_;
};

// "0123456789" in three slices.
s3::Response Sliced() {
  s3::Response response;
  const auto blob = std::make_shared<Bytes>("xx0123456789xx");
  response.body = store::Content{{{blob, {2, 5}}, {blob, {5, 6}}, {blob, {6, 12}}}};
  return response;
}

std::string TextOf(const s3::Response& response) {
  if (const auto* text = std::get_if<std::string>(&response.body)) return *text;
  std::string text(s3::BodySize(response), '?');
  EXPECT_TRUE(store::ReadContent(std::get<store::Content>(response.body), 0,
                                 {reinterpret_cast<std::byte*>(text.data()), text.size()})
                  .ok());
  return text;
}

TEST(CorruptBodyTest, CorruptsSlicesAndTextsAlike) {
  for (const CorruptKind kind : {CorruptKind::kFlipBit, CorruptKind::kZero,
                                 CorruptKind::kRepeatBlock, CorruptKind::kSwapHalves}) {
    for (std::uint64_t offset = 0; offset < 10; ++offset) {
      for (const std::uint64_t length : {1, 2, 5, 100}) {
        s3::Response slices = Sliced();
        s3::Response text;
        text.body = std::string("0123456789");
        const bool wrong = Corrupt(slices, offset, {.kind = kind, .length = length});
        EXPECT_EQ(wrong, TextOf(slices) != "0123456789");
        EXPECT_EQ(Corrupt(text, offset, {.kind = kind, .length = length}), wrong);
        EXPECT_EQ(TextOf(slices), TextOf(text));
        EXPECT_EQ(s3::BodySize(slices), 10U);
        EXPECT_EQ(TextOf(slices).substr(0, offset), std::string("0123456789").substr(0, offset));
      }
    }
  }
}

TEST(CorruptBodyTest, ShortBodyIsUnchanged) {
  s3::Response response = Sliced();
  EXPECT_FALSE(Corrupt(response, 10, {}));
  EXPECT_EQ(TextOf(response), "0123456789");
  s3::Response none;
  EXPECT_FALSE(Corrupt(none, 0, {}));
}

TEST(CorruptBodyTest, ReportsNoCorruptionIfBytesDoNotChange) {
  for (const CorruptKind kind :
       {CorruptKind::kZero, CorruptKind::kRepeatBlock, CorruptKind::kSwapHalves}) {
    s3::Response zeros;
    zeros.body = std::string(100, '\0');
    EXPECT_FALSE(Corrupt(zeros, 10, {.kind = kind, .length = 8, .fix_checksum = true}));
    EXPECT_EQ(TextOf(zeros), std::string(100, '\0'));
  }
}

TEST(CorruptBodyTest, FixesChecksumsOfWholeBody) {
  s3::Response response = Sliced();
  response.Add("x-amz-checksum-crc32", "AAAAAA==");
  response.Add("x-amz-checksum-sha1", "composite-2");
  response.Add("ETag", "\"781e5e245d69b566979b86e28d23f2c7\"");
  ASSERT_TRUE(Corrupt(response, 0, {.fix_checksum = true}));
  // python3: base64.b64encode(zlib.crc32(b"1123456789").to_bytes(4, "big")),
  // hashlib.md5(b"1123456789").hexdigest()
  EXPECT_EQ(response.Find("x-amz-checksum-crc32"), "SUas+A==");
  EXPECT_EQ(response.Find("x-amz-checksum-sha1"), "composite-2");
  EXPECT_EQ(response.Find("ETag"), "\"5c2ac85eb3834d3adb2289aa92f60457\"");
}

TEST(CorruptBodyTest, FixesChecksumsOfPartsAndTheETagOfAPartThatIsTheWholeObject) {
  for (const bool whole : {true, false}) {
    s3::Response response = Sliced();
    response.status = 206;
    response.Add("Content-Range", whole ? "bytes 0-9/10" : "bytes 0-9/20");
    response.Add("x-amz-checksum-crc32", "AAAAAA==");
    response.Add("ETag", "\"781e5e245d69b566979b86e28d23f2c7\"");
    ASSERT_TRUE(Corrupt(response, 0, {.fix_checksum = true}));
    EXPECT_EQ(response.Find("x-amz-checksum-crc32"), "SUas+A==");
    EXPECT_EQ(response.Find("ETag"), whole ? "\"5c2ac85eb3834d3adb2289aa92f60457\""
                                           : "\"781e5e245d69b566979b86e28d23f2c7\"");
  }
}

TEST(CorruptBodyTest, KeepsTheETagOfRangeResponses) {
  s3::Response response = Sliced();
  response.status = 206;
  response.Add("Content-Range", "bytes 10-19/20");
  response.Add("ETag", "\"781e5e245d69b566979b86e28d23f2c7\"");
  ASSERT_TRUE(Corrupt(response, 0, {.fix_checksum = true}));
  EXPECT_EQ(response.Find("ETag"), "\"781e5e245d69b566979b86e28d23f2c7\"");
}

TEST(CorruptBodyTest, TruncateBodyKeepsFirstBytes) {
  s3::Response slices = Sliced();
  TruncateBody(slices, 4);
  EXPECT_EQ(TextOf(slices), "0123");
  s3::Response text;
  text.body = std::string("abc");
  TruncateBody(text, 1);
  EXPECT_EQ(TextOf(text), "a");
}

}  // namespace
}  // namespace penstock::emulator::faults
