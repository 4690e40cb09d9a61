// S3 signatures from AWS's documentation, and more made with botocore 1.43.11. Each is accepted by
// the whole handler, and rejected if one byte of it differs.
#include <gtest/gtest.h>

#include <ostream>

#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/canonical.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr char kWelcomeSha256[] =
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
constexpr char kHelloSha256[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
constexpr char kPlainSigned[] = "host;x-amz-content-sha256;x-amz-date";

struct Vector {
  const char* name;
  TestRequest request;
  std::string token;  // session token of the user
  std::string body;   // decoded
};

std::ostream& operator<<(std::ostream& out, const Vector& vector) { return out << vector.name; }

TestRequest HeaderRequest(const char* method, const char* target, Headers headers,
                          const char* signed_headers, const char* signature, std::string body = {},
                          const char* scope = kExampleScope.data()) {
  headers.emplace_back("X-Amz-Date", kExampleDate);
  headers.emplace_back("Authorization", AuthorizationHeader(scope, signed_headers, signature));
  return {method, target, std::move(headers), std::move(body)};
}

Headers Plain(Headers more = {}, const char* host = "examplebucket.s3.amazonaws.com") {
  more.emplace_back("Host", host);
  more.emplace_back("x-amz-content-sha256", kEmptySha256);
  return more;
}

std::vector<Vector> DocumentationVectors() {
  return {
      {"GetRange", ExampleGet(), "", ""},
      {"Put",
       HeaderRequest("PUT", "/test%24file.text",
                     {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                      {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                      {"x-amz-content-sha256", kWelcomeSha256}},
                     "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                     "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
                     "Welcome to Amazon S3."),
       "", "Welcome to Amazon S3."},
      {"GetLifecycle",
       HeaderRequest("GET", "/?lifecycle", Plain(), kPlainSigned,
                     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
       "", ""},
      {"List",
       HeaderRequest("GET", "/?max-keys=2&prefix=J", Plain(), kPlainSigned,
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
       "", ""},
      {"Presigned",
       {"GET",
        "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%"
        "2F20130524%2Fus-east-1%2Fs3%2F"
        "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-"
        "Amz-Signature="
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
        {{"Host", "examplebucket.s3.amazonaws.com"}},
        ""},
       "",
       ""},
  };
}

// The two chunked uploads: 65536 + 1024 bytes of 'a', then the empty chunk.
std::string ChunkedBodyText(const char* first, const char* second, const char* last,
                            const std::string& tail) {
  return "10000;chunk-signature=" + std::string(first) + "\r\n" + std::string(65536, 'a') +
         "\r\n400;chunk-signature=" + second + "\r\n" + std::string(1024, 'a') +
         "\r\n0;chunk-signature=" + last + "\r\n" + tail;
}

Headers ChunkedHeaders(const char* kind, Headers more) {
  more.emplace_back("Host", "s3.amazonaws.com");
  more.emplace_back("Content-Encoding", "aws-chunked");
  more.emplace_back("x-amz-content-sha256", kind);
  more.emplace_back("x-amz-decoded-content-length", "66560");
  more.emplace_back("x-amz-storage-class", "REDUCED_REDUNDANCY");
  return more;
}

std::vector<Vector> ChunkedVectors() {
  const std::string payload(66560, 'a');
  return {
      {"ChunkedUpload",
       HeaderRequest(
           "PUT", "/examplebucket/chunkObject.txt",
           ChunkedHeaders("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", {{"Content-Length", "66824"}}),
           "content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-"
           "content-length;"
           "x-amz-storage-class",
           "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
           ChunkedBodyText("ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                           "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                           "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
                           "\r\n")),
       "", payload},
      {"ChunkedUploadWithTrailer",
       HeaderRequest(
           "PUT", "/examplebucket/chunkObject.txt",
           ChunkedHeaders("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
                          {{"x-amz-trailer", "x-amz-checksum-crc32c"}}),
           "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;"
           "x-amz-storage-class;x-amz-trailer",
           "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
           ChunkedBodyText(
               "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
               "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
               "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
               "x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:"
               "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n")),
       "", payload},
  };
}

std::vector<Vector> BotocoreVectors() {
  return {
      {"NoNormalisation",
       HeaderRequest("GET", "/a%20b%2Bc/%C3%A9//x/../y~%281%29.txt", Plain(), kPlainSigned,
                     "ba5af72c71e9a840529a1a280092865aedb46eaf4c8fc9f0a169e93c20092de1"),
       "", ""},
      {"EncodedQuery",
       HeaderRequest("GET", "/?list-type=2&prefix=a%2Fb%20c&encoding-type=url&delimiter=%2F",
                     Plain(), kPlainSigned,
                     "70d9dc82d495dcf7dc36625af9d09ea0d55315f2a18e69c5b45695630ee9cd84"),
       "", ""},
      {"FoldedMetadataAndToken",
       HeaderRequest("PUT", "/k",
                     {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"x-amz-meta-a", "  two   spaces  "},
                      {"x-amz-content-sha256", kHelloSha256},
                      {"x-amz-security-token", "TESTTOKEN=="}},
                     "host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token",
                     "c123eae925854bb5b47005fdd12556f2bc01a3421ffd888b112dee01d27f0c0a", "hello"),
       "TESTTOKEN==", "hello"},
      {"UnsignedTrailer",
       HeaderRequest("PUT", "/k",
                     {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"Content-Encoding", "aws-chunked"},
                      {"x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"},
                      {"x-amz-decoded-content-length", "5"},
                      {"x-amz-trailer", "x-amz-checksum-crc32"}},
                     "content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-"
                     "length;x-amz-trailer",
                     "5cbdd6edef9c840275cfcfea8754e6e9883acf82f83a55e258946e10c6cc4591",
                     "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"),
       "", "hello"},
      {"PresignedWithToken",
       {"GET",
        "/k?versionId=abc&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%"
        "2F20130524%2Fus-east-1%2F"
        "s3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&"
        "X-Amz-Security-Token="
        "TESTTOKEN%3D%3D&X-Amz-Signature="
        "f49aa69b54beffaf869a98eb22bdcb95797ce508fbbc239444fe6c86c9d6a3f7",
        {{"Host", "examplebucket.s3.amazonaws.com"}},
        ""},
       "TESTTOKEN==",
       ""},
  };
}

std::vector<Vector> AllVectors() {
  std::vector<Vector> all = DocumentationVectors();
  for (Vector& vector : ChunkedVectors()) all.push_back(std::move(vector));
  for (Vector& vector : BotocoreVectors()) all.push_back(std::move(vector));
  return all;
}

class VectorTest : public testing::TestWithParam<Vector> {
 protected:
  VectorTest() { directory_.user.session_token = GetParam().token; }

  // Returns true if the router was called and could read the whole body.
  bool Accepts(TestRequest request) {
    router_ = RecordingRouter();
    TestExchange test(std::move(request));
    auth_->Handle(test.exchange);
    return router_.calls == 1 && router_.body.ok();
  }

  OneUser directory_;
  RecordingRouter router_;
  std::unique_ptr<s3::FilterChain> auth_ = AuthChain(ExampleOptions(), directory_, router_);
};

// Replaces a digit by another one of the same alphabet.
void Change(char& c) { c = c == '0' ? '1' : '0'; }

TEST_P(VectorTest, IsAccepted) {
  ASSERT_TRUE(Accepts(GetParam().request));
  EXPECT_EQ(*router_.body, GetParam().body);
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey);
}

TEST_P(VectorTest, IsRefusedWithAnyDigitOfTheSignatureChanged) {
  for (std::size_t digit = 0; digit < 64; digit += 7) {
    TestRequest request = GetParam().request;
    std::string* header = request.Header("Authorization");
    std::string& text = header ? *header : request.target;
    Change(text[text.size() - 64 + digit]);
    EXPECT_FALSE(Accepts(request)) << "digit " << digit;
    EXPECT_EQ(router_.calls, 0);
  }
}

TEST_P(VectorTest, IsRefusedForAnotherHost) {
  TestRequest request = GetParam().request;
  (*request.Header("Host"))[0] = 'f';
  EXPECT_FALSE(Accepts(request));
}

TEST_P(VectorTest, IsRefusedForAnotherPath) {
  TestRequest request = GetParam().request;
  request.target.insert(1, "f");
  EXPECT_FALSE(Accepts(request));
}

TEST_P(VectorTest, IsRefusedWithAParameterAdded) {
  TestRequest request = GetParam().request;
  request.target +=
      request.target.find('?') == std::string::npos ? "?x-id=GetObject" : "&x-id=GetObject";
  EXPECT_FALSE(Accepts(request));
}

TEST_P(VectorTest, IsRefusedWithOneByteOfTheBodyChanged) {
  TestRequest request = GetParam().request;
  if (request.body.empty()) {
    request.body = "x";  // the signed claim is for an empty body
    if (!request.Header("x-amz-content-sha256")) {
      EXPECT_TRUE(Accepts(request));  // the UNSIGNED-PAYLOAD of a presigned URL claims nothing
      return;
    }
  } else {
    request.body.back() = 'x';
  }
  EXPECT_FALSE(Accepts(request));
}

TEST_P(VectorTest, IsRefusedWithAnotherSecret) {
  directory_.user.secret_access_key[0] = 'x';
  EXPECT_FALSE(Accepts(GetParam().request));
}

INSTANTIATE_TEST_SUITE_P(Published, VectorTest, testing::ValuesIn(AllVectors()),
                         [](const auto& each) { return std::string(each.param.name); });

// Checks the signed chunk data, each chunk signature and the trailer separately.
TEST(ChunkedVectorTest, IsRefusedWithOneByteChangedAnywhereInTheBody) {
  OneUser directory;
  RecordingRouter router;
  const auto auth = AuthChain(ExampleOptions(), directory, router);
  const Vector vector = ChunkedVectors()[1];
  const std::string& body = vector.request.body;
  const std::vector<std::size_t> places = {0,
                                           30,
                                           100,
                                           40000,
                                           65630,
                                           65650,
                                           65700,
                                           66000,
                                           66680,
                                           66700,
                                           66740,
                                           body.size() - 100,
                                           body.size() - 10,
                                           body.size() - 1};
  for (const std::size_t place : places) {
    TestRequest request = vector.request;
    Change(request.body[place]);
    TestExchange test(request);
    auth->Handle(test.exchange);
    EXPECT_FALSE(router.body.ok()) << "byte " << place;
  }
}

// Session credentials under the example's keys, which CreateSession never returns. Tests only the
// signature; sessions_test.cc has the rest.
TEST(ExpressVectorTest, MatchesBotocoresSignatures) {
  constexpr char kScope[] = "20130524/us-east-1/s3express/aws4_request";
  constexpr char kHost[] = "b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com";
  const HmacSha256Key key(DeriveSigningKey({.secret = kExampleSecret,
                                            .day = "20130524",
                                            .region = "us-east-1",
                                            .service = "s3express"}));
  const TestRequest in_headers{.method = "GET",
                               .target = "/k",
                               .headers = Plain({{"x-amz-s3session-token", "TESTTOKEN=="},
                                                 {"X-Amz-Date", std::string(kExampleDate)}},
                                                kHost),
                               .body = {}};
  const TestExchange by_header(in_headers);
  const std::string canonical = CanonicalRequest(
      {.head = by_header.exchange.request,
       .raw_path = "/k",
       .raw_query = "",
       .query_leave_out = "",
       .signed_headers = {"host", "x-amz-content-sha256", "x-amz-date", "x-amz-s3session-token"},
       .payload_hash = kEmptySha256});
  EXPECT_EQ(Signature(key, StringToSign(kExampleDate, kScope, canonical)),
            "cbd53d0eb59571b7c5d67307332c37695aada5bd8210361796770f20a332f8f3");
  const TestRequest in_query{
      .method = "GET", .target = "/k", .headers = {{"Host", kHost}}, .body = {}};
  const TestExchange presigned(in_query);
  const std::string presigned_canonical = CanonicalRequest(
      {.head = presigned.exchange.request,
       .raw_path = "/k",
       .raw_query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%"
                    "2F20130524%2Fus-east-1%2Fs3express%2Faws4_request"
                    "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=300&X-Amz-SignedHeaders=host&X-Amz-"
                    "S3session-Token=TESTTOKEN%3D%3D",
       .query_leave_out = "X-Amz-Signature",
       .signed_headers = {"host"},
       .payload_hash = "UNSIGNED-PAYLOAD"});
  EXPECT_EQ(Signature(key, StringToSign(kExampleDate, kScope, presigned_canonical)),
            "27b0f4d43716498c46d8f390ba000d2de7128eb17f9db42d46b5b71c03c85ddc");
}

}  // namespace
}  // namespace penstock::emulator::auth
