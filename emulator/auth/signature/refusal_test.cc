#include "emulator/auth/signature/refusal.h"

#include <gtest/gtest.h>

namespace penstock::emulator::auth {
namespace {

std::string Names(const Error& error) {
  std::string names;
  for (const auto& detail : error.details) names += (names.empty() ? "" : ",") + detail.first;
  return names;
}

TEST(RefusalTest, SignatureMismatchShowsBothSidesAndTheirBytes) {
  const Error error = SignatureDoesNotMatch({.access_key_id = "AK",
                                             .string_to_sign = "AWS4\n",
                                             .signature_provided = "ff",
                                             .canonical_request = "GET"});
  EXPECT_EQ(error.http_status, 403);
  EXPECT_EQ(Names(error),
            "AWSAccessKeyId,StringToSign,SignatureProvided,StringToSignBytes,CanonicalRequest,"
            "CanonicalRequestBytes");
  EXPECT_EQ(error.details[3].second, "41 57 53 34 0a");
  EXPECT_EQ(error.details[5].second, "47 45 54");
}

TEST(RefusalTest, ChunkErrorHasNoCanonicalRequest) {
  const Error error = SignatureDoesNotMatch({.access_key_id = "AK",
                                             .string_to_sign = "x",
                                             .signature_provided = "ff",
                                             .canonical_request = {}});
  EXPECT_EQ(Names(error), "AWSAccessKeyId,StringToSign,SignatureProvided,StringToSignBytes");
}

TEST(RefusalTest, LengthMismatchNamesBothNumbers) {
  const Error error = BodyLengthMismatch(5, 7);
  EXPECT_EQ(error.code, "IncompleteBody");
  EXPECT_EQ(error.http_status, 400);
  EXPECT_EQ(Names(error), "NumberBytesExpected,NumberBytesProvided");
}

// Regression: there were two tables, and a skewed clock was kAccessDenied in one and
// kUnauthenticated in the other.
TEST(RefusalTest, KindAndStatusComeFromTheErrorTable) {
  for (const Error& error :
       {AccessDenied("x"), InvalidArgument("x", "y"), RequestTimeTooSkewed("x", WallTime()),
        VersionTwoRefused(), BodyTerminated(), BodyLengthMismatch(1, 2), MalformedTrailer(),
        SignatureDoesNotMatch({})}) {
    const s3::ErrorInfo* const info = s3::FindErrorInfo(error.code);
    ASSERT_NE(info, nullptr) << error.code;
    EXPECT_EQ(error.kind, info->kind) << error.code;
    EXPECT_EQ(error.http_status, info->status) << error.code;
  }
}

TEST(RefusalTest, TimesHaveNoFraction) {
  EXPECT_EQ(FormatSeconds(WallTime(std::chrono::milliseconds(1369353600999))),
            "2013-05-24T00:00:00Z");
}

}  // namespace
}  // namespace penstock::emulator::auth
