#include "client/s3/endpoint/redirect.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

ResolvedEndpoint Asked(std::string host, bool bucket_in_path = false) {
  ResolvedEndpoint asked;
  asked.endpoint = {"https", std::move(host), 443};
  asked.bucket_in_path = bucket_in_path;
  asked.signing_region = "us-east-1";
  return asked;
}

Error Refusal(int status, std::string code, std::string region = "") {
  Error error;
  error.http_status = status;
  error.code = std::move(code);
  error.region = std::move(region);
  return error;
}

std::optional<Redirect> Read(Operation operation, const Error& error,
                             const std::string& location = "") {
  http::ResponseHead head{error.http_status, {}};
  if (!location.empty()) head.headers.push_back({"Location", location});
  return ReadRedirect(Info(operation), error, head, Asked("b.s3.us-east-1.amazonaws.com"), "b");
}

TEST(RedirectTest, FollowsTheRegionThatS3Returns) {
  EXPECT_EQ(Read(Operation::kGetObject, Refusal(301, "PermanentRedirect", "eu-west-1"))->region,
            "eu-west-1");
  EXPECT_EQ(Read(Operation::kGetObject, Refusal(400, "AuthorizationHeaderMalformed", "eu-west-1"))
                ->region,
            "eu-west-1");
  EXPECT_EQ(Read(Operation::kHeadBucket, Refusal(400, "400", "eu-west-1"))->region, "eu-west-1");
  EXPECT_EQ(
      Read(Operation::kPutObject, Refusal(400, "IllegalLocationConstraintException", "eu-west-1"))
          ->region,
      "eu-west-1");
}

TEST(RedirectTest, OtherErrorsAreNotRedirects) {
  EXPECT_FALSE(Read(Operation::kGetObject, Refusal(400, "InvalidArgument", "eu-west-1")));
  EXPECT_FALSE(Read(Operation::kGetObject, Refusal(403, "AccessDenied", "eu-west-1")));
  EXPECT_FALSE(Read(Operation::kGetObject, Refusal(301, "PermanentRedirect")));
  EXPECT_FALSE(Read(Operation::kGetObject, Refusal(301, "PermanentRedirect", "us-east-1")));
  EXPECT_FALSE(Read(Operation::kCreateBucket,
                    Refusal(400, "IllegalLocationConstraintException", "eu-west-1")));
}

TEST(RedirectTest, CreateBucketIsNeverSentToAnotherRegion) {
  // Symptom: CreateBucket, sent again to the region that the service returned, created the bucket
  // in a region that was not configured.
  for (const char* code : {"AuthorizationHeaderMalformed", "IllegalLocationConstraintException",
                           "PermanentRedirect"}) {
    EXPECT_FALSE(Read(Operation::kCreateBucket, Refusal(400, code, "eu-west-1"))) << code;
  }
  EXPECT_FALSE(Read(Operation::kCreateBucket, Refusal(301, "PermanentRedirect", "eu-west-1")));
  EXPECT_FALSE(Read(Operation::kCreateBucket, Refusal(307, "TemporaryRedirect", "eu-west-1"),
                    "https://b.s3.eu-west-1.amazonaws.com/"));
  EXPECT_TRUE(Read(Operation::kCreateBucket, Refusal(307, "TemporaryRedirect"),
                   "https://b.s3-1.amazonaws.com/"));
}

TEST(RedirectTest, ExplainsOnlyTheWrongRegionOfCreateBucket) {
  const auto explained = [](Operation operation, ErrorKind kind, std::string region) {
    Error error = Error::Make(kind, "as it was");
    error.region = std::move(region);
    ExplainRegionOfNewBucket(Info(operation), Asked("store.example"), error);
    return error.message;
  };
  EXPECT_EQ(
      explained(Operation::kCreateBucket, ErrorKind::kWrongRegion, "eu-west-1"),
      "the service is in eu-west-1, the client is configured for us-east-1; set region=eu-west-1");
  EXPECT_EQ(explained(Operation::kCreateBucket, ErrorKind::kWrongRegion, ""), "as it was");
  EXPECT_EQ(explained(Operation::kCreateBucket, ErrorKind::kWrongRegion, "us-east-1"), "as it was");
  EXPECT_EQ(explained(Operation::kCreateBucket, ErrorKind::kAccessDenied, "eu-west-1"),
            "as it was");
  EXPECT_EQ(explained(Operation::kGetObject, ErrorKind::kWrongRegion, "eu-west-1"), "as it was");
}

TEST(RedirectTest, AnUnfollowedRedirectIsReportedWithItsOrigin) {
  const auto explained = [](ErrorKind kind, const std::string& region,
                            const std::string& location) {
    Error error = Error::Make(kind, "as it was");
    error.region = region;
    http::ResponseHead head{307, {}};
    if (!location.empty()) head.headers.push_back({"Location", location});
    ResolvedEndpoint asked = Asked("store.example");
    asked.authority = "store.example";
    ExplainRedirect(Info(Operation::kGetObject), head, asked, false, error);
    return error.message;
  };
  EXPECT_EQ(explained(ErrorKind::kWrongRegion, "", ""),
            "as it was (answered 307 by store.example)");
  EXPECT_EQ(
      explained(ErrorKind::kWrongRegion, "", "https://other.example/k?X-Amz-Signature=secret"),
      "as it was (answered 307 by store.example, with a Location https://other.example that is not "
      "followed)");
  EXPECT_EQ(explained(ErrorKind::kWrongRegion, "", "nonsense"),
            "as it was (answered 307 by store.example, with a Location that is not a URL)");
  EXPECT_EQ(explained(ErrorKind::kWrongRegion, "eu-west-1", "https://other.example/k"),
            "as it was (the bucket is in region eu-west-1; configure that region) (answered 307 by "
            "store.example)");
  EXPECT_EQ(explained(ErrorKind::kNotFound, "", ""), "as it was");
}

TEST(RedirectTest, FollowsATemporaryHostOfTheSameOwner) {
  const auto redirect = Read(Operation::kGetObject, Refusal(307, "TemporaryRedirect"),
                             "https://b.s3-us-west-2.amazonaws.com/k");
  ASSERT_TRUE(redirect);
  ASSERT_TRUE(redirect->endpoint);
  EXPECT_EQ(redirect->endpoint->authority, "b.s3-us-west-2.amazonaws.com");
  EXPECT_FALSE(redirect->endpoint->bucket_in_path);
  EXPECT_TRUE(
      Read(Operation::kGetObject, Refusal(307, "TemporaryRedirect"), "https://s3.amazonaws.com/b/k")
          ->endpoint->bucket_in_path);
}

TEST(RedirectTest, ASignedRequestIsNeverSentToAnotherOwner) {
  for (const char* location :
       {"https://evil.example/k", "https://evilamazonaws.com/k", "http://b.s3.amazonaws.com/k",
        "https://amazonaws.com.evil.example/", "nonsense"}) {
    EXPECT_FALSE(Read(Operation::kGetObject, Refusal(307, "TemporaryRedirect"), location))
        << location;
  }
  http::ResponseHead head{307, {{"Location", "https://other.example/b/k"}}};
  EXPECT_FALSE(ReadRedirect(Info(Operation::kGetObject), Refusal(307, "TemporaryRedirect"), head,
                            Asked("store.example", true), "b"));
}

}  // namespace
}  // namespace penstock::s3
