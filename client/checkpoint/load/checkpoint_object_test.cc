#include "client/checkpoint/load/checkpoint_object.h"

#include <gtest/gtest.h>

#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/base/blocking.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::FaultyObjectStore;

class CheckpointObjectTest : public ::testing::Test {
 protected:
  std::shared_ptr<FaultyObjectStore> store_ =
      std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  LoadContext context_{store_, {}, {}};
};

TEST_F(CheckpointObjectTest, KnownBytesAreNotFetchedAgain) {
  Put(store_, "key", "0123456789");
  const auto object = CheckpointObject::Open(context_, kBucket, ObjectKey("key"), 4);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->size(), 10U);
  EXPECT_EQ(object->first(), "0123");
  const std::uint64_t before = store_->count("GetObject");
  EXPECT_EQ(*object->Read(context_, 1, 4), "123");
  EXPECT_EQ(store_->count("GetObject"), before);
  EXPECT_EQ(*object->Read(context_, 2, 8), "234567");
  EXPECT_EQ(*object->Read(context_, 10, 10), "");
  Put(store_, "key", "replaced..");
  EXPECT_EQ(object->Read(context_, 5, 8).error().kind, ErrorKind::kPreconditionFailed);
}

TEST_F(CheckpointObjectTest, PiecesAreReadIntoMemory) {
  Put(store_, "key", "0123456789");
  const auto object = CheckpointObject::Open(context_, kBucket, ObjectKey("key"), 4);
  std::string memory(3, '\0');
  ASSERT_TRUE(ReadPieces(context_, *object, {{5, Bytes(memory)}}).ok());
  EXPECT_EQ(memory, "567");
}

TEST_F(CheckpointObjectTest, IoThreadsAreRefused) {
  const IoThreadScope scope;
  EXPECT_EQ(CheckpointObject::Open(context_, kBucket, ObjectKey("key"), 4).error().kind,
            ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::checkpoint
