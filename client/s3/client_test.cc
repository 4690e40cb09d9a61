#include "penstock/client.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "client/http/proxy_variable_for_test.h"
#include "client/s3/client_for_test.h"
#include "penstock/memory.h"

namespace penstock::s3 {
namespace {

const BucketName kBucket("bucket");
const ObjectKey kKey("key");
const UploadId kUpload("u");

// Returns "METHOD target" of the last request.
std::string Sent(const ClientUnderTest& test) {
  const http::Request request = test.transport.requests().back().request;
  return request.method + " " + request.target;
}

TEST(ClientTest, SendsEveryObjectOperation) {
  ClientUnderTest test;
  StringSource body("abc");
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Run(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &test.sink}).ok());
  EXPECT_EQ(Sent(test), "GET /bucket/key");
  test.transport.Expect(Object("abc"));
  EXPECT_EQ(test.Run(HeadObjectRequest{.bucket = kBucket, .key = kKey})->size, 3u);
  EXPECT_EQ(Sent(test), "HEAD /bucket/key");
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  EXPECT_EQ(test.Run(PutObjectRequest{.bucket = kBucket, .key = kKey, .body = &body})->etag.value,
            "e");
  EXPECT_EQ(Sent(test), "PUT /bucket/key");
  test.transport.Expect(FakeReply::Respond(204));
  EXPECT_TRUE(test.Run(DeleteObjectRequest{.bucket = kBucket, .key = kKey}).ok());
  EXPECT_EQ(Sent(test), "DELETE /bucket/key");
  test.transport.Expect(FakeReply::Respond(200, {}, "<DeleteResult/>"));
  EXPECT_TRUE(test.Run(DeleteObjectsRequest{.bucket = kBucket, .keys = {kKey}}).ok());
  EXPECT_EQ(Sent(test), "POST /bucket?delete=");
  test.transport.Expect(
      FakeReply::Respond(200, {}, "<CopyObjectResult><ETag>e</ETag></CopyObjectResult>"));
  EXPECT_EQ(test.Run(CopyObjectRequest{kBucket, kKey, kBucket, ObjectKey("copy")})->etag.value,
            "e");
  EXPECT_EQ(Sent(test), "PUT /bucket/copy");
}

TEST(ClientTest, ListsVersionsAndRetries) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(503, {}, "<Error><Code>SlowDown</Code></Error>"));
  test.transport.Expect(FakeReply::Respond(200, {}, "<ListVersionsResult/>"));
  EXPECT_TRUE(test.Run(ListObjectVersionsRequest{.bucket = kBucket}).ok());
  EXPECT_EQ(Sent(test), "GET /bucket?versions=&encoding-type=url&max-keys=1000");
  EXPECT_EQ(test.sent(), 2u);
}

TEST(ClientTest, SendsEveryMultipartOperation) {
  ClientUnderTest test;
  StringSource body("abc");
  test.transport.Expect(FakeReply::Respond(
      200, {},
      "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"));
  EXPECT_EQ(test.Run(CreateMultipartUploadRequest{.bucket = kBucket, .key = kKey})->upload_id,
            kUpload);
  EXPECT_EQ(Sent(test), "POST /bucket/key?uploads=");
  test.transport.Expect(FakeReply::Respond(200, {{"ETag", "\"e\""}}));
  EXPECT_EQ(test.Run(UploadPartRequest{kBucket, kKey, kUpload, 1, &body, {}})->etag.value, "e");
  EXPECT_EQ(Sent(test), "PUT /bucket/key?partNumber=1&uploadId=u");
  test.transport.Expect(
      FakeReply::Respond(200, {}, "<CopyPartResult><ETag>e2</ETag></CopyPartResult>"));
  EXPECT_EQ(test.Run(UploadPartCopyRequest{kBucket, kKey, {}, {}, kBucket, kKey, kUpload, 2, {}})
                ->etag.value,
            "e2");
  EXPECT_EQ(Sent(test), "PUT /bucket/key?partNumber=2&uploadId=u");
  test.transport.Expect(FakeReply::Respond(
      200, {}, "<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>"));
  EXPECT_TRUE(test.Run(ListPartsRequest{kBucket, kKey, kUpload, 0, {}}).ok());
  EXPECT_EQ(Sent(test), "GET /bucket/key?uploadId=u");
  test.transport.Expect(FakeReply::Respond(200, {}, "<ListMultipartUploadsResult/>"));
  EXPECT_TRUE(test.Run(ListMultipartUploadsRequest{.bucket = kBucket}).ok());
  EXPECT_EQ(Sent(test), "GET /bucket?uploads=&encoding-type=url");
  test.transport.Expect(FakeReply::Respond(
      200, {}, "<CompleteMultipartUploadResult><ETag>x-1</ETag></CompleteMultipartUploadResult>"));
  EXPECT_EQ(test.Run(CompleteMultipartUploadRequest{
                         kBucket, kKey, kUpload, {{1, ETag("e"), ""}}, 3, false, {}})
                ->etag.value,
            "x-1");
  EXPECT_EQ(Sent(test), "POST /bucket/key?uploadId=u");
  test.transport.Expect(FakeReply::Respond(204));
  EXPECT_TRUE(test.Run(AbortMultipartUploadRequest{kBucket, kKey, kUpload, {}}).ok());
  EXPECT_EQ(Sent(test), "DELETE /bucket/key?uploadId=u");
}

TEST(ClientTest, SendsEveryBucketOperation) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200));
  EXPECT_TRUE(test.Run(CreateBucketRequest{kBucket, {}}).ok());
  EXPECT_EQ(Sent(test), "PUT /bucket");
  test.transport.Expect(FakeReply::Respond(200, {{"x-amz-bucket-region", "r"}}));
  EXPECT_EQ(test.Run(HeadBucketRequest{kBucket, {}})->region, "r");
  EXPECT_EQ(Sent(test), "HEAD /bucket");
  test.transport.Expect(FakeReply::Respond(
      200, {}, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"));
  EXPECT_TRUE(test.Run(ListObjectsRequest{.bucket = kBucket}).ok());
  EXPECT_EQ(Sent(test), "GET /bucket?list-type=2&encoding-type=url&max-keys=1000");
  test.transport.Expect(FakeReply::Respond(200, {}, "<ListAllMyBucketsResult/>"));
  EXPECT_TRUE(test.Run(ListBucketsRequest{}).ok());
  EXPECT_EQ(Sent(test), "GET /");
  test.transport.Expect(FakeReply::Respond(204));
  EXPECT_TRUE(test.Run(DeleteBucketRequest{kBucket, {}}).ok());
  EXPECT_EQ(Sent(test), "DELETE /bucket");
}

TEST(ClientTest, ErrorsOfInvalidRequestsNameTheirTarget) {
  ClientUnderTest test;
  const auto result = test.Run(UploadPartRequest{kBucket, kKey, kUpload, 0, nullptr, {}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().operation, "UploadPart");
  EXPECT_EQ(result.error().bucket, "bucket");
  EXPECT_EQ(result.error().key, "key");
  EXPECT_EQ(test.client->stats().failures, 1u);
  EXPECT_EQ(test.sent(), 0u);
}

TEST(ClientTest, AnErrorDoesNotContainTheSignatureThatTheServerRepeats) {
  ClientUnderTest test;
  std::string signature;
  test.transport.SetHandler([&](const http::RecordedRequest& request) {
    const std::string value = request.Header("Authorization").value_or("");
    signature = value.substr(value.rfind('=') + 1);
    return FakeReply::Respond(403, {{"x-amz-request-id", signature}},
                              ErrorXml("AccessDenied", "<Given>" + signature + "</Given>"));
  });
  const auto result = test.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(signature.size(), 64u);
  EXPECT_EQ(result.error().request_id, "***");
  EXPECT_EQ(result.error().details,
            (std::vector<std::pair<std::string, std::string>>{{"Given", "***"}}));
}

TEST(ClientTest, ACallOutlivesItsClient) {
  ClientUnderTest test;
  test.transport.Expect(Object("abc"));
  test.transport.Hold();
  std::optional<Result<ObjectMetadata>> result;
  test.client->Start(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &test.sink},
                     [&result](Result<ObjectMetadata> r) { result.emplace(std::move(r)); });
  test.client.reset();
  test.transport.Release();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->ok());
}

TEST(ClientTest, ConfigReturnsTheEffectiveSettings) {
  ClientUnderTest test;
  EXPECT_EQ(test.client->config().region, "us-east-1");
  EXPECT_EQ(test.client->config().endpoint_url, "http://127.0.0.1:9000");
}

TEST(ClientTest, CreateRejectsAnInvalidEndpoint) {
  const auto client = Client::Impl::Make({.region = "r", .endpoint_url = "INVALID"},
                                         {nullptr, &SystemClock(), nullptr, EmptyEnvironment()});
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().kind, ErrorKind::kInvalidArgument);
}

// Responds to every request on the calling thread, without a lock that a fork could leave locked.
class InlineTransport final : public http::Transport {
 public:
  void Start(http::Request, http::RequestBody*, http::ResponseBody* body, http::CallContext,
             http::Completion done) override {
    http::Outcome outcome;
    outcome.head = {200, {{"Content-Length", "3"}, {"ETag", "\"e\""}}};
    if (auto begun = body->Begin(outcome.head); !begun.ok()) return done(begun.error());
    std::memcpy(body->Window().data(), "abc", 3);
    if (auto committed = body->Commit(3); !committed.ok()) return done(committed.error());
    done(std::move(outcome));
  }
  Result<void> RunAt(MonotonicTime, std::function<void()> task) override {
    task();
    return Ok();
  }
};

// Symptom: a call of a static destructor, whose attempts fail, hung despite its deadline. The
// transport had been parked by then, and dropped the timers of backoff and deadline.
TEST(ClientTest, CallsAfterTheEndOfTheTransportComplete) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a separate process, not a fork of this one
  static Client* client = nullptr;
  static const auto fails = [] {
    return !client
                ->Call(HeadObjectRequest{.bucket = kBucket,
                                         .key = kKey,
                                         .options = {.deadline = Deadline::After(
                                                         SystemClock(), std::chrono::seconds(5))}})
                .ok();
  };
  const auto exit_with_a_late_call = [] {
    // Registered before the transport exists, so it runs after the end of the transport.
    std::atexit([] {
      if (fails()) static_cast<void>(!::write(STDERR_FILENO, "completed", 9));
    });
    ClientConfig config{.endpoint_url = "http://127.0.0.1:1"};  // refuses connections
    config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
    client = Client::Create(std::move(config)).value().release();
    CallOptions options;
    options.deadline = Deadline::After(SystemClock(), std::chrono::milliseconds(100));
    const bool failed =
        !client->Call(HeadObjectRequest{.bucket = kBucket, .key = kKey, .options = options}).ok();
    std::exit(failed ? 0 : 1);
  };
  EXPECT_EXIT(exit_with_a_late_call(), ::testing::ExitedWithCode(0), "completed");
}

TEST(ClientTest, ClientWorksInAChildForkedUnderLoad) {
  const auto transport = std::make_shared<InlineTransport>();
  // The default chain, whose cache has a lock. The environment provides the keys.
  auth::Environment environment = EmptyEnvironment();
  environment.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "AWS_ACCESS_KEY_ID") return "AKID";
    if (name == "AWS_SECRET_ACCESS_KEY") return "secret";
    return std::nullopt;
  };
  const auto client = Client::Impl::Make({.endpoint_url = "http://127.0.0.1:9000"},
                                         {[transport] { return transport; }, &SystemClock(),
                                          MakeRandomBits(), environment})
                          .value();
  std::atomic<int> observed{0};
  client->SetObserver([&observed](const RequestEvent&) { ++observed; });
  std::jthread hammer([&client](std::stop_token stop) {
    StringSink sink;
    while (!stop.stop_requested()) {
      client->Start(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &sink},
                    [](Result<ObjectMetadata>) {});
    }
  });
  while (observed < 10) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // Ends the test if a locked lock hangs here.
      StringSink sink;
      bool good = false;
      client->Start(GetObjectRequest{.bucket = kBucket, .key = kKey, .sink = &sink},
                    [&good](Result<ObjectMetadata> result) { good = result.ok(); });
      ::_exit(good && client->stats().requests.at("GetObject") > 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << "round " << round;
  }
}

TEST(ResponseInfoTest, ASuccessReportsIdsStatusAttemptsAndHeaders) {
  ClientUnderTest test;
  std::vector<ResponseInfo> infos;
  CallOptions options;
  options.on_response = [&](const ResponseInfo& info) { infos.push_back(info); };
  test.transport.Expect(Refuse(503, "SlowDown"));
  test.transport.Expect(
      Object("abc", {{"x-amz-request-id", "R"}, {"x-amz-id-2", "H"}, {"x-new", "v"}}));
  EXPECT_TRUE(test.Get(options).ok());
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos[0].http_status, 200);
  EXPECT_EQ(infos[0].request_id, "R");
  EXPECT_EQ(infos[0].host_id, "H");
  EXPECT_EQ(infos[0].attempts, 2);
  EXPECT_NE(std::ranges::find(infos[0].headers, std::pair<std::string, std::string>("x-new", "v")),
            infos[0].headers.end());
  test.transport.Expect(Refuse(404, "NoSuchKey"));
  EXPECT_FALSE(test.Get(options).ok());
  EXPECT_EQ(infos.size(), 1U);
}

TEST(ResponseInfoTest, AnExceptionOfTheObserverDoesNotChangeTheResult) {
  ClientUnderTest test;
  CallOptions options;
  options.on_response = [](const ResponseInfo&) { throw std::runtime_error("observer"); };
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Get(options).ok());
}

TEST(ConditionalReadTest, NotModifiedIsAnErrorKindWithTheValidatorsAndIsNotRetried) {
  ClientUnderTest test;
  HeadObjectRequest request{.bucket = kBucket, .key = kKey};
  request.if_none_match = ETag("e");
  test.transport.Expect(FakeReply::Respond(304, {{"ETag", "\"e\""}}));
  const auto result = test.Run(request);
  EXPECT_EQ(result.error().kind, ErrorKind::kNotModified);
  EXPECT_EQ(result.error().http_status, 304);
  EXPECT_EQ(result.error().details,
            (std::vector<std::pair<std::string, std::string>>{{"ETag", "\"e\""}}));
  EXPECT_EQ(test.sent(), 1U);
}

TEST(ExtraHeadersTest, AreSentAndSigned) {
  ClientUnderTest test;
  HeadObjectRequest request{.bucket = kBucket, .key = kKey};
  request.options.extra_headers = {{"x-amz-new", "v"}};
  request.options.extra_query = {{"new", "a b"}};
  test.transport.Expect(Object("abc"));
  EXPECT_TRUE(test.Run(request).ok());
  EXPECT_EQ(Sent(test), "HEAD /bucket/key?new=a%20b");
  EXPECT_EQ(test.Header(0, "x-amz-new"), "v");
  EXPECT_NE(test.Header(0, "Authorization").find("x-amz-new"), std::string::npos);
}

CustomerKey SomeKey() { return CustomerKey::Create(AsBytes(std::string(32, 'k'))).value(); }

TEST(CustomerKeyTest, IsNotSentWithoutTlsToAnotherMachine) {
  for (const auto& [endpoint, sent] :
       {std::pair{"http://127.0.0.1:9000", true}, std::pair{"http://localhost:9000", true},
        std::pair{"http://[::1]:9000", true}, std::pair{"https://192.0.2.1", true},
        std::pair{"http://192.0.2.1:9000", false}, std::pair{"http://s3.example.com", false},
        std::pair{"http://127.example.com", false}}) {
    ClientUnderTest test({.endpoint_url = endpoint, .addressing_style = AddressingStyle::kPath});
    HeadObjectRequest request{.bucket = kBucket, .key = kKey};
    request.customer_key = SomeKey();
    if (sent) test.transport.Expect(Object("abc"));
    const auto result = test.Run(request);
    EXPECT_EQ(result.ok(), sent) << endpoint;
    EXPECT_EQ(test.sent(), sent ? 1U : 0U) << endpoint;
    if (!sent) {
      EXPECT_EQ(result.error().kind, ErrorKind::kInvalidArgument);
    }
  }
}

TEST(CustomerKeyTest, IsNotSentToALoopbackAddressThroughAProxy) {
  const auto head = [](std::optional<ProxyConfig> proxy, const std::string& endpoint) {
    ClientUnderTest test({.endpoint_url = endpoint, .proxy = std::move(proxy)});
    HeadObjectRequest request{.bucket = kBucket, .key = kKey};
    request.customer_key = SomeKey();
    test.transport.SetHandler([](const http::RecordedRequest&) { return Object("abc"); });
    const auto result = test.Run(request);
    EXPECT_EQ(test.sent(), result.ok() ? 1U : 0U);
    return result.ok() ? "sent" : result.error().message;
  };
  constexpr const char* kLocal = "http://127.0.0.1:9000";
  const http::ProxyVariable variable("http_proxy", "http://user:hunter2@192.0.2.1:3128");
  const std::string refused = head(std::nullopt, kLocal);
  EXPECT_NE(refused.find("the proxy 192.0.2.1:3128 (http_proxy)"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("hunter2"), std::string::npos) << refused;
  EXPECT_NE(head(ProxyConfig{"socks5://192.0.2.1:1080", ""}, kLocal).find("192.0.2.1:1080"),
            std::string::npos);
  EXPECT_EQ(head(ProxyConfig{"", ""}, kLocal), "sent") << "no proxy";
  EXPECT_EQ(head(ProxyConfig{"http://192.0.2.1:3128", "127.0.0.0/8"}, kLocal), "sent");
  EXPECT_EQ(head(std::nullopt, "https://127.0.0.1:9000"), "sent");
}

TEST(CustomerKeyTest, IsRedactedFromTextsOfTheServer) {
  ClientUnderTest test;
  GetObjectRequest request{.bucket = kBucket, .key = kKey, .sink = &test.sink};
  request.customer_key = SomeKey();
  test.transport.Expect(FakeReply::Respond(400, {},
                                           "<Error><Code>InvalidArgument</Code><Message>key " +
                                               SomeKey().base64() + "</Message></Error>"));
  const auto result = test.Run(request);
  EXPECT_EQ(result.error().message, "key ***");
}

TEST(ClientTest, RequestIdOfAnEventHasNoSecret) {
  ClientUnderTest test;
  std::vector<std::string> ids;
  test.client->SetObserver([&](const RequestEvent& event) { ids.push_back(event.request_id); });
  HeadObjectRequest request{.bucket = kBucket, .key = kKey};
  request.customer_key = SomeKey();
  test.transport.Expect(Object("abc", {{"x-amz-request-id", "id-" + SomeKey().base64()}}));
  test.transport.Expect(Object("abc", {{"x-amz-request-id", "http://user:hunter2@host/"}}));
  test.transport.Expect(Object("abc", {{"x-amz-request-id", "4442587FB7D0A2F9"}}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(test.Run(request).ok());
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0], "id-***");
  EXPECT_EQ(ids[1].find("hunter2"), std::string::npos) << ids[1];
  EXPECT_EQ(ids[2], "4442587FB7D0A2F9");
}

TEST(ConfigurationTest, ErrorsNameTheOperationOfTheKind) {
  ClientUnderTest test;
  test.transport.Expect(Refuse(404, "NoSuchLifecycleConfiguration"));
  const GetBucketConfigurationRequest request{kBucket, BucketConfigurationKind::kLifecycle, {}, {}};
  const auto result = test.Run(request);
  EXPECT_EQ(result.error().operation, "GetBucketLifecycleConfiguration");
  EXPECT_EQ(result.error().kind, ErrorKind::kNotFound);
  test.transport.Expect(FakeReply::Respond(204));
  EXPECT_TRUE(test.Run(PutBucketTaggingRequest{kBucket, {{"a", "b"}}, {}}).ok());
}

}  // namespace
}  // namespace penstock::s3
