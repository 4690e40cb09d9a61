#include "client/s3/model/error_codes.h"

#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

TEST(ErrorCodesTest, CodesHaveKindsOfTheirOwn) {
  EXPECT_EQ(KindOfCode("NoSuchKey"), ErrorKind::kNotFound);
  EXPECT_EQ(KindOfCode("SlowDown"), ErrorKind::kThrottled);
  EXPECT_EQ(KindOfCode("AuthFailure"), std::nullopt) << "its kind is that of the status";
  EXPECT_EQ(KindOfCode("Unheard"), std::nullopt);
  EXPECT_EQ(KindOfCode(""), std::nullopt);
}

TEST(ErrorCodesTest, StatusesWithoutACodeHaveAKindAndAText) {
  EXPECT_EQ(KindOfStatus(404), ErrorKind::kNotFound);
  EXPECT_EQ(StatusText(404), "not found");
  EXPECT_EQ(KindOfStatus(507), ErrorKind::kResourceExhausted);
  EXPECT_EQ(StatusText(507), "unexpected status");
}

TEST(ErrorCodesTest, OtherStatusesFollowTheirClass) {
  EXPECT_EQ(KindOfStatus(418), ErrorKind::kInvalidArgument);
  EXPECT_EQ(KindOfStatus(599), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOfStatus(600), ErrorKind::kInternal);
  EXPECT_EQ(KindOfStatus(200), ErrorKind::kInternal);
}

TEST(ErrorCodesTest, EachTraitHasItsCodes) {
  using enum CodeTrait;
  EXPECT_TRUE(HasTrait("SlowDown", kThrottling));
  EXPECT_TRUE(HasTrait("PriorRequestNotComplete", kThrottling));
  EXPECT_TRUE(HasTrait("RequestTimeoutException", kTransient));
  EXPECT_TRUE(HasTrait("BadDigest", kTransientBy400));
  EXPECT_TRUE(HasTrait("AuthorizationHeaderMalformed", kOtherRegion));
  EXPECT_TRUE(HasTrait("InvalidAccessKeyId", kStaleCredentials));
  EXPECT_TRUE(HasTrait("AuthFailure", kWrongClock));
}

TEST(ErrorCodesTest, ACodeHasOnlyTheTraitsOfItsRow) {
  using enum CodeTrait;
  EXPECT_TRUE(HasTrait("RequestTimeout", kTransient));
  EXPECT_TRUE(HasTrait("RequestTimeout", kTransientBy400));
  EXPECT_FALSE(HasTrait("RequestTimeout", kThrottling));
  EXPECT_FALSE(HasTrait("RequestTimeoutException", kTransientBy400));
  EXPECT_FALSE(HasTrait("TemporaryRedirect", kOtherRegion)) << "the status 307 says it";
  EXPECT_FALSE(HasTrait("Unheard", kThrottling));
}

TEST(ErrorCodesTest, TheReasonOfARetryFollowsFromTheError) {
  using enum ErrorKind;
  const auto reason = [](ErrorKind kind, int status, std::string code, bool complete = true) {
    Error error = Error::Make(kind, "m");
    error.http_status = status;
    error.code = std::move(code);
    return RetryReasonName(ReasonOf(error, complete));
  };
  EXPECT_EQ(reason(kThrottled, 503, "SlowDown"), "throttled");
  EXPECT_EQ(reason(kThrottled, 503, "SlowDown", false), "throttled");
  EXPECT_EQ(reason(kUnavailable, 503, "ServiceUnavailable"), "server_error");
  EXPECT_EQ(reason(kUnavailable, 500, "500", false), "server_error");
  EXPECT_EQ(reason(kUnavailable, 200, "InternalError"), "server_error");
  EXPECT_EQ(reason(kTimeout, 0, "", false), "timeout");
  EXPECT_EQ(reason(kUnavailable, 400, "RequestTimeout"), "timeout");
  EXPECT_EQ(reason(kUnavailable, 408, ""), "timeout");
  EXPECT_EQ(reason(kUnavailable, 0, "", false), "connection");
  EXPECT_EQ(reason(kUnavailable, 206, "", false), "connection");
  EXPECT_EQ(reason(kDataLoss, 400, "BadDigest"), "data_loss");
  EXPECT_EQ(reason(kDataLoss, 200, ""), "data_loss");
  EXPECT_EQ(reason(kUnsupported, 200, ""), "invalid_response");
}

}  // namespace
}  // namespace penstock::s3
