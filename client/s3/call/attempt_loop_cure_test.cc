// Immediate corrections by the dispatcher (clock, credentials) and early ends of a call
// (cancellation, deadline).
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

FakeReply Skewed() {
  return Refuse(403, "RequestTimeTooSkewed", {{"Date", "Fri, 24 May 2013 01:00:00 GMT"}});
}

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

TEST(ClockSkewTest, CallsThatWereSignedBeforeTheCorrectionAreRetriedToo) {
  ClientUnderTest test;
  test.transport.SetHandler([](const http::RecordedRequest& request) {
    return request.Header("x-amz-date") == "20130524T010000Z" ? Object("abc") : Skewed();
  });
  test.transport.Hold();
  std::vector<StringSink> sinks(3);
  std::vector<bool> succeeded;
  for (StringSink& sink : sinks) {
    test.client->Start(
        GetObjectRequest{.bucket = BucketName("bucket"), .key = ObjectKey("key"), .sink = &sink},
        [&](const Result<ObjectMetadata>& result) { succeeded.push_back(result.ok()); });
  }
  while (test.transport.Release() > 0) {
  }
  EXPECT_EQ(succeeded, std::vector<bool>(3, true));
  EXPECT_EQ(test.sent(), 6u);
}

TEST(ClockSkewTest, ARepeatedErrorIsReported) {
  ClientUnderTest test;
  test.transport.Expect(Skewed());
  test.transport.Expect(Skewed());
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "RequestTimeTooSkewed");
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(test.sent(), 2u);
}

// Returns the given identities in turn, then the last one repeatedly. Can delay its result.
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

TEST(RetryReasonTest, CorrectionsAreCountedAsRetriesByReason) {
  ClientUnderTest test(
      With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW"})));
  test.transport.Expect(FakeReply::Respond(
      400, {}, ErrorXml("AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>")));
  test.transport.Expect(Skewed());
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  test.transport.Expect(FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "reset")));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  const ClientStats stats = test.client->stats();
  EXPECT_EQ(stats.retries_by_reason,
            (std::map<std::string, std::uint64_t>{
                {"region", 1}, {"clock_skew", 1}, {"credentials", 1}, {"connection", 1}}));
  EXPECT_EQ(stats.retries, 4u);
  EXPECT_EQ(stats.failures, 0u);
}

TEST(RetryReasonTest, ARefusedRenewalIsAFailureWithoutARetry) {
  ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  EXPECT_FALSE(test.Get().ok());
  const ClientStats stats = test.client->stats();
  EXPECT_EQ(stats.retries, 0u);
  EXPECT_EQ(stats.failures_by_kind, (std::map<std::string, std::uint64_t>{{"unauthenticated", 1}}));
}

TEST(ExpiredTokenTest, IsRetriedWithNewCredentials) {
  ClientUnderTest test(
      With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_NE(test.Header(1, "Authorization").find("Credential=NEW/"), std::string::npos);
}

TEST(ExpiredTokenTest, ARetryWithNewCredentialsDoesNotReturnTheOldError) {
  // Symptom: after ExpiredToken, new credentials and a temporary 503, the call ended with the
  // earlier ExpiredToken.
  for (const bool reset : {false, true}) {
    ClientUnderTest test(
        With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW"})));
    test.transport.Expect(Refuse(400, "ExpiredToken"));
    test.transport.Expect(
        reset ? FakeReply::Fail(Error::Make(ErrorKind::kUnavailable, "connection reset"))
              : Refuse(503, "SlowDown"));
    test.transport.Expect(Object("abc"));
    const auto result = test.Get();
    ASSERT_TRUE(result.ok()) << result.error().ToString();
    ASSERT_EQ(test.sent(), 3u);
    EXPECT_NE(test.Header(2, "Authorization").find("Credential=NEW/"), std::string::npos);
  }
}

TEST(ExpiredTokenTest, CredentialsAreRenewedOncePerCall) {
  ClientUnderTest test(
      With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD", "NEW", "NEWER"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  EXPECT_EQ(test.Get().error().code, "ExpiredToken");
  EXPECT_EQ(test.sent(), 2u);
}

TEST(ExpiredTokenTest, IsReportedWithoutNewCredentials) {
  ClientUnderTest test(With(std::make_shared<ScriptedProvider>(std::vector<std::string>{"OLD"})));
  test.transport.Expect(Refuse(400, "ExpiredToken"));
  EXPECT_EQ(test.Get().error().code, "ExpiredToken");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(CredentialsTest, AFailureEndsTheCallBeforeAnyRequest) {
  auto provider = std::make_shared<ScriptedProvider>(std::vector<std::string>{""});
  ClientUnderTest test(With(provider));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnauthenticated);
  EXPECT_EQ(result.error().attempts, 0);
  EXPECT_EQ(result.error().message.find("secret\""), std::string::npos);
}

TEST(CancellationTest, BeforeTheStartSendsNothing) {
  ClientUnderTest test;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(test.Get({.cancel = stop.get_token()}).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(test.sent(), 0u);
}

// Starts a GET on a transport on hold. `result` is set when it ends.
struct HeldGet {
  explicit HeldGet(ClientUnderTest& test, Deadline deadline = Deadline::Never()) {
    test.client->Start(
        GetObjectRequest{.bucket = BucketName("bucket"),
                         .key = ObjectKey("key"),
                         .sink = &test.sink,
                         .options = {.deadline = deadline, .cancel = stop.get_token()}},
        [this](Result<ObjectMetadata> r) { result.emplace(std::move(r)); });
  }
  std::stop_source stop;
  std::optional<Result<ObjectMetadata>> result;
};

TEST(CancellationTest, DuringBackoffEndsTheCallWithoutAnotherAttempt) {
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
  test.transport.Advance(seconds(60));  // The abandoned timer must have no effect.
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

TEST(CancellationTest, WhileFetchingCredentialsEndsTheCall) {
  auto provider = std::make_shared<ScriptedProvider>(std::vector<std::string>{"A"});
  provider->hold = true;
  ClientUnderTest test(With(provider));
  HeldGet get(test);
  ASSERT_FALSE(get.result);
  get.stop.request_stop();
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kCancelled);
  std::exchange(provider->held, nullptr)(CredentialsPtr());  // Too late: must have no effect.
  EXPECT_EQ(test.sent(), 0u);
}

TEST(CancellationTest, ALateStopHasNoEffect) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  HeldGet get(test);
  ASSERT_TRUE(get.result);
  get.stop.request_stop();
  EXPECT_TRUE(get.result->ok());
}

TEST(DeadlineTest, NoWaitExceedsTheDeadline) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown", {{"Retry-After", "4"}}));
  const auto result = test.Get({.deadline = Deadline::After(test.transport.clock(), seconds(3))});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(result.error().code, "SlowDown");
  EXPECT_EQ(test.sent(), 1u);
  EXPECT_TRUE(test.transport.run_at_times().empty());
}

TEST(DeadlineTest, IsPassedToTheTransport) {
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
  // Too late. Without it the waiting call and the provider would keep each other alive.
  std::exchange(provider->held, nullptr)(CredentialsPtr());
  ASSERT_TRUE(get.result);
  EXPECT_EQ(get.result->error().kind, ErrorKind::kTimeout);
}

TEST(DeadlineTest, PassedBeforeTheStartSendsNothing) {
  ClientUnderTest test;
  EXPECT_EQ(test.Get({.deadline = Deadline::At(test.transport.clock().Monotonic())}).error().kind,
            ErrorKind::kTimeout);
  EXPECT_EQ(test.sent(), 0u);
}

}  // namespace
}  // namespace penstock::s3
