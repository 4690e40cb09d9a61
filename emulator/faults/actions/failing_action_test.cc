#include "emulator/faults/actions/failing_action.h"

#include <gtest/gtest.h>

namespace penstock::emulator::faults {
namespace {

TEST(FailingActionTest, RetryableErrorsFailAnAttempt) {
  for (const int status : {408, 429, 500, 502, 503})
    EXPECT_TRUE(FailsAttempt(ErrorAction{.status = status, .code = "X"})) << status;
  for (const char* code : {"RequestTimeout", "ExpiredToken"})
    EXPECT_TRUE(FailsAttempt(ErrorAction{.status = 400, .code = code})) << code;
  EXPECT_FALSE(FailsAttempt(ErrorAction{.status = 404, .code = "NoSuchKey"}));
  EXPECT_FALSE(FailsAttempt(ErrorAction{.status = 403, .code = "AccessDenied"}));
}

TEST(FailingActionTest, LostAndCorruptedResponsesFailAnAttempt) {
  for (const DropKind kind :
       {DropKind::kReset, DropKind::kFin, DropKind::kHalfClose, DropKind::kHang}) {
    EXPECT_TRUE(FailsAttempt(DropAction{.kind = kind}));
  }
  EXPECT_TRUE(FailsAttempt(TruncateAction{}));
  EXPECT_TRUE(FailsAttempt(LateErrorAction{}));
  EXPECT_TRUE(FailsAttempt(RedirectAction{}));
  EXPECT_TRUE(FailsAttempt(CredentialsAction{}));
  EXPECT_TRUE(FailsAttempt(CorruptAction{}));
  EXPECT_TRUE(FailsAttempt(ContinueAction{.kind = ContinueAction::Kind::kRefuse}));
}

TEST(FailingActionTest, DelayedAndMisreportedResponsesDoNotFailAnAttempt) {
  EXPECT_FALSE(FailsAttempt(StallAction{}));
  EXPECT_FALSE(FailsAttempt(LatencyAction{}));
  EXPECT_FALSE(FailsAttempt(PaceAction{}));
  EXPECT_FALSE(FailsAttempt(HeaderAction{}));
  EXPECT_FALSE(FailsAttempt(PartialFailureAction{}));
  EXPECT_FALSE(FailsAttempt(SkewAction{}));
  EXPECT_FALSE(FailsAttempt(CorruptAction{.fix_checksum = true}));
  EXPECT_FALSE(FailsAttempt(ContinueAction{.kind = ContinueAction::Kind::kLate}));
}

}  // namespace
}  // namespace penstock::emulator::faults
