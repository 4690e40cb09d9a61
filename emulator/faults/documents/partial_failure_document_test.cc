#include "emulator/faults/documents/partial_failure_document.h"

#include "emulator/faults/documents/action_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

Result<PartialFailureAction> Read(const char* text) {
  PENSTOCK_ASSIGN(Action action, ReadPartialFailure(Json::parse(text), "do.partial_failure"));
  return std::get<PartialFailureAction>(std::move(action));
}

TEST(PartialFailureDocumentTest, ReadsMembersWithDefaults) {
  const auto plain = Read("{}");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->code, "InternalError");
  EXPECT_TRUE(plain->keys.empty());
  EXPECT_EQ(plain->probability, 1);
  const auto all = Read(
      R"({"code": "SlowDown", "message": "m", "key": ["a/*", {"exactly": "b"}], "entries": "every 2", "most": 3, "probability": 0.5})");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->code, "SlowDown");
  EXPECT_EQ(all->message, "m");
  ASSERT_EQ(all->keys.size(), 2U);
  EXPECT_TRUE(all->keys[0].Matches("a/b"));
  EXPECT_FALSE(all->keys[1].Matches("bb"));
  EXPECT_TRUE(all->entries->Has(4));
  EXPECT_EQ(all->most, 3U);
  EXPECT_EQ(all->probability, 0.5);
  EXPECT_TRUE(Read(R"({"key": {"prefix": "p"}})")->keys.at(0).Matches("pq"));
}

TEST(PartialFailureDocumentTest, ErrorsNameTheField) {
  const auto problem = [](const char* text) { return Read(text).error().message; };
  EXPECT_EQ(problem(R"({"code": ""})"),
            "do.partial_failure.code: is empty; set an S3 error code such as SlowDown");
  EXPECT_EQ(problem(R"({"key": []})"),
            "do.partial_failure.key: is empty: remove it to match every key");
  EXPECT_TRUE(problem(R"({"key": ["a", 1]})").starts_with("do.partial_failure.key[1]: "))
      << problem(R"({"key": ["a", 1]})");
  EXPECT_EQ(problem(R"({"entries": 0})"),
            "do.partial_failure.entries: counts from 1: 0 never matches");
  EXPECT_EQ(
      problem(R"({"most": 0})"),
      "do.partial_failure.most: must be at least 1: the number of failing entries per request");
  EXPECT_EQ(problem(R"({"probability": 0})"),
            "do.partial_failure.probability: must be more than 0 and at most 1");
  EXPECT_FALSE(Read(R"({"keys": "a"})").ok());
}

TEST(PartialFailureDocumentTest, IsAllowedOnlyBeforeTheCommit) {
  EXPECT_EQ(ReadAction(Json::parse(R"({"partial_failure": {}})"), "do")->at.stage,
            Stage::kBeforeCommit);
  EXPECT_FALSE(
      ReadAction(Json::parse(R"({"partial_failure": {}, "at": "after_commit"})"), "do").ok());
}

}  // namespace
}  // namespace penstock::emulator::faults
