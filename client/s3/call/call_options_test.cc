#include "client/s3/call/call_options.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/verbs.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

// Returns the request of HeadObject with these options as text, or "error: message".
std::string Applied(const CallOptions& options, BuildContext context = WithoutChecksums()) {
  Result<WireRequest> wire =
      BuildRequest(HeadObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k")}, context);
  if (const Result<void> applied = ApplyCallOptions(options, *wire); !applied.ok())
    return Golden(applied.error());
  return Golden(wire);
}

TEST(CallOptionsTest, SendsOwnerAndPayer) {
  EXPECT_EQ(Applied({}), "HEAD /b/k\n\n");
  EXPECT_EQ(Applied({.expected_bucket_owner = "111122223333", .requester_pays = true}),
            "HEAD /b/k\nx-amz-expected-bucket-owner: 111122223333\nx-amz-request-payer: "
            "requester\n\n");
  // The client's configuration already says it.
  BuildContext context = WithoutChecksums();
  context.requester_pays = true;
  EXPECT_EQ(Applied({.requester_pays = true}, context),
            "HEAD /b/k\nx-amz-request-payer: requester\n\n");
}

TEST(CallOptionsTest, OperationsWithoutAnOwnerRefuseIt) {
  WireRequest wire = BuildRequest(ListBucketsRequest{}, Context()).value();
  EXPECT_EQ(ApplyCallOptions({.expected_bucket_owner = "1"}, wire).error().message,
            "ListBuckets has no expected bucket owner; leave expected_bucket_owner empty");
  // An operation without Requester Pays ignores the option, as it ignores the configuration.
  EXPECT_TRUE(ApplyCallOptions({.requester_pays = true}, wire).ok());
  EXPECT_TRUE(wire.headers.empty());
}

TEST(CallOptionsTest, SendsExtraHeadersAndParameters) {
  EXPECT_EQ(Applied({.extra_headers = {{"x-amz-optional-object-attributes", "RestoreStatus"}},
                     .extra_query = {{"x-id", "a b&c"}}}),
            "HEAD /b/k?x-id=a%20b%26c\nx-amz-optional-object-attributes: RestoreStatus\n\n");
}

TEST(CallOptionsTest, RefusesHeadersThatTheClientSets) {
  for (const char* name : {"Host", "AUTHORIZATION", "x-amz-date", "X-Amz-Content-SHA256",
                           "content-length", "range", "if-match", "User-Agent", "transfer-encoding",
                           "x-amz-security-token", "x-amz-server-side-encryption-customer-key"}) {
    EXPECT_NE(Applied({.extra_headers = {{name, "v"}}}).find("itself"), std::string::npos) << name;
  }
  EXPECT_NE(Applied({.extra_headers = {{"X-AMZ-Checksum-Mode", "v"}}}, Context()).find("itself"),
            std::string::npos);
}

TEST(CallOptionsTest, RefusesParametersThatTheClientSets) {
  EXPECT_NE(Applied({.extra_query = {{"X-Amz-Signature", "v"}}}).find("itself"), std::string::npos);
  WireRequest wire = BuildRequest(ListObjectsRequest{.bucket = BucketName("b")}, Context()).value();
  EXPECT_FALSE(ApplyCallOptions({.extra_query = {{"list-type", "1"}}}, wire).ok());
  EXPECT_FALSE(ApplyCallOptions({.extra_query = {{"", "1"}}}, wire).ok());
}

TEST(CallOptionsTest, NamesWhatTheCallerGivesTwice) {
  EXPECT_NE(Applied({.extra_headers = {{"x-once", "1"}, {"X-Once", "2"}}}).find("given twice"),
            std::string::npos);
  EXPECT_NE(Applied({.extra_query = {{"once", "1"}, {"once", "2"}}}).find("given twice"),
            std::string::npos);
}

TEST(CallOptionsTest, RefusesLineBreaksAndOtherControlCharacters) {
  const std::vector<std::string> values = {"a\r\nx-amz-acl: public-read", "a\nb",
                                           std::string("a\0b", 3), "\x7f"};
  for (const std::string& value : values) {
    EXPECT_NE(Applied({.extra_headers = {{"x-other", value}}}).find("control character"),
              std::string::npos);
  }
  for (const char* name : {"", "a b", "a:b", "a\r\nb"}) {
    EXPECT_NE(Applied({.extra_headers = {{name, "v"}}}).find("not a header token"),
              std::string::npos);
  }
  EXPECT_NE(Applied({.expected_bucket_owner = "1\r\n"}).find("error: "), std::string::npos);
}

}  // namespace
}  // namespace penstock::s3
