#include "emulator/json/json_tree.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "base/testing/allocations.h"

namespace penstock::emulator {
namespace {

constexpr int kMaxAllocations = 10'000;

constexpr std::string_view kNested =
    R"({"a": [[1, 2.5, "a text that does not fit into the string itself"], {"b": {"c": [true, null, -3]}}], "d": {}, "e": []})";

// Runs `code` while every allocation from the `first` on fails.
template <class Code>
void FailFrom(int first, Code code) {
  failures_last = true;
  allocations_until_failure = first;
  code();
  allocations_until_failure = -1;
  failures_last = false;
}

TEST(JsonTreeTest, HasTheValuesOfTheText) {
  for (const char* text : {kNested.data(), "7", "\"text\"", "[]", "null", "[[[[{\"a\": [1]}]]]]"}) {
    const auto tree = ParseJsonTree(text);
    ASSERT_TRUE(tree.ok()) << text;
    EXPECT_EQ(tree->root(), Json::parse(text)) << text;
  }
  EXPECT_FALSE(ParseJsonTree("[1").ok());
}

TEST(JsonTreeTest, IsDestroyedWithoutAllocation) {
  std::optional<JsonTree> tree = ParseJsonTree(kNested).value();
  FailFrom(0, [&] { tree.reset(); });
  EXPECT_FALSE(tree.has_value());
}

TEST(JsonTreeTest, ParsesOrThrowsWhereverMemoryRunsOut) {
  for (int nth = 0; nth < kMaxAllocations; ++nth) {
    bool failed = false;
    FailFrom(nth, [&] {
      try {
        failed = !ParseJsonTree(kNested).ok();
      } catch (const std::bad_alloc&) {
        failed = true;
      }
    });
    if (!failed) {
      EXPECT_GT(nth, 20);
      return;
    }
  }
  FAIL() << "parsing never succeeded";
}

TEST(JsonTreeTest, ObjectTextSucceedsOrThrowsWhereverMemoryRunsOut) {
  for (int nth = 0; nth < kMaxAllocations; ++nth) {
    std::string text;
    FailFrom(nth, [&] {
      try {
        text = JsonObjectText({{"error", "a text that does not fit into the string itself"},
                               {"code", 7},
                               {"yes", true}});
      } catch (const std::bad_alloc&) {
      }
    });
    if (text.empty()) continue;
    EXPECT_EQ(text,
              R"({"error":"a text that does not fit into the string itself","code":7,"yes":true})");
    EXPECT_GT(nth, 2);
    return;
  }
  FAIL() << "it never succeeded with enough memory";
}

}  // namespace
}  // namespace penstock::emulator
