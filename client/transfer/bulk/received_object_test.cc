#include "client/transfer/bulk/received_object.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace penstock::transfer {
namespace {

ReceivedObject ObjectOf(std::uint64_t size) {
  return ReceivedObject({BucketName("data"), ObjectKey("key"), size, ETag("one"), "path"});
}

ObjectMetadata Metadata(const char* etag, std::uint64_t size) {
  ObjectMetadata metadata;
  metadata.etag = ETag(etag);
  metadata.size = size;
  return metadata;
}

void Receive(ReceivedObject& object, ByteView bytes) {
  while (!bytes.empty()) {
    const MutableByteView window = object.Window();
    const std::size_t count = std::min<std::size_t>({window.size(), bytes.size(), 3});
    std::copy_n(bytes.begin(), count, window.begin());
    ASSERT_TRUE(object.Commit(count).ok());
    bytes = bytes.subspan(count);
  }
}

TEST(ReceivedObjectTest, KeepsTheBytesOfTheLastResponse) {
  for (const auto memory :
       {ReceivedObject::Memory::kInBudget, ReceivedObject::Memory::kOutsideIt}) {
    ReceivedObject object = ObjectOf(8);
    ASSERT_TRUE(object.TakeMemory(memory).value());
    ASSERT_TRUE(object.Begin(Metadata("one", 8), 8).ok());
    Receive(object, AsBytes("wrong"));
    ASSERT_TRUE(object.Begin(Metadata("one", 8), 8).ok());
    Receive(object, AsBytes("received"));
    EXPECT_TRUE(object.Window().empty());
    EXPECT_TRUE(object.CheckComplete(Metadata("one", 8)).ok());
    EXPECT_TRUE(std::ranges::equal(object.bytes(), AsBytes("received")));
    object.ReleaseMemory();
    EXPECT_TRUE(object.bytes().empty());
  }
}

TEST(ReceivedObjectTest, RefusesAnotherVersion) {
  ReceivedObject object = ObjectOf(8);
  ASSERT_TRUE(object.TakeMemory(ReceivedObject::Memory::kInBudget).value());
  EXPECT_EQ(object.Begin(Metadata("two", 8), 8).error().kind, ErrorKind::kPreconditionFailed);
  const Error error = object.Begin(Metadata("one", 9), 9).error();
  EXPECT_EQ(error.kind, ErrorKind::kDataLoss) << "one ETag has one size";
  EXPECT_NE(error.message.find("8 bytes in the listing"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("has 9"), std::string::npos) << error.message;
}

TEST(ReceivedObjectTest, RefusesAnIncompleteBody) {
  ReceivedObject object = ObjectOf(8);
  ASSERT_TRUE(object.TakeMemory(ReceivedObject::Memory::kInBudget).value());
  ASSERT_TRUE(object.Begin(Metadata("one", 8), 8).ok());
  Receive(object, AsBytes("part"));
  EXPECT_EQ(object.CheckComplete(Metadata("one", 8)).error().kind, ErrorKind::kDataLoss);
}

// A store may complete an empty body without a call of Begin.
TEST(ReceivedObjectTest, ChecksTheVersionOfAnEmptyObject) {
  ReceivedObject object = ObjectOf(0);
  ASSERT_TRUE(object.TakeMemory(ReceivedObject::Memory::kInBudget).value());
  EXPECT_TRUE(object.CheckComplete(Metadata("one", 0)).ok());
  EXPECT_EQ(object.CheckComplete(Metadata("two", 0)).error().kind, ErrorKind::kPreconditionFailed);
}

}  // namespace
}  // namespace penstock::transfer
