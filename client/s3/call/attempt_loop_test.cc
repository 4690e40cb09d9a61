#include "client/s3/call/attempt_loop.h"

#include <gtest/gtest.h>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error Reset() { return Error::Make(ErrorKind::kUnavailable, "connection reset"); }

TEST(DispatcherTest, SignsRequests) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  const auto requests = test.transport.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].request.target, "/bucket/key");
  EXPECT_EQ(test.Header(0, "Host"), "127.0.0.1:9000");
  EXPECT_EQ(test.Header(0, "Authorization")
                .find("AWS4-HMAC-SHA256 Credential=AKID/20130524/us-east-1/s3/aws4_request"),
            0u);
  EXPECT_EQ(test.Header(0, "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(test.sink.text, "abc");
  EXPECT_FALSE(requests[0].has_body);
}

TEST(DispatcherTest, HashesDocumentsButNotObjectBodies) {
  ClientUnderTest test;
  test.transport.SetHandler([](const auto&) {
    return FakeReply::Respond(200, {{"ETag", "\"e\""}}, "<DeleteResult/>");
  });
  StringSource body("abc");
  ASSERT_TRUE(
      test.Run(PutObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body})
          .ok());
  ASSERT_TRUE(
      test.Run(DeleteObjectsRequest{.bucket = BucketName("b"), .keys = {ObjectKey("k")}}).ok());
  EXPECT_EQ(test.Header(0, "x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
  EXPECT_EQ(test.Header(1, "x-amz-content-sha256"),
            auth::PayloadSha256(AsBytes(test.transport.requests()[1].body)));
}

TEST(DispatcherTest, WritesWithoutABodySendContentLength) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200));
  ASSERT_TRUE(test.Run(CreateBucketRequest{.bucket = BucketName("bucket")}).ok());
  EXPECT_TRUE(test.transport.requests()[0].has_body);
  EXPECT_EQ(test.transport.requests()[0].body, "");
}

TEST(DispatcherTest, AnonymousRequestsAreNotSigned) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .signing = Signing::kUnsigned});
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.Header(0, "Authorization"), "(none)");
  EXPECT_EQ(test.Header(0, "x-amz-date"), "(none)");
}

TEST(DispatcherTest, RetriesWithANewSignatureAndTheSameInvocationId) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown", {{"x-amz-retry-after", "3000"}}));
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(test.sent(), 3u);
  EXPECT_EQ(test.Header(0, "amz-sdk-request"), "attempt=1; max=10");
  EXPECT_EQ(test.Header(2, "amz-sdk-request"), "attempt=3; max=10");
  EXPECT_EQ(test.Header(0, "amz-sdk-invocation-id"), test.Header(2, "amz-sdk-invocation-id"));
  EXPECT_EQ(test.Header(1, "x-amz-date"), "20130524T000003Z");
  EXPECT_EQ(test.client->stats().retries, 2u);
}

TEST(DispatcherTest, WaitsLongerAfterThrottling) {
  ClientUnderTest test;
  const MonotonicTime start = test.transport.clock().Monotonic();
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(Refuse(500, "InternalError"));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  // Jitter 0.5: 125 ms, 250 ms, then 0.5 * 50 ms * 4.
  const std::vector<MonotonicTime> expected = {start + milliseconds(125), start + milliseconds(375),
                                               start + milliseconds(475)};
  EXPECT_EQ(test.transport.run_at_times(), expected);
}

TEST(DispatcherTest, StopsAfterMaxAttemptsWithACompleteError) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 3});
  test.transport.SetHandler([](const auto&) {
    return Refuse(503, "SlowDown", {{"x-amz-id-2", "H"}});
  });
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  const Error& error = result.error();
  EXPECT_EQ(error.kind, ErrorKind::kThrottled);
  EXPECT_EQ(error.code, "SlowDown");
  EXPECT_EQ(error.http_status, 503);
  EXPECT_EQ(error.operation, "GetObject");
  EXPECT_EQ(error.bucket, "bucket");
  EXPECT_EQ(error.key, "key");
  EXPECT_EQ(error.request_id, "R");
  EXPECT_EQ(error.host_id, "H");
  EXPECT_EQ(error.attempts, 3);
  EXPECT_EQ(test.sent(), 3u);
}

TEST(DispatcherTest, PermanentErrorsAreSentOnce) {
  for (const auto& [status, code] :
       {std::pair{404, "NoSuchKey"}, std::pair{403, "AccessDenied"},
        std::pair{412, "PreconditionFailed"}, std::pair{409, "OperationAborted"}}) {
    ClientUnderTest test;
    test.transport.Expect(Refuse(status, code));
    const auto result = test.Get();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, code);
    EXPECT_EQ(test.sent(), 1u) << code;
  }
}

TEST(DispatcherTest, BodiesAreRewoundForEveryAttempt) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(500, "InternalError"));
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  StringSource body("123456789");
  ASSERT_TRUE(
      test.Run(PutObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body})
          .ok());
  EXPECT_EQ(test.transport.requests()[0].body, "123456789");
  EXPECT_EQ(test.transport.requests()[1].body, "123456789");
}

TEST(DispatcherTest, AWrongChecksumIsRetriedAndThenReported) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 2});
  const std::vector<http::Header> checksum = {{"x-amz-checksum-crc64nvme", "rosUhgp5mIg="}};
  test.transport.Expect(Object("123456788", checksum));
  test.transport.Expect(Object("123456789", checksum));
  ASSERT_TRUE(test.Get().ok());
  EXPECT_EQ(test.sink.text, "123456789");
  test.transport.SetHandler([checksum](const auto&) { return Object("123456788", checksum); });
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(result.error().attempts, 2);
}

TEST(DispatcherTest, ErrorsOfTheSinkAreNotRetried) {
  ClientUnderTest test;
  test.sink.refusal = Error::Make(ErrorKind::kResourceExhausted, "no room");
  test.transport.Expect(Object("abc"));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "no room");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(DispatcherTest, AResponseThatTheSinkRefusesAsDataLossIsReadAgain) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 2});
  test.sink.refusal = Error::Make(ErrorKind::kDataLoss, "another size");
  test.transport.Expect(Object("abc"));
  test.transport.Expect(Object("abc"));
  EXPECT_EQ(test.Get().error().message, "another size");
  EXPECT_EQ(test.sent(), 2u);
}

TEST(DispatcherTest, AnErrorResponseWithAnIncompleteBodyIsStillThatError) {
  ClientUnderTest test;
  FakeReply refusal = FakeReply::Respond(404, {{"x-amz-request-id", "R2"}}, "<Error><Code>NoSu");
  test.transport.Expect(FakeReply::FailAfter(refusal, Reset()));
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(result.error().request_id, "R2");
}

TEST(DispatcherTest, AnErrorInsideA200IsRetried) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200, {}, "   " + ErrorXml("InternalError").substr(39)));
  test.transport.Expect(FakeReply::Respond(200));
  test.transport.Expect(FakeReply::Respond(200, {},
                                           "<CompleteMultipartUploadResult><ETag>&quot;x-1&quot;</"
                                           "ETag></CompleteMultipartUploadResult>"));
  const auto result = test.Run(CompleteMultipartUploadRequest{.bucket = BucketName("b"),
                                                              .key = ObjectKey("k"),
                                                              .upload_id = UploadId("u"),
                                                              .parts = {{1, ETag("e"), ""}}});
  ASSERT_TRUE(result.ok()) << result.error().ToString();
  EXPECT_EQ(result->etag.value, "x-1");
  EXPECT_EQ(test.sent(), 3u);
}

FakeReply Page() {
  const std::string page = "<html><body>Sign in<br></body></html>";
  return FakeReply::Respond(
      200, {{"Content-Length", std::to_string(page.size())}, {"Content-Type", "text/html"}}, page);
}

TEST(DispatcherTest, AResponseThatIsNotFromS3IsRetriedOnceAndReported) {
  // Symptom: an endpoint other than S3 received ten requests in 15 s before the call failed.
  ClientUnderTest test;
  test.transport.SetHandler([](const auto&) { return Page(); });
  const auto listing = test.Run(ListObjectsRequest{.bucket = BucketName("bucket")});
  ASSERT_FALSE(listing.ok());
  EXPECT_EQ(listing.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(listing.error().message,
            "the 200 response should contain a <ListBucketResult> document, but its root is <html> "
            "(the response came from 127.0.0.1:9000, which may not be an S3 endpoint)");
  EXPECT_EQ(listing.error().attempts, 2);
  EXPECT_EQ(test.Get().error().attempts, 2);
  StringSource body("abc");
  const auto put =
      test.Run(PutObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body});
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().attempts, 2);
  EXPECT_NE(put.error().message.find("may not be an S3 endpoint"), std::string::npos)
      << put.error().message;
  EXPECT_EQ(test.sent(), 6u);
}

TEST(DispatcherTest, AProxyPageBetweenResponsesIsRetried) {
  ClientUnderTest test;
  test.transport.Expect(Page());
  test.transport.Expect(FakeReply::Respond(200, {}, "<ListBucketResult/>"));
  EXPECT_TRUE(test.Run(ListObjectsRequest{.bucket = BucketName("bucket")}).ok());
}

TEST(DispatcherTest, AnIncompleteDocumentIsRetried) {
  ClientUnderTest test;
  for (int i = 0; i < 5; ++i)
    test.transport.Expect(FakeReply::Respond(200, {}, "<ListBucketResult><Name>"));
  test.transport.Expect(FakeReply::Respond(200, {}, "<ListBucketResult/>"));
  EXPECT_TRUE(test.Run(ListObjectsRequest{.bucket = BucketName("bucket")}).ok());
  EXPECT_EQ(test.sent(), 6u);
}

TEST(DispatcherTest, HeadErrorsHaveTheStatusAsTheirCode) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(404));
  const auto result = test.Run(HeadObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(result.error().code, "404");
}

TEST(DispatcherTest, WithoutAnEndpointSendsNothing) {
  ClientUnderTest test;
  const auto result = test.Run(
      HeadBucketRequest{.bucket = BucketName("arn:aws:s3::123456789012:accesspoint/alias.mrap")});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(result.error().operation, "HeadBucket");
  EXPECT_EQ(result.error().attempts, 0);
  EXPECT_EQ(test.sent(), 0u);
}

TEST(DispatcherTest, AnEmptyQuotaStopsRetries) {
  ClientUnderTest test({.endpoint_url = "http://127.0.0.1:9000", .max_attempts = 11});
  test.transport.SetHandler([](const auto&) { return Refuse(500, "InternalError"); });
  // 10 calls x 10 retries x 5 tokens.
  for (int call = 0; call < 10; ++call) EXPECT_FALSE(test.Get().ok());
  EXPECT_EQ(test.sent(), 110u);
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().attempts, 1);
  EXPECT_NE(result.error().message.find("retry quota"), std::string::npos);
}

TEST(DispatcherTest, SucceedsWithFivePercentThrottling) {
  ClientUnderTest test;
  std::uint64_t state = 1;  // A linear congruential generator, so that every run is the same.
  test.transport.SetHandler([&state](const auto&) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % 100 < 5 ? Refuse(503, "SlowDown") : Object("abc");
  });
  for (int call = 0; call < 2000; ++call) ASSERT_TRUE(test.Get().ok()) << call;
  const ClientStats stats = test.client->stats();
  EXPECT_GT(stats.throttled, 50u);
  EXPECT_EQ(stats.throttled, stats.retries);
  EXPECT_EQ(stats.failures, 0u);
}

TEST(DispatcherTest, TheObserverSeesEveryAttempt) {
  ClientUnderTest test;
  std::vector<RequestEvent> events;
  test.client->SetObserver([&events](const RequestEvent& event) { events.push_back(event); });
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(Object("abc"));
  ASSERT_TRUE(test.Get().ok());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].operation, "GetObject");
  EXPECT_EQ(events[0].bucket, "bucket");
  EXPECT_EQ(events[0].key, "key");
  EXPECT_EQ(events[0].attempt, 1);
  EXPECT_EQ(events[0].http_status, 503);
  EXPECT_EQ(events[0].error_code, "SlowDown");
  EXPECT_EQ(events[1].http_status, 0);
  EXPECT_EQ(events[1].error_code, "unavailable");
  EXPECT_EQ(events[2].attempt, 3);
  EXPECT_EQ(events[2].error_code, "");
  EXPECT_EQ(events[2].bytes_received, 3u);
  EXPECT_EQ(test.client->stats().requests.at("GetObject"), 3u);
}

TEST(DispatcherTest, AlreadyDoneAfterALostResponseIsSuccess) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(Refuse(404, "NoSuchBucket"));
  EXPECT_TRUE(test.Run(DeleteBucketRequest{.bucket = BucketName("bucket")}).ok());
  test.transport.Expect(Refuse(500, "InternalError"));
  test.transport.Expect(Refuse(409, "BucketAlreadyOwnedByYou"));
  EXPECT_TRUE(test.Run(CreateBucketRequest{.bucket = BucketName("bucket")}).ok());
}

TEST(DispatcherTest, AlreadyDoneWithoutALostResponseIsAnError) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(404, "NoSuchBucket"));
  EXPECT_EQ(test.Run(DeleteBucketRequest{.bucket = BucketName("bucket")}).error().code,
            "NoSuchBucket");
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(Refuse(409, "BucketNotEmpty"));
  EXPECT_EQ(test.Run(DeleteBucketRequest{.bucket = BucketName("bucket")}).error().code,
            "BucketNotEmpty");
}

TEST(DispatcherTest, ErrorOfAFailedConditionMentionsALostResponse) {
  ClientUnderTest test;
  StringSource body("abc");
  const PutObjectRequest put{
      .bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body, .if_none_match_any = true};
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(Refuse(412, "PreconditionFailed"));
  EXPECT_NE(test.Run(put).error().message.find("may have been carried out"), std::string::npos);
  test.transport.Expect(Refuse(412, "PreconditionFailed"));
  EXPECT_EQ(test.Run(put).error().message.find("may have been carried out"), std::string::npos);
}

// Symptom: keys that the call had deleted were failures NoSuchKey without a word about the attempt
// whose response was lost.
TEST(DispatcherTest, FailuresOfADeletionMentionALostResponse) {
  ClientUnderTest test;
  const auto refuse = [] {
    return FakeReply::Respond(200, {},
                              "<DeleteResult><Error><Key>k</Key><Code>NoSuchKey</Code>"
                              "<Message>no key</Message></Error></DeleteResult>");
  };
  const DeleteObjectsRequest request{
      .bucket = BucketName("b"),
      .objects = {{.key = ObjectKey("k"), .version_id = {}, .if_match = ETag("e")}}};
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(refuse());
  EXPECT_EQ(test.Run(request)->failures.at(0).message,
            "no key (an earlier attempt of this call got no clear answer and may have been carried "
            "out)");
  test.transport.Expect(refuse());
  EXPECT_EQ(test.Run(request)->failures.at(0).message, "no key");
}

// Symptom: with only the throttling error, a caller treated the executed first request as not
// executed.
TEST(DispatcherTest, AThrottledRetryOfALostResponseMayHaveBeenCarriedOut) {
  ClientUnderTest test(
      {.endpoint_url = "http://127.0.0.1:9000", .disable_s3_express_session_auth = true});
  StringSource body("abc");
  const auto says = [](const Error& error) {
    return error.message.find("may have been carried out") != std::string::npos;
  };
  const auto throttle_to_the_end = [&test](FakeReply first) {
    test.transport.Expect(std::move(first));
    for (int attempt = 2; attempt <= 10; ++attempt) test.transport.Expect(Refuse(503, "SlowDown"));
  };
  const PutObjectRequest put{
      .bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body, .if_none_match_any = true};
  const RenameObjectRequest rename{.bucket = BucketName("b--usw2-az1--x-s3"),
                                   .source = ObjectKey("k"),
                                   .destination = ObjectKey("l"),
                                   .client_token = "t"};
  const CompleteMultipartUploadRequest complete{.bucket = BucketName("b"),
                                                .key = ObjectKey("k"),
                                                .upload_id = UploadId("u"),
                                                .parts = {{1, ETag("e"), ""}}};
  throttle_to_the_end(FakeReply::Fail(Reset()));
  EXPECT_TRUE(says(test.Run(put).error()));
  throttle_to_the_end(Refuse(500, "InternalError"));
  EXPECT_TRUE(says(test.Run(put).error()));
  throttle_to_the_end(FakeReply::Fail(Reset()));
  EXPECT_TRUE(says(test.Run(rename).error()));
  throttle_to_the_end(FakeReply::Fail(Reset()));
  EXPECT_TRUE(says(test.Run(complete).error()));
  throttle_to_the_end(Refuse(503, "SlowDown"));
  EXPECT_FALSE(says(test.Run(put).error())) << "S3 executed none of them";
  throttle_to_the_end(Refuse(503, "SlowDown"));
  EXPECT_FALSE(says(test.Run(complete).error()));
  throttle_to_the_end(FakeReply::Refuse(Reset()));
  EXPECT_FALSE(says(test.Run(put).error())) << "none was sent";
}

TEST(DispatcherTest, AThrottledRequestWasNotExecuted) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(Refuse(404, "NoSuchBucket"));
  EXPECT_EQ(test.Run(DeleteBucketRequest{.bucket = BucketName("bucket")}).error().code,
            "NoSuchBucket");
}

TEST(DispatcherTest, AnUnsentRequestWasNotExecuted) {
  ClientUnderTest test;
  const DeleteBucketRequest remove{.bucket = BucketName("bucket")};
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(Refuse(404, "NoSuchBucket"));
  EXPECT_EQ(test.Run(remove).error().code, "NoSuchBucket");
  StringSource body("abc");
  const PutObjectRequest put{
      .bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body, .if_none_match_any = true};
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(Refuse(412, "PreconditionFailed"));
  EXPECT_EQ(test.Run(put).error().message.find("may have been carried out"), std::string::npos);
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(FakeReply::Fail(Reset()));
  test.transport.Expect(FakeReply::Refuse(Reset()));
  test.transport.Expect(Refuse(404, "NoSuchBucket"));
  EXPECT_TRUE(test.Run(remove).ok()) << "one of them was sent";
}

}  // namespace
}  // namespace penstock::s3
