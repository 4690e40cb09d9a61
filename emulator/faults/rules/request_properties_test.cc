#include "emulator/faults/rules/request_properties.h"

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

TEST(RequestPropertiesTest, ReadsOperationBucketAndKey) {
  const TestRequest request("PUT", "/b/a/k%20x?partNumber=7&uploadId=u", {{"Content-Length", "5"}});
  const RequestProperties properties = request.properties();
  EXPECT_EQ(properties.operation, "UploadPart");
  EXPECT_EQ(properties.bucket, "b");
  EXPECT_EQ(properties.key, "a/k x");
  EXPECT_EQ(properties.part, 7U);
  EXPECT_EQ(properties.size, 5U);
  EXPECT_FALSE(properties.directory_bucket);
  EXPECT_EQ(properties.attempt, 1U);
  EXPECT_EQ(properties.access_key, "");
}

TEST(RequestPropertiesTest, SizeIsTheDecodedLength) {
  EXPECT_EQ(
      TestRequest("PUT", "/b/k", {{"Content-Length", "90"}, {"x-amz-decoded-content-length", "5"}})
          .properties()
          .size,
      5U);
  EXPECT_EQ(TestRequest("PUT", "/b/k").properties().size, std::nullopt);
}

TEST(RequestPropertiesTest, ParsesEveryFormOfASingleRange) {
  const auto range = [](const char* header) {
    return TestRequest("GET", "/b/k", {{"Range", header}}).properties().range;
  };
  EXPECT_EQ(range("bytes=3-9")->first, 3U);
  EXPECT_EQ(range("bytes=3-9")->last_inclusive, 9U);
  EXPECT_EQ(range("bytes=3-")->last_inclusive, std::nullopt);
  EXPECT_EQ(range("bytes=-9")->first, std::nullopt);
  for (const char* none : {"bytes=", "bytes=-", "bytes=a-b", "items=1-2", "bytes=1-2,4-5"})
    EXPECT_FALSE(range(none)) << none;
}

TEST(RequestPropertiesTest, ReadsTheClientFromItsClaims) {
  const TestRequest signed_request(
      "GET", "/b/k",
      {{"Authorization",
        "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, "
        "Signature=0"},
       {"User-Agent", "penstock/1 rank/12 torch"},
       {"amz-sdk-invocation-id", "inv"},
       {"amz-sdk-request", "attempt=3; max=5"}});
  const RequestProperties properties = signed_request.properties();
  EXPECT_EQ(properties.access_key, "AKID");
  EXPECT_EQ(properties.rank, 12U);
  EXPECT_EQ(properties.invocation, "inv");
  EXPECT_EQ(properties.attempt, 3U);
  EXPECT_EQ(TestRequest("GET", "/b/k?X-Amz-Credential=AKID2%2F20260101%2Fr%2Fs3%2Faws4_request")
                .properties()
                .access_key,
            "AKID2");
  EXPECT_EQ(TestRequest("GET", "/b/k", {{"x-penstock-rank", "5"}, {"User-Agent", "a rank/6"}})
                .properties()
                .rank,
            5U);
}

TEST(RequestPropertiesTest, KeyOfAListingIsItsPrefix) {
  const auto key = [](const char* target) {
    return std::string(TestRequest("GET", target).properties().key);
  };
  EXPECT_EQ(key("/b?list-type=2&prefix=data%2Fa"), "data/a");
  EXPECT_EQ(key("/b?prefix=data/"), "data/");
  EXPECT_EQ(key("/b?versions&prefix=data/"), "data/");
  EXPECT_EQ(key("/b?uploads&prefix=data/"), "data/");
  EXPECT_EQ(key("/b?list-type=2"), "") << "lists all keys";
  EXPECT_EQ(key("/b/k?uploadId=u&prefix=data/"), "k") << "lists the parts of a key";
  EXPECT_EQ(key("/?prefix=data"), "") << "lists buckets";
  EXPECT_EQ(key("/b?tagging&prefix=data/"), "");
}

TEST(RequestPropertiesTest, LazyRequestPropertiesAreCollectedOnFirstUse) {
  const TestRequest request("GET", "/b/k");
  LazyRequestProperties properties(request.exchange());
  EXPECT_EQ(&properties.exchange(), &request.exchange());
  EXPECT_EQ(properties.get().key, "k");
  EXPECT_EQ(&properties.get(), &properties.get()) << "collected once";
}

TEST(RequestPropertiesTest, DetectsDirectoryBucketsByName) {
  EXPECT_TRUE(TestRequest("GET", "/b--use1-az4--x-s3/k").properties().directory_bucket);
}

TEST(RequestPropertiesTest, AttemptIdentityIsClientAndRequestLine) {
  const auto identity = [](const char* target, Headers headers,
                           const char* peer = "10.0.0.1:50000") {
    TestRequest request("GET", target, std::move(headers));
    request.connection().peer = peer;
    return AttemptIdentity(request.properties());
  };
  const std::string page = identity("/b?list-type=2", {});
  EXPECT_EQ(identity("/b?list-type=2", {{"User-Agent", "x"}}, "10.0.0.1:50001"), page)
      << "the same client with another port";
  EXPECT_NE(identity("/b?list-type=2", {}, "10.0.0.2:50000"), page);
  EXPECT_NE(identity("/b?list-type=2&continuation-token=t", {}), page);
  EXPECT_NE(identity("/b?list-type=2", {{"x-penstock-rank", "3"}}), page);
  EXPECT_NE(identity("/b?list-type=2", {{"Range", "bytes=0-1"}}), page);
}

}  // namespace
}  // namespace penstock::emulator::faults
