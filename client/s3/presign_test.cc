// Presigned requests. URLs of the tests named ...AsBotocore are those of botocore 1.44.8
// (generate_presigned_url, generate_presigned_post; without the CRT) for the same input at the same
// time.
#include "penstock/presign.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "base/encoding.h"
#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using std::chrono::seconds;

const BucketName kBucket("examplebucket");
constexpr WallTime kNow{seconds(1369353600)};  // 2013-05-24T00:00:00Z

// The credentials of the examples in AWS's documentation.
auth::ProviderPtr ExampleCredentials(std::string token = {}) {
  return auth::MakeStaticProvider(
      {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", std::move(token), {}});
}

struct PresignTest : testing::Test {
  ClientUnderTest& Make(ClientConfig config) {
    if (config.credentials == nullptr) config.credentials = ExampleCredentials();
    test.emplace(std::move(config));
    test->transport.clock().SetNow(kNow);
    return *test;
  }
  ClientUnderTest& InIreland() { return Make({.region = "eu-west-1"}); }
  std::optional<ClientUnderTest> test;
};

// The URL up to the path, the operation's parameters, the expiry with the signed headers, and the
// signature are given; the rest is the same in all examples.
std::string BotocoreUrl(const std::string& path_and_query, const std::string& expires_and_headers,
                        const std::string& signature) {
  const char joint = path_and_query.find('?') == std::string::npos ? '?' : '&';
  return "https://examplebucket.s3.eu-west-1.amazonaws.com/" + path_and_query + joint +
         "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
         "%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=" +
         expires_and_headers + "&X-Amz-Signature=" + signature;
}

// "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)", Amazon S3 API
// Reference.
TEST_F(PresignTest, TheUrlOfAwsDocumentation) {
  Make({.region = "us-east-1", .endpoint_url = "https://s3.amazonaws.com"});
  const GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("test.txt")};
  const auto url = Presign(*test->client, request, {.expires = seconds(86400)});
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(url->url,
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&"
            "X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&"
            "X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&"
            "X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
  EXPECT_EQ(url->method, "GET");
  EXPECT_TRUE(url->headers.empty());
  EXPECT_EQ(url->expires_at, kNow + seconds(86400));
  EXPECT_EQ(test->sent(), 0U);
}

TEST_F(PresignTest, GetWithVersionAndOverridesAsBotocore) {
  GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("a b/\u00fc+.txt")};
  request.version_id = VersionId("v 1");
  request.overrides.Edit().content_type = "text/plain";
  request.overrides.Edit().content_disposition = "attachment; filename=\"a b\"";
  EXPECT_EQ(Presign(*InIreland().client, request, {.expires = seconds(600)})->url,
            BotocoreUrl("a%20b/%C3%BC%2B.txt?versionId=v%201&response-content-type=text%2Fplain&"
                        "response-content-disposition=attachment%3B%20filename%3D%22a%20b%22",
                        "600&X-Amz-SignedHeaders=host",
                        "2a7731e095b2e0765f45baf53627347d845584fbeca4c7e78b7dbe85993914db"));
}

TEST_F(PresignTest, HeadWithBucketOwnerAsBotocore) {
  HeadObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  request.options.expected_bucket_owner = "111122223333";
  const auto url = Presign(*InIreland().client, request, {.expires = seconds(600)});
  EXPECT_EQ(url->url,
            BotocoreUrl("k", "600&X-Amz-SignedHeaders=host%3Bx-amz-expected-bucket-owner",
                        "81cad92fe10c417a8c2263a228d025e6043480379278c1f8b3cac1685b7f1119"));
  EXPECT_EQ(url->method, "HEAD");
  EXPECT_EQ(url->headers, (NameValueList{{"x-amz-expected-bucket-owner", "111122223333"}}));
}

TEST_F(PresignTest, PutNamesTheHeadersToSendAsBotocore) {
  PutObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  request.attributes = {
      .content_type = "text/plain", .user_metadata = {{"n", "v"}}, .acl = "private"};
  const auto url = Presign(*InIreland().client, request, {.expires = seconds(600)});
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(
      url->url,
      BotocoreUrl("k", "600&X-Amz-SignedHeaders=content-type%3Bhost%3Bx-amz-acl%3Bx-amz-meta-n",
                  "497e873060ee2ae5305712719e359d7ade350c4e269d41e36d709e2b9196e711"));
  EXPECT_EQ(url->headers,
            (NameValueList{
                {"Content-Type", "text/plain"}, {"x-amz-meta-n", "v"}, {"x-amz-acl", "private"}}));
}

TEST_F(PresignTest, DeleteAndUploadPartAsBotocore) {
  Client& client = *InIreland().client;
  DeleteObjectRequest remove{.bucket = kBucket, .key = ObjectKey("k")};
  remove.version_id = VersionId("v");
  EXPECT_EQ(Presign(client, remove, {.expires = seconds(600)})->url,
            BotocoreUrl("k?versionId=v", "600&X-Amz-SignedHeaders=host",
                        "a384ea1f9f38d761e0f2ceb8063fff413b26dbe47cef2b32f9c5b201ee388d81"));
  const UploadPartRequest part{
      .bucket = kBucket, .key = ObjectKey("k"), .upload_id = UploadId("u/1"), .part_number = 7};
  EXPECT_EQ(Presign(client, part, {.expires = seconds(600)})->url,
            BotocoreUrl("k?partNumber=7&uploadId=u%2F1", "600&X-Amz-SignedHeaders=host",
                        "8e01e37594ac76d5d2de8afadd4454218b9959a5fa869f27a32191f36cb6b082"));
}

TEST_F(PresignTest, ACustomerKeyIsAHeaderAsBotocore) {
  std::array<std::byte, 32> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  request.customer_key = CustomerKey::Create(bytes).value();
  const auto url = Presign(*InIreland().client, request, {.expires = seconds(600)});
  EXPECT_EQ(url->url,
            BotocoreUrl("k",
                        "600&X-Amz-SignedHeaders=host%3Bx-amz-server-side-encryption-customer-"
                        "algorithm%3Bx-amz-server-side-encryption-customer-key%3Bx-amz-server-side-"
                        "encryption-customer-key-md5",
                        "5ae819cb5c7826a07268d3c224cd519e86648104b0b7621528888922007dcafb"));
  EXPECT_EQ(url->headers.size(), 3U);
}

TEST_F(PresignTest, ASessionTokenIsAParameterAsBotocore) {
  Make({.region = "eu-west-1", .credentials = ExampleCredentials("TOKEN==")});
  const GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  EXPECT_EQ(Presign(*test->client, request, {.expires = seconds(604800)})->url,
            BotocoreUrl("k", "604800&X-Amz-SignedHeaders=host&X-Amz-Security-Token=TOKEN%3D%3D",
                        "e2c18d28492260a5ad15944fb9d71157c004d3b92583ed79041eb58cd1c18c37"));
}

FakeReply SessionUntil(const std::string& time) {
  return FakeReply::Respond(
      200, {},
      "<CreateSessionResult><Credentials><SessionToken>SESSION==</SessionToken>"
      "<SecretAccessKey>wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY</SecretAccessKey>"
      "<AccessKeyId>AKIAIOSFODNN7EXAMPLE</AccessKeyId>"
      "<Expiration>2013-05-24T" +
          time + "Z</Expiration></Credentials></CreateSessionResult>");
}

TEST_F(PresignTest, DirectoryBucketsUseTheirSessionAsBotocore) {
  Make({.region = "us-west-2"});
  test->transport.Expect(SessionUntil("00:05:00"));
  const GetObjectRequest request{.bucket = BucketName("b--usw2-az1--x-s3"), .key = ObjectKey("k")};
  const auto url = Presign(*test->client, request, {.expires = seconds(300)});
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(url->url,
            "https://b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com/k?"
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524"
            "%2Fus-west-2%2Fs3express%2Faws4_request&X-Amz-Date=20130524T000000Z&"
            "X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-S3session-Token=SESSION%3D%3D&"
            "X-Amz-Signature=67ac907c2c3144e875265faf60ff3dee7912ead1fa89bd20a08893a180981a09");
  EXPECT_EQ(test->sent(), 1U);
}

// Symptom: a URL for a day was reported as valid for a day, and S3 refused it after 5 minutes.
TEST_F(PresignTest, AUrlOfADirectoryBucketExpiresWithItsSession) {
  Make({.region = "us-west-2"});
  const GetObjectRequest request{.bucket = BucketName("b--usw2-az1--x-s3"), .key = ObjectKey("k")};
  const auto end = [&](seconds expires) {
    return Presign(*test->client, request, {.expires = expires})->expires_at - kNow;
  };
  test->transport.Expect(SessionUntil("00:05:00"));
  EXPECT_EQ(end(seconds(86400)), seconds(300));
  EXPECT_EQ(end(seconds(60)), seconds(60));
  EXPECT_EQ(test->sent(), 1U);
}

TEST_F(PresignTest, ASessionThatEndsTooEarlyIsReplaced) {
  Make({.region = "us-west-2"});
  const GetObjectRequest request{.bucket = BucketName("b--usw2-az1--x-s3"), .key = ObjectKey("k")};
  test->transport.Expect(SessionUntil("00:05:00"));
  ASSERT_TRUE(Presign(*test->client, request).ok());
  test->transport.clock().Advance(seconds(200));
  test->transport.Expect(SessionUntil("00:08:20"));
  EXPECT_EQ(Presign(*test->client, request)->expires_at, kNow + seconds(500));
  EXPECT_EQ(test->sent(), 2U);
}

// Symptom: the caller got header values with line breaks, which split the request of a program that
// writes them as they are.
TEST_F(PresignTest, HeadersWithLineBreaksAreRefusedAsByTheCall) {
  Client& client = *InIreland().client;
  GetObjectRequest get{.bucket = kBucket, .key = ObjectKey("k")};
  for (const char* etag : {"a\r\nX-Evil: 1", "a\nb"}) {
    get.if_match = ETag(etag);
    EXPECT_EQ(Presign(client, get).error().kind, ErrorKind::kInvalidArgument);
  }
  PutObjectRequest put{.bucket = kBucket, .key = ObjectKey("k")};
  put.attributes.content_type = "a\r\nb";
  EXPECT_NE(Presign(client, put).error().message.find("Content-Type"), std::string::npos);
}

TEST_F(PresignTest, RefusesWhatCannotBeSigned) {
  Client& client = *InIreland().client;
  GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  for (const seconds expires : {seconds(0), seconds(604801), seconds(-1)}) {
    const auto url = Presign(client, request, {.expires = expires});
    EXPECT_EQ(url.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_EQ(url.error().operation, "GetObject");
  }
  request.key = ObjectKey("");
  EXPECT_FALSE(Presign(client, request).ok());
  PutObjectRequest put{.bucket = kBucket, .key = ObjectKey("k")};
  put.checksum_algorithm = "sha256";
  EXPECT_NE(Presign(client, put).error().message.find("checksum_value"), std::string::npos);
  put.checksum_value = "x";
  EXPECT_EQ(Presign(client, put)->headers, (NameValueList{{"x-amz-checksum-sha256", "x"}}));
}

TEST_F(PresignTest, AnAnonymousClientCannotSign) {
  Make({.region = "eu-west-1", .signing = Signing::kUnsigned});
  const GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  EXPECT_EQ(Presign(*test->client, request).error().kind, ErrorKind::kUnauthenticated);
}

// Never calls back, like a credentials service that does not respond.
class SilentProvider final : public CredentialsProvider {
 public:
  void Start(std::function<void(Result<CredentialsPtr>)> done) override {
    waiting.push_back(std::move(done));
  }
  std::vector<std::function<void(Result<CredentialsPtr>)>> waiting;
};

TEST_F(PresignTest, TheWaitForCredentialsEndsAtTheDeadline) {
  const auto provider = std::make_shared<SilentProvider>();
  Make({.region = "eu-west-1", .credentials = provider, .operation_timeout = seconds(9)});
  std::optional<Error> error;
  const auto keep = [&error](const auto& result) { error.emplace(result.error()); };
  // The time after which the call that `start` starts fails.
  const auto wait = [&](const auto& start) {
    const auto began = test->transport.clock().Monotonic();
    error.reset();
    start();
    EXPECT_TRUE(error && error->kind == ErrorKind::kTimeout);
    EXPECT_NE(error.value_or(Error{}).message.find("credentials"), std::string::npos);
    return test->transport.clock().Monotonic() - began;
  };
  GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  EXPECT_EQ(wait([&] { StartPresign(*test->client, request, {}, keep); }), seconds(9));
  request.options.deadline = Deadline::After(test->transport.clock(), seconds(2));
  EXPECT_EQ(wait([&] { StartPresign(*test->client, request, {}, keep); }), seconds(2));
  const PostFormRequest form{.bucket = kBucket, .key = ObjectKey("k")};
  EXPECT_EQ(wait([&] { StartPresign(*test->client, form, keep); }), seconds(9));
  // Callbacks that wait own the client, which owns the provider.
  for (const auto& done : std::exchange(provider->waiting, {}))
    done(Error::Make(ErrorKind::kUnavailable, "late"));
}

TEST_F(PresignTest, ExpiresWithTheCredentials) {
  const auto soon = auth::MakeStaticProvider({"A", "S", "T", kNow + seconds(1800)});
  Make({.region = "eu-west-1", .credentials = soon});
  const GetObjectRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  EXPECT_EQ(Presign(*test->client, request)->expires_at, kNow + seconds(1800));
}

TEST_F(PresignTest, AFormWithFieldsAndConditionsAsBotocore) {
  PostFormRequest request{.bucket = kBucket, .key = ObjectKey("user/${filename}")};
  request.fields = {{"acl", "private"}, {"Content-Type", "image/png"}};
  request.starts_with = {{"x-amz-meta-n", ""}};
  request.content_length_range = {1, 1048576};
  request.expires = seconds(600);
  const auto form = Presign(*InIreland().client, request);
  ASSERT_TRUE(form.ok()) << form.error().message;
  EXPECT_EQ(form->url, "https://examplebucket.s3.eu-west-1.amazonaws.com/");
  const std::string policy =
      R"({"expiration": "2013-05-24T00:10:00Z", "conditions": [{"acl": "private"}, )"
      R"({"Content-Type": "image/png"}, ["starts-with", "$x-amz-meta-n", ""], )"
      R"(["content-length-range", 1, 1048576], {"bucket": "examplebucket"}, )"
      R"(["starts-with", "$key", "user/"], {"x-amz-algorithm": "AWS4-HMAC-SHA256"}, )"
      R"({"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20130524/eu-west-1/s3/aws4_request"}, )"
      R"({"x-amz-date": "20130524T000000Z"}]})";
  EXPECT_EQ(form->fields,
            (NameValueList{
                {"acl", "private"},
                {"Content-Type", "image/png"},
                {"key", "user/${filename}"},
                {"x-amz-algorithm", "AWS4-HMAC-SHA256"},
                {"x-amz-credential", "AKIAIOSFODNN7EXAMPLE/20130524/eu-west-1/s3/aws4_request"},
                {"x-amz-date", "20130524T000000Z"},
                {"policy", Base64Encode(AsBytes(policy))},
                {"x-amz-signature",
                 "580745d0a1d9eb32fd9aa35b426c66dea973337c3ddf9de26bd04288ef24810a"}}));
}

TEST_F(PresignTest, AFormOfASessionAsBotocore) {
  Make({.region = "eu-west-1", .credentials = ExampleCredentials("TOKEN==")});
  const auto form =
      Presign(*test->client,
              PostFormRequest{.bucket = kBucket, .key = ObjectKey("k"), .expires = seconds(600)});
  EXPECT_EQ(form->fields.at(4),
            (std::pair<std::string, std::string>{"x-amz-security-token", "TOKEN=="}));
  EXPECT_EQ(form->fields.back().second,
            "ca071d90bcf9e70d82b5319ad0200204e161e935a7099a37ba90f94fe2eedb6e");
}

TEST_F(PresignTest, FormsRefuseOwnFieldsAndDirectoryBuckets) {
  Client& client = *InIreland().client;
  PostFormRequest request{.bucket = kBucket, .key = ObjectKey("k")};
  for (const char* name : {"Policy", "key", "x-amz-signature", "", "a\r\nb", "a\"b"}) {
    request.fields = {{name, "v"}};
    EXPECT_EQ(Presign(client, request).error().kind, ErrorKind::kInvalidArgument) << name;
  }
  request.fields = {};
  request.content_length_range = {2, 1};
  EXPECT_FALSE(Presign(client, request).ok());
  request.content_length_range = {};
  request.bucket = BucketName("b--usw2-az1--x-s3");
  EXPECT_EQ(Presign(client, request).error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace penstock::s3
