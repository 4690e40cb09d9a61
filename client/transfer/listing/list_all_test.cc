#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "penstock/object_list.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

std::vector<std::string> KeysOf(const ObjectList& list) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < list.size(); ++i) keys.push_back(list[i].key.value);
  return keys;
}

class ListAllTest : public ::testing::TestWithParam<Completion> {
 protected:
  static ListObjectsRequest Request(std::string prefix = "") {
    ListObjectsRequest request;
    request.bucket = kBucket;
    request.prefix = std::move(prefix);
    request.max_keys = 3;
    return request;
  }

  void Fill(const std::set<std::string>& keys) {
    for (const std::string& key : keys) Put(*inner_, {}, ObjectKey(key));
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
};

TEST_P(ListAllTest, ParallelPrefixesGiveTheSameListing) {
  std::mt19937 random(5);
  std::set<std::string> keys{"!", "a", "a/", "a//", "a/b", "a0", "b/", "~", "z/z/z"};
  while (keys.size() < 150) {
    std::string key;
    for (std::size_t length = 1 + random() % 6; length > 0; --length)
      key += "ab/.\xC3"[random() % 4];
    keys.insert(key);
  }
  Fill(keys);
  for (const std::string prefix : {"", "a", "a/", "b", "none"}) {
    const auto serial = ListAll(inner_, Request(prefix));
    ASSERT_TRUE(serial.ok()) << serial.error().message;
    std::vector<std::string> expected;
    for (const std::string& key : keys) {
      if (key.starts_with(prefix)) expected.push_back(key);
    }
    EXPECT_EQ(KeysOf(*serial), expected);
    for (const int parallel : {1, 2, 16, 1000}) {
      const auto list = ListAll(inner_, Request(prefix), {.delimiter = "/", .parallel = parallel});
      ASSERT_TRUE(list.ok()) << list.error().message;
      EXPECT_EQ(KeysOf(*list), expected) << "prefix " << prefix << ", " << parallel << " at a time";
    }
  }
}

TEST_P(ListAllTest, ErrorBelowAPrefixFailsTheListing) {
  Fill({"a/1", "b/1", "c/1"});
  const auto store = std::make_shared<FaultyObjectStore>(
      inner_, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.ordinal == 2) return MakeFault(ErrorKind::kUnavailable);
        return std::nullopt;
      });
  const auto list = ListAll(store, Request(), {.delimiter = "/"});
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().kind, ErrorKind::kUnavailable);
}

TEST_P(ListAllTest, CostsOneMoreRequestPerPrefix) {
  Fill({"a/1", "a/2", "b/1", "c"});
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  ASSERT_TRUE(ListAll(store, Request(), {.delimiter = "/"}).ok());
  EXPECT_EQ(store->count("ListObjectsV2"), 3u);
}

INSTANTIATE_TEST_SUITE_P(Completions, ListAllTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
