#include "emulator/faults/actions/torn_store.h"

#include "emulator/store/store_testing.h"

namespace penstock::emulator::faults {
namespace {

using store::testing::kBucket;

class TornStoreTest : public testing::Test {
 protected:
  TornStoreTest() { store::testing::MakeBucket(*whole_); }
  store::PutObject Request(std::string_view body) { return store::testing::MakePut(*whole_, "key", body); }
  std::string Kept() { return store::testing::Get(*whole_, "key"); }

  const std::shared_ptr<store::Store> whole_ = store::testing::OpenStore({});
  int torn_ = 0;
  TornStore store_{whole_, 4, [this] { ++torn_; }};
};

TEST_F(TornStoreTest, TheFirstBytesAreKept) {
  auto request = Request("0123456789");
  const ETag told = request.record.etag;
  ASSERT_TRUE(store_.Put(std::move(request)).ok());
  EXPECT_EQ(Kept(), "0123");
  const store::ObjectPtr object = whole_->FindObject(kBucket, ObjectKey("key")).value();
  EXPECT_EQ(object->size, 4U);
  EXPECT_EQ(object->etag.value, told.value);
  EXPECT_EQ(torn_, 1);
}

TEST_F(TornStoreTest, WhatIsNoLongerIsKeptWhole) {
  ASSERT_TRUE(store_.Put(Request("0123")).ok());
  EXPECT_EQ(Kept(), "0123");
  EXPECT_EQ(torn_, 0);
}

}  // namespace
}  // namespace penstock::emulator::faults
