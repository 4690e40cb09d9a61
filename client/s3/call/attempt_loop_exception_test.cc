// An exception of the caller's code ends at most its own call, and every accepted call completes
// once.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

// Allocates the announced length, as a simple program does.
class ResizingSink final : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t> length) override {
    memory_.resize(*length);
    return Ok();
  }
  MutableByteView Window() override { return memory_; }
  Result<void> Commit(std::size_t) override { throw std::runtime_error("the disk is full"); }

 private:
  std::vector<std::byte> memory_;
};

Result<ObjectMetadata> GetInto(ClientUnderTest& test, BodySink& sink) {
  return test.Run(
      GetObjectRequest{.bucket = BucketName("bucket"), .key = ObjectKey("key"), .sink = &sink});
}

// Symptom: `length_error` in a program like examples/cpp/get_many.cc escaped an I/O thread and
// terminated the process.
TEST(ExceptionTest, AnUnallocatableLengthIsAnErrorOfTheCall) {
  ClientUnderTest test;
  test.transport.SetHandler([](const http::RecordedRequest&) {
    return FakeReply::Respond(200, {{"Content-Length", "4611686018427387904"}, {"ETag", "\"e\""}});
  });
  ResizingSink sink;
  const auto result = GetInto(test, sink);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_EQ(result.error().key, "key");
  EXPECT_EQ(test.sent(), 1u);
  EXPECT_EQ(test.client->stats().exceptions, 1u);
}

TEST(ExceptionTest, AThrowingSinkEndsItsCallWithoutARetry) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  ResizingSink sink;
  const auto result = GetInto(test, sink);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  EXPECT_NE(result.error().message.find("the disk is full"), std::string::npos)
      << result.error().message;
  EXPECT_EQ(test.sent(), 1u);
}

// The exception while a body is sent is tested in transfer_test.cc of client/http.
TEST(ExceptionTest, ASourceThatThrowsDuringItsChecksumEndsItsCall) {
  class Source final : public BodySource {
   public:
    std::uint64_t size() const override { return 3; }
    void Rewind() override {}
    ByteView Next(std::size_t) override { throw std::runtime_error("the file is gone"); }
  } source;
  ClientUnderTest test;
  const auto result = test.Run(
      PutObjectRequest{.bucket = BucketName("bucket"), .key = ObjectKey("key"), .body = &source});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("the file is gone"), std::string::npos)
      << result.error().message;
  EXPECT_EQ(test.sent(), 0u);
}

TEST(ExceptionTest, AThrowingCallbackIsCountedAndContained) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  int called = 0;
  EXPECT_NO_THROW(
      test.client->Start(HeadObjectRequest{BucketName("bucket"), ObjectKey("key"), {}, {}},
                         [&called](const Result<ObjectMetadata>&) {
                           ++called;
                           throw std::runtime_error("broken");
                         }));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(test.client->stats().exceptions, 1u);
}

TEST(ExceptionTest, AThrowingObserverHasNoEffect) {
  ClientUnderTest test;
  test.client->SetObserver([](const RequestEvent&) { throw std::runtime_error("broken"); });
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Get().ok());
  EXPECT_EQ(test.client->stats().exceptions, 1u);
}

class ThrowingProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)>) override {
    throw std::runtime_error("no vault");
  }
};

TEST(ExceptionTest, AThrowingProviderIsAnErrorOfTheCall) {
  ClientUnderTest test({.credentials = std::make_shared<ThrowingProvider>()});
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("no vault"), std::string::npos) << result.error().message;
  EXPECT_EQ(test.sent(), 0u);
}

class CountingProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    ++asked;
    waiting.push_back(std::move(done));
    if (!hold) Complete();
  }
  void Complete() {
    for (const auto& done : std::exchange(waiting, {})) {
      done(std::make_shared<const Credentials>(Credentials{"AKID", "secret", "", {}}));
    }
  }
  int asked = 0;
  bool hold = false;
  std::vector<std::function<void(Result<CredentialsPtr>)>> waiting;
};

TEST(CustomProviderTest, IsCalledOnceForAllCallsAndAttempts) {
  const auto provider = std::make_shared<CountingProvider>();
  provider->hold = true;
  ClientUnderTest test({.credentials = provider});
  test.transport.SetHandler([](const http::RecordedRequest& request) {
    const auto attempt = request.Header("amz-sdk-request").value_or("");
    return attempt.find("attempt=1") != std::string::npos ? Refuse(503, "SlowDown") : Object("abc");
  });
  int ended = 0;
  for (int i = 0; i < 3; ++i) {
    test.client->Start(
        HeadObjectRequest{BucketName("bucket"), ObjectKey("key"), {}, {}},
        [&ended](const Result<ObjectMetadata>& result) { ended += result.ok() ? 1 : 0; });
  }
  EXPECT_EQ(ended, 0);
  provider->Complete();
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(test.sent(), 6u);
  EXPECT_EQ(provider->asked, 1);
}

// Symptom: a stopping transport accepted the timer and never ran it, so the call hung despite its
// deadline.
TEST(LostTimerTest, ARetryWithoutATimerEndsTheCall) {
  ClientUnderTest test;
  test.transport.RefuseTimers();
  test.transport.Expect(Refuse(503, "SlowDown"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(result.error().attempts, 1);
}

TEST(LostTimerTest, ACallThatCannotWaitForTheRateLimitEnds) {
  ClientUnderTest test({.retry_mode = RetryMode::kAdaptive});
  test.transport.SetHandler([](const http::RecordedRequest&) { return Refuse(503, "SlowDown"); });
  ASSERT_FALSE(test.Get().ok());  // From here on the limiter delays requests.
  test.transport.RefuseTimers();
  for (int i = 0; i < 20; ++i) EXPECT_NE(test.Get().error().kind, ErrorKind::kInternal);
}

TEST(LostTimerTest, ADeadlineWithoutATimerEndsTheCall) {
  const auto provider = std::make_shared<CountingProvider>();
  provider->hold = true;
  ClientUnderTest test({.credentials = provider});
  test.transport.RefuseTimers();
  const auto result =
      test.Get({.deadline = Deadline::After(test.transport.clock(), std::chrono::seconds(5))});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kCancelled);
  provider->Complete();  // Too late: must have no effect.
}

}  // namespace
}  // namespace penstock::s3
