#include "client/s3/attempt/attempt_request.h"

#include <gtest/gtest.h>

#include "client/s3/attempt/time_limits.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

WireRequest Request(std::string bucket, std::string key) {
  WireRequest request;
  request.operation = Operation::kGetObject;
  request.bucket = std::move(bucket);
  request.key = std::move(key);
  return request;
}

ResolvedEndpoint PathStyle(std::string prefix = "") {
  ResolvedEndpoint endpoint;
  endpoint.path_prefix = std::move(prefix);
  endpoint.bucket_in_path = true;
  endpoint.authority = "h:1";
  return endpoint;
}

TEST(AttemptRequestTest, PathStyleTargetsStartWithTheBucket) {
  EXPECT_EQ(MakeTarget(Request("b", "k"), PathStyle()), "/b/k");
  EXPECT_EQ(MakeTarget(Request("b", ""), PathStyle()), "/b");
  EXPECT_EQ(MakeTarget(Request("b", "k"), PathStyle("/pre")), "/pre/b/k");
}

TEST(AttemptRequestTest, VirtualHostedTargetsStartWithTheKey) {
  EXPECT_EQ(MakeTarget(Request("b", "k"), {}), "/k");
  EXPECT_EQ(MakeTarget(Request("b", ""), {}), "/");
  ResolvedEndpoint prefixed;
  prefixed.path_prefix = "/pre";
  EXPECT_EQ(MakeTarget(Request("b", ""), prefixed), "/pre");
}

TEST(AttemptRequestTest, KeysAreNotNormalisedAsFilePaths) {
  EXPECT_EQ(MakeTarget(Request("b", "/a//../b/."), PathStyle()), "/b//a//../b/.");
  EXPECT_EQ(MakeTarget(Request("b", "a b?c#d%e+f"), PathStyle()), "/b/a%20b%3Fc%23d%25e%2Bf");
}

TEST(AttemptRequestTest, SendsInvocationIdAndAttemptNumber) {
  ClientConfig config;
  config.max_attempts = 4;
  config.ca_bundle_path = "ca.pem";
  WireRequest wire = Request("b", "k");
  wire.headers.push_back({"Range", "bytes=0-1"});
  const http::Request request = MakeAttempt(wire, PathStyle(), config, {"id", 2, "agent"});
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(http::FindHeader(request.headers, "Host"), "h:1");
  EXPECT_EQ(http::FindHeader(request.headers, "Range"), "bytes=0-1");
  EXPECT_EQ(http::FindHeader(request.headers, "amz-sdk-invocation-id"), "id");
  EXPECT_EQ(http::FindHeader(request.headers, "amz-sdk-request"), "attempt=2; max=4");
  EXPECT_EQ(http::FindHeader(request.headers, "user-agent"), "agent");
  EXPECT_EQ(request.ca_bundle_path, "ca.pem");
}

TEST(AttemptRequestTest, EveryAttemptHasALimitByDefault) {
  using std::chrono::minutes;
  const auto limit = [](Operation operation, std::uint64_t body_bytes, const ClientConfig& config) {
    return AttemptTimeout(Info(operation), body_bytes, config);
  };
  ClientConfig config;
  EXPECT_TRUE(HasSpeedFloor(Info(Operation::kGetObject), config));
  EXPECT_EQ(limit(Operation::kGetObject, 0, config), minutes(0)) << "the speed floor limits it";
  EXPECT_EQ(limit(Operation::kDeleteObject, 0, config), minutes(1));
  EXPECT_EQ(limit(Operation::kUploadPart, 60 * 1024, config), minutes(2));
  EXPECT_EQ(limit(Operation::kCopyObject, 0, config), minutes(15));
  EXPECT_EQ(limit(Operation::kUploadPartCopy, 0, config), minutes(15));
  EXPECT_EQ(limit(Operation::kCompleteMultipartUpload, 60 * 1024, config), minutes(16));
  config.attempt_timeout = minutes(2);
  EXPECT_EQ(limit(Operation::kUploadPart, 60 * 1024, config), minutes(2));
  config.attempt_timeout = minutes(0);
  config.low_speed_bytes_per_second = 0;
  EXPECT_EQ(limit(Operation::kUploadPart, 60 * 1024, config), minutes(0)) << "all limits are off";
}

TEST(AttemptRequestTest, IdleTimeoutOfAReadIsAtMostTheSpeedFloorTime) {
  ClientConfig config;
  config.low_speed_time = std::chrono::seconds(5);
  const auto idle = [&config](Operation operation) {
    WireRequest wire = Request("b", "k");
    wire.operation = operation;
    return MakeAttempt(wire, PathStyle(), config, {}).idle_timeout;
  };
  config.low_speed_bytes_per_second = 0;
  EXPECT_EQ(idle(Operation::kGetObject), config.idle_timeout) << "without a speed floor";
  config.low_speed_bytes_per_second = 1;
  for (const Operation read :
       {Operation::kGetObject, Operation::kHeadObject, Operation::kListObjectsV2}) {
    EXPECT_EQ(idle(read), config.low_speed_time);
  }
  for (const Operation write :
       {Operation::kPutObject, Operation::kCopyObject, Operation::kCompleteMultipartUpload}) {
    EXPECT_EQ(idle(write), config.idle_timeout);
  }
  config.idle_timeout = std::chrono::seconds(2);
  EXPECT_EQ(idle(Operation::kGetObject), config.idle_timeout) << "the shorter timeout applies";
}

TEST(AttemptRequestTest, UserAgentStartsWithTheCallersPrefix) {
  EXPECT_EQ(MakeUserAgent("mine/1").find("mine/1 penstock/"), 0u);
  EXPECT_EQ(MakeUserAgent("").find("penstock/"), 0u);
}

TEST(AttemptRequestTest, SourceBodyForwardsToTheCallersSource) {
  StringSource source("abcde");
  SourceBody body(source);
  EXPECT_EQ(body.size(), 5u);
  EXPECT_EQ(AsText(body.Next(9)), "abc");
  body.Rewind();
  EXPECT_EQ(source.rewinds, 1);
}

}  // namespace
}  // namespace penstock::s3
