#include "emulator/server/namespaces/open_stores.h"

#include <gtest/gtest.h>

#include <memory>

namespace penstock::emulator::server {
namespace {

class Member final : public OpenStores::Member, public std::enable_shared_from_this<Member> {
 public:
  Member(OpenStores& stores, int used) : stores_(stores), used_(used) {}
  void Open() {
    stores_.MakeRoom();
    stores_.Add(weak_from_this());
    open = true;
  }
  bool CloseIfIdle() override {
    if (busy) return false;
    open = false;
    stores_.Remove(weak_from_this());
    return true;
  }
  MonotonicTime last_used() const override { return MonotonicTime(std::chrono::seconds(used_)); }

  bool open = false;
  bool busy = false;

 private:
  OpenStores& stores_;
  const int used_;
};

class OpenStoresTest : public testing::Test {
 protected:
  std::shared_ptr<Member> Open(int used, bool busy = false) {
    auto member = std::make_shared<Member>(stores_, used);
    member->busy = busy;
    member->Open();
    return member;
  }
  OpenStores stores_{2};
};

TEST_F(OpenStoresTest, ClosesTheLeastRecentlyUsedStore) {
  const auto young = Open(3);
  const auto old = Open(1);
  const auto next = Open(2);
  EXPECT_TRUE(young->open);
  EXPECT_FALSE(old->open);
  EXPECT_TRUE(next->open);
  EXPECT_EQ(stores_.count(), 2u);
}

TEST_F(OpenStoresTest, StoreInUseStaysOpenBeyondTheLimit) {
  const auto busy = Open(1, true);
  const auto idle = Open(2);
  const auto third = Open(3, true);
  EXPECT_TRUE(busy->open);
  EXPECT_FALSE(idle->open);
  const auto fourth = Open(4, true);
  EXPECT_TRUE(third->open);
  EXPECT_EQ(stores_.count(), 3u);
}

TEST_F(OpenStoresTest, DestroyedStoreDoesNotCount) {
  const auto first = Open(1);
  Open(2);
  const auto third = Open(3);
  EXPECT_TRUE(first->open);
  EXPECT_EQ(stores_.count(), 2u);
}

TEST(OpenStoresLimitTest, LeavesDescriptorsForOthers) {
  EXPECT_GE(OpenStores::DefaultMax(), 8u);
  EXPECT_LE(OpenStores::DefaultMax(), 256u);
}

}  // namespace
}  // namespace penstock::emulator::server
