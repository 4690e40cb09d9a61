// What the dispatcher cures at once (redirects, clock, credentials) and what ends a call early (cancellation, deadline).
#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ClientConfig Aws() { return {.region = "us-east-1"}; }

TEST(RegionRedirectTest, IsFollowedOnceAndRemembered) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(test.sent(), 3u);
  EXPECT_EQ(test.Header(0, "Host"), "bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(test.Header(1, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_NE(test.Header(1, "Authorization").find("/eu-west-1/s3/"), std::string::npos);
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
}

TEST(RegionRedirectTest, ACustomEndpointKeepsItsHostAndChangesTheSignature) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(400, {}, ErrorXml("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), "127.0.0.1:9000");
  EXPECT_NE(test.Header(1, "Authorization").find("/eu-west-1/s3/"), std::string::npos);
}

TEST(RegionRedirectTest, ASecondOneIsAnErrorThatNamesTheRegion) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-2"}}));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "eu-west-2");
  EXPECT_EQ(result.error().attempts, 2);
  EXPECT_NE(result.error().message.find("(answered 301 by bucket.s3.eu-west-1.amazonaws.com, where another redirect had led)"),
            std::string::npos)
      << result.error().message;
}

FakeReply To(const std::string& region) { return Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", region}}); }

const std::string kHere = "bucket.s3.us-east-1.amazonaws.com";

TEST(RegionRedirectTest, OnlyAnAnswerFromThereIsRemembered) {
  // Symptom: one redirect to a region that is not the bucket's, and the client asked that region for ever.
  const FakeReply nobody = FakeReply::Refuse(Error::Make(ErrorKind::kUnavailable, "cannot resolve the host"));
  for (const FakeReply& there : {nobody, To("eu-west-2"), Refuse(307, "TemporaryRedirect"), Refuse(502, "BadGateway"),
                                 FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "connection reset"))}) {
    ClientUnderTest test({.region = "us-east-1", .max_attempts = 2});
    test.transport.Expect(To("nowhere-1"));
    test.transport.Expect(there);
    EXPECT_FALSE(test.Get().ok());
    EXPECT_EQ(test.Header(1, "Host"), "bucket.s3.nowhere-1.amazonaws.com");
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok()) << there.status;
    EXPECT_EQ(test.Header(2, "Host"), kHere) << there.status;
  }
}

TEST(RegionRedirectTest, ARefusalIsAnAnswerToo) {
  ClientUnderTest test(Aws());
  test.transport.Expect(To("eu-west-1"));
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  test.transport.Expect(Object("abc"));
  EXPECT_EQ(test.Get().error().code, "NoSuchKey");
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
}

TEST(RegionRedirectTest, ARegionThatNoLongerHasTheBucketIsForgotten) {
  const FakeReply nobody = FakeReply::Refuse(Error::Make(ErrorKind::kUnavailable, "cannot resolve the host"));
  for (const FakeReply& later : {nobody, Refuse(301, "PermanentRedirect")}) {
    ClientUnderTest test({.region = "us-east-1", .max_attempts = 1});
    test.transport.Expect(To("eu-west-1"));
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    test.transport.Expect(later);
    EXPECT_FALSE(test.Get().ok());
    EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.eu-west-1.amazonaws.com");
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    EXPECT_EQ(test.Header(3, "Host"), kHere) << later.status;
  }
}

TEST(RegionRedirectTest, ABucketThatMovedIsFollowed) {
  ClientUnderTest test(Aws());
  for (const char* region : {"eu-west-1", "eu-west-2", "us-east-1"}) {
    test.transport.Expect(To(region));
    test.transport.Expect(Object("abc"));
    ASSERT_TRUE(test.Get().ok());
    EXPECT_EQ(test.Header(test.sent() - 1, "Host"), "bucket.s3." + std::string(region) + ".amazonaws.com");
  }
}

TEST(RegionRedirectTest, WhatNamesNoRegionIsNotAskedAndNotRemembered) {
  // Symptom: `Invalid region ... in the configuration, in AWS_REGION or in the profile`, and so for ever, without a request.
  ClientUnderTest test(Aws());
  test.transport.Expect(To("evil.example/x"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "");
  EXPECT_EQ(result.error().message, "m (the answer names the region `evil.example/x`, which is no region's name) (answered 301 by " +
                                        kHere + ")");
  EXPECT_EQ(test.sent(), 1u);
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), kHere);
}

TEST(RegionRedirectTest, ARegionThatTheClientsSettingsExcludeIsNotAsked) {
  ClientUnderTest test({.region = "us-east-1", .use_fips_endpoint = true});
  test.transport.Expect(To("cn-north-1"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_NE(result.error().message.find("that region cannot be asked: Partition does not support FIPS"), std::string::npos)
      << result.error().message;
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Get().ok());
}

TEST(RegionRedirectTest, CreateBucketIsNotMadeInARegionNobodyAskedFor) {
  // Symptom: configured for eu-west-1, a service in us-east-1: CreateBucket succeeded there, without a word.
  ClientUnderTest test({.region = "eu-west-1", .endpoint_url = "http://127.0.0.1:9000"});
  test.transport.Expect(FakeReply::Respond(400, {}, ErrorXml("AuthorizationHeaderMalformed", "<Region>us-east-1</Region>")));
  const auto result = test.Run(CreateBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kWrongRegion);
  EXPECT_EQ(result.error().region, "us-east-1");
  EXPECT_EQ(result.error().message,
            "the service is in us-east-1, the client is configured for eu-west-1; set region=us-east-1");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(RegionRedirectTest, CreateBucketForgetsWhereABucketOfThatNameWas) {
  // Symptom: a bucket read in eu-west-2, deleted and made again was asked of eu-west-2, not of the configured region.
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(301, "PermanentRedirect", {{"x-amz-bucket-region", "eu-west-2"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(FakeReply::Respond(200));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Run(CreateBucketRequest{.bucket = BucketName("bucket")}).ok());
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.us-east-1.amazonaws.com");
}

TEST(RegionRedirectTest, ATemporaryHostServesThisCallOnly) {
  ClientUnderTest test(Aws());
  test.transport.Expect(Refuse(307, "TemporaryRedirect", {{"Location", "https://bucket.s3-eu-west-1.amazonaws.com/key"}}));
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(1, "Host"), "bucket.s3-eu-west-1.amazonaws.com");
  EXPECT_EQ(test.transport.requests()[1].request.target, "/key");
  EXPECT_EQ(test.Header(2, "Host"), "bucket.s3.us-east-1.amazonaws.com");
}

TEST(RegionRedirectTest, HeadWithoutABodyIsRedirectedByItsHeader) {
  ClientUnderTest test(Aws());
  test.transport.Expect(FakeReply::Respond(400, {{"x-amz-bucket-region", "eu-west-1"}}));
  test.transport.Expect(FakeReply::Respond(200, {{"x-amz-bucket-region", "eu-west-1"}}));
  const auto result = test.Run(HeadBucketRequest{.bucket = BucketName("bucket")});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->region, "eu-west-1");
}

FakeReply Skewed() { return Refuse(403, "RequestTimeTooSkewed", {{"Date", "Fri, 24 May 2013 01:00:00 GMT"}}); }

TEST(ClockSkewTest, IsCorrectedOnceAndKept) {
  ClientUnderTest test;
  test.transport.Expect(Skewed());
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(0, "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(test.Header(1, "x-amz-date"), "20130524T010000Z");
  EXPECT_EQ(test.Header(2, "x-amz-date"), "20130524T010000Z");
}

TEST(ClockSkewTest, ARefusalThatStaysIsReported) {
  ClientUnderTest test;
  test.transport.Expect(Skewed());
  test.transport.Expect(Skewed());
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "RequestTimeTooSkewed");
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(test.sent(), 2u);
}

// Hands out the given identities in turn, the last one again and again; can hold its answer back.
class ScriptedProvider final : public CredentialsProvider {
 public:
  explicit ScriptedProvider(std::vector<std::string> ids) : ids_(std::move(ids)) {}
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    if (hold) {
      held = std::move(done);
      return;
    }
    const std::string& id = ids_[std::min(next_++, ids_.size() - 1)];
    done(std::make_shared<const Credentials>(Credentials{id, "secret", "", {}}));
  }
  bool hold = false;
  std::function<void(Result<CredentialsPtr>)> held;

 private:
  std::vector<std::string> ids_;
  std::size_t next_ = 0;
};

ClientConfig With(std::shared_ptr<CredentialsProvider> provider) {
  return {.endpoint_url = "http://127.0.0.1:9000", .credentials = std::move(provider)};
}

TEST(ExpiredTokenTest, IsRetriedWithOtherCredentials) {
  ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_NE(test.Header(1, "Authorization").find("Credential=NEW/"), std::string::npos);
}

TEST(ExpiredTokenTest, ARetryAfterNewCredentialsDoesNotBringTheOldErrorBack) {
  // Symptom: ExpiredToken, new credentials, a passing 503: the call ended with the ExpiredToken cured long before.
  for (const bool reset : {false, true}) {
    ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW"})));
    test.transport.Expect(Refuse(400, "ExpiredToken"));
    test.transport.Expect(reset ? FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "connection reset"))
                                : Refuse(503, "SlowDown"));
    test.transport.Expect(Object("abc"));
    const auto result = test.Get();
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    ASSERT_EQ(test.sent(), 3u);
    EXPECT_NE(test.Header(2, "Authorization").find("Credential=NEW/"), std::string::npos);
  }
}

TEST(ExpiredTokenTest, IsCuredOncePerCall) {
  ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW", "NEWER"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  EXPECT_EQ(test.Get().error().code, "ExpiredToken");
  EXPECT_EQ(test.sent(), 2u);
}

TEST(ExpiredTokenTest, IsReportedWhenThereAreNoOthers) {
  ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  EXPECT_EQ(test.Get().error().code, "ExpiredToken");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(CredentialsTest, AFailureEndsTheCallBeforeAnythingIsSent) {
  auto provider = std::make_shared<ScriptedProvider>(std::vector<std::string>{""});
  ClientUnderTest test(With(provider));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(result.error().attempts, 0);
  EXPECT_EQ(result.error().message.find("secret\""), std::string::npos);
}

TEST(CancellationTest, BeforeTheStartNothingIsSent) {
  ClientUnderTest test;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(test.Get({.cancel = stop.get_token()}).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(test.sent(), 0u);
}

// Starts a GET on a held transport; `result` is filled when it ends.
struct HeldGet {
  explicit HeldGet(ClientUnderTest& test, Deadline deadline = Deadline::Never()) {
    test.client->Start(GetObjectRequest{.bucket = BucketName("bucket"), .key = ObjectKey("key"), .sink = &test.sink,
                                        .options = {.deadline = deadline, .cancel = stop.get_token()}},
                       [this](Result<ObjectMetadata> r) { result.emplace(std::move(r)); });
  }
  std::stop_source stop;
  std::optional<Result<ObjectMetadata>> result;
};

TEST(CancellationTest, DuringBackOffEndsTheCallWithoutAnotherAttempt) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Hold();
  HeldGet get(test);
  test.transport.Release();
  ASSERT_FALSE(get.result);
  get.stop.request_stop();
  test.transport.Advance(milliseconds(0));
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(get.result->error().attempts, 1);
  test.transport.Advance(seconds(60));  // the abandoned timer fires into nothing
  EXPECT_EQ(test.sent(), 1u);
}

TEST(CancellationTest, InFlightEndsTheCall) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Hang());
  HeldGet get(test);
  ASSERT_FALSE(get.result);
  get.stop.request_stop();
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(get.result->error().operation, "GetObject");
}

TEST(CancellationTest, WhileCredentialsAreFetchedEndsTheCall) {
  auto provider = std::make_shared<ScriptedProvider>(std::vector<std::string>{"A"});
  provider->hold = true;
  ClientUnderTest test(With(provider));
  HeldGet get(test);
  ASSERT_FALSE(get.result);
  get.stop.request_stop();
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kCancelled);
  std::exchange(provider->held, nullptr)(CredentialsPtr());  // too late, and harmless
  EXPECT_EQ(test.sent(), 0u);
}

TEST(CancellationTest, ALateStopIsHarmless) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  HeldGet get(test);
  ASSERT_TRUE(get.result);
  get.stop.request_stop();
  EXPECT_TRUE(get.result->ok());
}

TEST(DeadlineTest, LeavesNoWaitBeyondIt) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown", {{"Retry-After", "4"}}));
  const auto result = test.Get({.deadline = Deadline::After(test.transport.clock(), seconds(3))});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(result.error().code, "SlowDown");
  EXPECT_EQ(test.sent(), 1u);
  EXPECT_TRUE(test.transport.run_at_times().empty());
}

TEST(DeadlineTest, IsHandedToTheTransport) {
  ClientUnderTest test;
  const Deadline deadline = Deadline::After(test.transport.clock(), seconds(3));
  test.transport.Expect(FakeReply::Hang());
  const auto result = test.Get({.deadline = deadline});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(test.transport.requests()[0].deadline.when(), deadline.when());
  EXPECT_EQ(test.sent(), 1u);
}

TEST(DeadlineTest, EndsAWaitForCredentials) {
  auto provider = std::make_shared<ScriptedProvider>(std::vector<std::string>{"A"});
  provider->hold = true;
  ClientUnderTest test(With(provider));
  test.transport.Hold();
  HeldGet get(test, Deadline::After(test.transport.clock(), seconds(3)));
  ASSERT_FALSE(get.result);
  test.transport.Advance(seconds(3));
  provider->held = nullptr;  // it keeps the call, which keeps the provider
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kTimeout);
}

TEST(DeadlineTest, PassedBeforeTheStartNothingIsSent) {
  ClientUnderTest test;
  EXPECT_EQ(test.Get({.deadline = Deadline::At(test.transport.clock().Monotonic())}).error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(test.sent(), 0u);
}

}  // namespace
}  // namespace penstock::s3
