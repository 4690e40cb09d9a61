#include "emulator/faults/documents/commit_action_document.h"

#include "emulator/faults/documents/action_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

Result<TimedAction> Read(const std::string& text) {
  return ReadAction(ParseJson(text).value(), "do");
}
std::string Problem(const std::string& text) {
  const auto action = Read(text);
  return action.ok() ? std::string() : action.error().message;
}

TEST(CommitActionDocumentTest, ActionsHappenAtTheCommit) {
  const auto duplicate = Read(R"({"duplicate_apply": {"answer": "first"}})");
  EXPECT_EQ(std::get<DuplicateAction>(duplicate->action).answer, DuplicateAction::Answer::kFirst);
  EXPECT_EQ(duplicate->at.stage, Stage::kBeforeCommit);
  EXPECT_EQ(std::get<DuplicateAction>(Read(R"({"duplicate_apply": {}})")->action).answer,
            DuplicateAction::Answer::kSecond);
  EXPECT_EQ(std::get<CommitPartialAction>(
                Read(R"({"commit_partial": {"bytes": 0, "unlike_s3": true}})")->action)
                .bytes,
            0U);
  EXPECT_EQ(std::get<DelayVisibilityAction>(
                Read(R"({"delay_visibility": {"ms": 5, "unlike_s3": true}})")->action)
                .time.count(),
            5);
  EXPECT_EQ(Problem(R"({"duplicate_apply": {}, "at": "headers"})"),
            "do.at: 'duplicate_apply' cannot happen at 'headers'");
}

TEST(CommitActionDocumentTest, UnlikeS3FlagIsRequired) {
  for (const std::string given : {"", R"(, "unlike_s3": false)"}) {
    EXPECT_EQ(Problem(R"({"commit_partial": {"bytes": 3)" + given + "}}"),
              "do.commit_partial.unlike_s3: must be true, because no correct S3 server does this; "
              "add \"unlike_s3\": true");
    EXPECT_NE(
        Problem(R"({"delay_visibility": {"ms": 3)" + given + "}}").find("unlike_s3: must be true"),
        std::string::npos);
  }
}

TEST(CommitActionDocumentTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(Problem(R"({"duplicate_apply": {"answer": "third"}})"),
            "do.duplicate_apply.answer: must be one of second, first, not 'third'");
  EXPECT_EQ(Problem(R"({"commit_partial": {"unlike_s3": true}})"),
            "do.commit_partial.bytes: is missing: set the number of bytes to keep");
  EXPECT_EQ(Problem(R"({"delay_visibility": {"unlike_s3": true}})"),
            "do.delay_visibility.ms: is missing: set the time in milliseconds");
  EXPECT_EQ(Problem(R"({"delay_visibility": {"ms": 0, "unlike_s3": true}})"),
            "do.delay_visibility.ms: must be 1 to 3600000 milliseconds, not 0");
}

}  // namespace
}  // namespace penstock::emulator::faults
