#include "emulator/store/blobs/blob_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "emulator/store/store_testing.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class BlobMemoryTest : public ::testing::Test {
 protected:
  Content Write(std::string_view body, std::size_t piece, std::uint64_t hint) {
    const auto writer = NewMemoryBlobWriter(registry_, hint);
    for (std::size_t at = 0; at < body.size(); at += piece) {
      EXPECT_TRUE(writer->Append(AsBytes(body.substr(at, piece))).ok());
    }
    auto content = writer->Finish();
    EXPECT_TRUE(content.ok());
    return std::move(content).value();
  }
  std::shared_ptr<BlobRegistry> registry_ = std::make_shared<BlobRegistry>("", 1);
};

TEST_F(BlobMemoryTest, AnEmptyBodyHasNoSlices) { EXPECT_TRUE(Write("", 1, 0).slices.empty()); }

TEST_F(BlobMemoryTest, ASmallBodyOfKnownSizeIsOneSlice) {
  const std::string body = Body(100'000);
  const Content content = Write(body, 10'000, body.size());
  EXPECT_EQ(content.slices.size(), 1u);
  EXPECT_TRUE(content.slices[0].blob->Memory().has_value());
  EXPECT_EQ(Text(content), body);
}

TEST_F(BlobMemoryTest, AWrongSizeHintDoesNotChangeTheContent) {
  const std::string body = Body(100'000);
  for (const std::uint64_t hint :
       {std::uint64_t{1}, std::uint64_t{99'999}, std::uint64_t{1} << 60}) {
    EXPECT_EQ(Text(Write(body, 7'777, hint)), body) << hint;
  }
}

TEST_F(BlobMemoryTest, ALargeBodyCanBeSentFromADescriptor) {
  const std::string body = Body(600'000);
  for (const std::uint64_t hint : {std::uint64_t{0}, std::uint64_t{600'000}}) {
    const Content content = Write(body, 50'000, hint);
    ASSERT_EQ(content.slices.size(), 1u);
    EXPECT_GE(content.slices[0].blob->FileDescriptor(), 0);
    EXPECT_EQ(Text(content), body);
  }
}

TEST_F(BlobMemoryTest, ALargeBodyStaysOnTheHeapWhenDescriptorsRunOut) {
  std::vector<DescriptorShare> all;
  for (std::int64_t i = 0; i < DescriptorShare::Limit(); ++i)
    all.push_back(DescriptorShare::Take());
  const std::string body = Body(600'000);
  const Content content = Write(body, 50'000, 0);
  EXPECT_GT(content.slices.size(), 1u);
  EXPECT_EQ(content.slices[0].blob->FileDescriptor(), -1);
  EXPECT_EQ(Text(content), body);
}

}  // namespace
}  // namespace penstock::emulator::store
