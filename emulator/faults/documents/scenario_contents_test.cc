#include "emulator/faults/documents/scenario_contents.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::faults {
namespace {

std::string Times(std::size_t count, const std::function<std::string(std::size_t)>& item) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item(i);
  return text + "]";
}

std::string RuleText(const std::string& when) {
  return R"({"do":{"slow_down":{}},"when":)" + when + "}";
}

// Of one thread of a test program that has no other.
std::size_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

struct Case {
  std::string name;
  std::string text;
  bool close = false;  // The charge is at most four times what is taken.
};

class ScenarioMemoryTest : public ::testing::TestWithParam<Case> {
 protected:
  static std::shared_ptr<RunningScenario> Start(std::shared_ptr<store::MemoryLimit> limit) {
    auto scenario = ParseScenario(GetParam().text, std::move(limit));
    EXPECT_TRUE(scenario.ok()) << scenario.error().message;
    return RunningScenario::Start(std::move(scenario).value(), WallTime()).value();
  }
};

// A sanitizer's allocator reports no bytes.
TEST_P(ScenarioMemoryTest, ChargeCoversWhatTheScenarioTakes) {
  const auto limit = std::make_shared<store::MemoryLimit>(std::uint64_t{1} << 40);
  Start(nullptr).reset();  // fills the allocator's caches, which count as taken
  const std::size_t before = HeapBytes();
  const auto running = Start(limit);
  const std::size_t after = HeapBytes();
  const std::size_t taken = after - std::min(before, after);
  EXPECT_GE(limit->used_bytes(), taken);
  if (taken > 0 && GetParam().close) {
    EXPECT_LE(limit->used_bytes(), 4 * taken);
  }
}

std::string HeadersOfOneRule() {
  std::string members;
  for (int i = 0; i < 250; ++i) members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  return RuleText(R"({"header":{)" + members + "}}");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ScenarioMemoryTest,
    ::testing::Values(
        Case{"OneRule", Times(1, [](auto) { return RuleText("{}"); }), true},
        Case{"ManyRules", Times(1000, [](auto) { return RuleText("{}"); }), true},
        Case{"OneOperation",
             Times(900, [](auto) { return RuleText(R"({"operation":"GetObject"})"); }), true},
        Case{"EveryOperation", Times(500, [](auto) { return RuleText(R"({"operation":"*"})"); }),
             true},
        Case{"EveryOperationBesideRulesOfAny",
             Times(1000, [](auto i) { return RuleText(i == 0 ? R"({"operation":"*"})" : "{}"); })},
        Case{"HeadersNamedOperation", Times(1000,
                                            [](auto i) {
                                              return RuleText(
                                                  i == 0 ? R"({"operation":"*"})"
                                                         : R"({"header":{"operation":"x"}})");
                                            })},
        Case{"LongKeys", Times(100,
                               [](auto) {
                                 return RuleText(R"({"key":{"exactly":")" + std::string(5000, 'k') +
                                                 "\"}}");
                               })},
        Case{"Headers", Times(80, [](auto) { return HeadersOfOneRule(); })},
        Case{"FailingKeys", Times(20,
                                  [](auto) {
                                    return R"({"do":{"partial_failure":{"key":)" +
                                           Times(1000, [](auto) { return "\"\""; }) + "}}}";
                                  })},
        Case{"Traces", Times(20,
                             [](auto) {
                               return R"({"do":{"latency":{"trace_ms":)" +
                                      Times(10'000, [](auto) { return "1"; }) + "}}}";
                             })},
        Case{"Actions", Times(200,
                              [](auto) {
                                return R"({"do":)" +
                                       Times(100, [](auto) { return R"({"stall":{"ms":1}})"; }) +
                                       "}";
                              })},
        Case{
            "Expressions",
            Times(500, [](auto) { return RuleText(R"({"key":{"regex":"(a{30}){30}[^b]*x"}})"); })}),
    [](const auto& shape) { return shape.param.name; });

TEST(ScenarioMemory, IsRefusedBeforeAnythingIsBuiltAndReleasedWithTheScenario) {
  const auto limit = std::make_shared<store::MemoryLimit>(32 << 20);
  const auto expressions = [](std::size_t count) {
    return Times(count, [](auto) { return RuleText(R"({"key":{"regex":"a"}})"); });
  };
  const auto refused = ParseScenario(expressions(1000), limit);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(limit->used_bytes(), 0U);
  {
    const Scenario kept = ParseScenario(expressions(100), limit).value();
    const Scenario copy = kept;
    EXPECT_GE(limit->used_bytes(), 100 * Pattern::kMaxRegexBytes);
    EXPECT_FALSE(ParseScenario(expressions(100), limit).ok());
  }
  EXPECT_EQ(limit->used_bytes(), 0U);
  EXPECT_FALSE(ParseRetryTest(R"({"GetObject": )" +
                                  Times(1000, [](auto) { return R"({"slow_down": {}})"; }) + "}",
                              std::make_shared<store::MemoryLimit>(1 << 20))
                   .ok());
}

}  // namespace
}  // namespace penstock::emulator::faults
