#include "emulator/faults/actions/truncated_write_store.h"

#include "emulator/store/store_testing.h"

namespace penstock::emulator::faults {
namespace {

using store::testing::kBucket;

class TruncatedWriteStoreTest : public testing::Test {
 protected:
  TruncatedWriteStoreTest() { store::testing::MakeBucket(*whole_); }
  store::PutObject Request(std::string_view body) {
    return store::testing::MakePut(*whole_, "key", body);
  }
  std::string Kept() { return store::testing::Get(*whole_, "key"); }

  const std::shared_ptr<store::Store> whole_ = store::testing::OpenStore({});
  int torn_ = 0;
  TruncatedWriteStore store_{whole_, 4, [this] { ++torn_; }};
};

TEST_F(TruncatedWriteStoreTest, KeepsFirstBytes) {
  auto request = Request("0123456789");
  const ETag told = request.record.etag;
  ASSERT_TRUE(store_.Put(std::move(request)).ok());
  EXPECT_EQ(Kept(), "0123");
  const store::ObjectPtr object = whole_->FindObject(kBucket, ObjectKey("key")).value();
  EXPECT_EQ(object->size, 4U);
  EXPECT_EQ(object->etag.value, told.value);
  EXPECT_EQ(torn_, 1);
}

TEST_F(TruncatedWriteStoreTest, KeepsShortBodiesWhole) {
  ASSERT_TRUE(store_.Put(Request("0123")).ok());
  EXPECT_EQ(Kept(), "0123");
  EXPECT_EQ(torn_, 0);
}

}  // namespace
}  // namespace penstock::emulator::faults
