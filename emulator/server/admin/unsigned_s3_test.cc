#include "emulator/server/admin/unsigned_s3.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "emulator/server/server_fixture.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

constexpr char kRoot[] = "/_penstock/s3/default";

class UnsignedS3Test : public testing::Test {
 protected:
  explicit UnsignedS3Test(EmulatorOptions options = {})
      : emulator_(Emulator::Start(std::move(options)).value()) {}

  // Sends a request without a signature to the admin port. `target`: after the namespace.
  HttpResponse Ask(const std::string& method, const std::string& target,
                   const std::string& body = "", const std::string& headers = "",
                   const std::string& root = kRoot) const {
    return Exchange(emulator_->admin_endpoint(), Text(method, root + target, body, headers));
  }
  // With the digest that S3 requires of documents.
  HttpResponse AskWithDocument(const std::string& method, const std::string& target,
                               const std::string& body) const {
    return Ask(method, target, body, "Content-MD5: " + Base64Encode(Md5(AsBytes(body))) + "\r\n");
  }
  static std::string Text(const std::string& method, const std::string& target,
                          const std::string& body = "", const std::string& headers = "") {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
           headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  // A signed request to the S3 port.
  HttpResponse Signed(const std::string& method, const std::string& target,
                      const std::string& body = "", const std::string& headers = "") const {
    return Send(emulator_->endpoint(),
                {.method = method, .target = target, .body = body, .more_headers = headers});
  }
  static bool Has(const HttpResponse& response, const std::string& text) {
    return response.text.find(text) != std::string::npos;
  }
  static std::string BodyOf(const HttpResponse& response) {
    return response.text.substr(response.text.find("\r\n\r\n") + 4);
  }

  const std::unique_ptr<Emulator> emulator_;
};

TEST_F(UnsignedS3Test, RunsTheOperationsOfS3) {
  EXPECT_EQ(Ask("PUT", "/bucket").status, 200);
  EXPECT_EQ(Ask("PUT", "/bucket/a%20b/c", "0123456789", "x-amz-meta-color: red\r\n").status, 200);
  const HttpResponse got = Ask("GET", "/bucket/a%20b/c");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(BodyOf(got), "0123456789");
  EXPECT_TRUE(Has(got, "x-amz-meta-color: red\r\n")) << got.text;
  const HttpResponse range = Ask("GET", "/bucket/a%20b/c", "", "Range: bytes=2-4\r\n");
  EXPECT_EQ(range.status, 206);
  EXPECT_EQ(BodyOf(range), "234");
  const HttpResponse head = Ask("HEAD", "/bucket/a%20b/c");
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(Has(head, "Content-Length: 10\r\n")) << head.text;
  EXPECT_EQ(BodyOf(head), "");
  EXPECT_EQ(Ask("GET", "/bucket/a%20b/c", "", "If-None-Match: *\r\n").status, 304);
  EXPECT_EQ(Ask("PUT", "/bucket/a%20b/c", "x", "If-None-Match: *\r\n").status, 412);
  EXPECT_TRUE(Has(Ask("GET", "/bucket?list-type=2&prefix=a"), "<Key>a b/c</Key>"));
  EXPECT_TRUE(Has(Ask("GET", "/bucket?versions"), "<VersionId>null</VersionId>"));
  EXPECT_EQ(Ask("PUT", "/bucket/copy", "", "x-amz-copy-source: /bucket/a%20b/c\r\n").status, 200);
  EXPECT_TRUE(Has(AskWithDocument("POST", "/bucket?delete",
                                  "<Delete><Object><Key>copy</Key></Object></Delete>"),
                  "<Deleted>"));
  EXPECT_EQ(Ask("DELETE", "/bucket/a%20b/c").status, 204);
  EXPECT_TRUE(Has(Ask("GET", "/bucket/a%20b/c"), "<Code>NoSuchKey</Code>"));
  EXPECT_EQ(Ask("DELETE", "/bucket").status, 204);
}

TEST_F(UnsignedS3Test, UploadsInParts) {
  Ask("PUT", "/bucket");
  const HttpResponse begun = Ask("POST", "/bucket/big?uploads");
  const std::size_t at = begun.text.find("<UploadId>") + 10;
  const std::string id = begun.text.substr(at, begun.text.find('<', at) - at);
  const HttpResponse part = Ask("PUT", "/bucket/big?partNumber=1&uploadId=" + id, "part");
  ASSERT_EQ(part.status, 200) << part.text;
  const std::size_t tag = part.text.find("ETag: ") + 6;
  const std::string etag = part.text.substr(tag, part.text.find('\r', tag) - tag);
  const HttpResponse done = Ask("POST", "/bucket/big?uploadId=" + id,
                                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                                    etag + "</ETag></Part></CompleteMultipartUpload>");
  EXPECT_EQ(done.status, 200) << done.text;
  EXPECT_EQ(BodyOf(Signed("GET", "/bucket/big")), "part");
}

TEST_F(UnsignedS3Test, StreamsBodiesBeyondTheLimitOfTheAdminApi) {
  Ask("PUT", "/bucket");
  std::string body(20 << 20, '\0');
  std::mt19937 random(1);
  for (std::size_t i = 0; i + 4 <= body.size(); i += 4) {
    const std::uint32_t word = static_cast<std::uint32_t>(random());
    std::memcpy(&body[i], &word, 4);
  }
  EXPECT_EQ(Ask("PUT", "/bucket/big", body).status, 200);
  EXPECT_EQ(BodyOf(Signed("GET", "/bucket/big")), body);
  EXPECT_EQ(BodyOf(Ask("GET", "/bucket/big")), body);
  // In chunks, and after "100 Continue".
  const Wire wire(emulator_->admin_endpoint());
  wire.Send("PUT " + std::string(kRoot) +
            "/bucket/chunked HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: "
            "100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_TRUE(wire.ReceiveSome().starts_with("HTTP/1.1 100 "));
  wire.Send("text");
  EXPECT_EQ(wire.Finish().status, 200);
  EXPECT_EQ(BodyOf(Signed("GET", "/bucket/chunked")), "text");
}

TEST_F(UnsignedS3Test, VerifiesWhatTheClientClaimsAboutTheBody) {
  Ask("PUT", "/bucket");
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==\r\n").status,
            400);
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", "x-amz-checksum-crc32: AAAAAA==\r\n").status, 400);
  const std::string of_nothing = "x-amz-content-sha256: " + HexEncode(Sha256({})) + "\r\n";
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", of_nothing).status, 400);
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", "x-amz-content-sha256: x\r\n").status, 400);
  EXPECT_EQ(Ask("HEAD", "/bucket/k").status, 404);
  EXPECT_EQ(Ask("PUT", "/bucket/k", "", of_nothing).status, 200);
  // The framing of SDKs is decoded, not stored. Not all of them send a Content-Encoding.
  for (const char* encoding : {"", "Content-Encoding: aws-chunked\r\n"}) {
    EXPECT_EQ(Ask("PUT", "/bucket/k", "4\r\ntext\r\n0\r\n\r\n",
                  encoding + std::string("x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER"
                                         "\r\nx-amz-decoded-content-length: 4\r\n"))
                  .status,
              200);
    EXPECT_EQ(BodyOf(Ask("GET", "/bucket/k")), "text") << encoding;
  }
}

TEST_F(UnsignedS3Test, ActsAsTheOwnerOfTheBucket) {
  ASSERT_TRUE(emulator_
                  ->AddUsers(R"({"accounts": [{"account_id": "111122223333", "access_keys": [
      {"access_key_id": "OTHER", "secret_access_key": "s"}]}]})")
                  .ok());
  const SignedRequest by_other{
      .method = "PUT", .target = "/theirs", .access_key = "OTHER", .secret = "s"};
  ASSERT_EQ(Send(emulator_->endpoint(), by_other).status, 200);
  ASSERT_EQ(Signed("PUT", "/ours").status, 200);
  EXPECT_EQ(Signed("GET", "/theirs").status, 403);
  EXPECT_EQ(Ask("PUT", "/theirs/k", "text").status, 200);
  EXPECT_TRUE(BodyOf(Ask("GET", "/theirs/k")) == "text");
  const HttpResponse all = Ask("GET", "/");
  EXPECT_TRUE(Has(all, "<Name>ours</Name>") && Has(all, "<Name>theirs</Name>")) << all.text;
  EXPECT_FALSE(Has(Signed("GET", "/"), "<Name>theirs</Name>"));
  // A new bucket belongs to the first account.
  EXPECT_EQ(Ask("PUT", "/theirs").status, 409);
  EXPECT_EQ(Ask("PUT", "/new").status, 200);
  EXPECT_EQ(Signed("HEAD", "/new").status, 200);
  // A Deny statement of the owner applies here, too.
  const std::string policy =
      R"({"Statement": {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
          "Resource": "arn:aws:s3:::ours/*"}})";
  EXPECT_EQ(AskWithDocument("PUT", "/ours?policy", policy).status, 204);
  EXPECT_EQ(Ask("PUT", "/ours/k", "text").status, 200);
  EXPECT_EQ(Ask("GET", "/ours/k").status, 403);
  EXPECT_EQ(Ask("DELETE", "/ours?policy").status, 204);
}

TEST_F(UnsignedS3Test, ServesBucketsOfEveryRegionAndKind) {
  const std::string configuration =
      "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint>"
      "</CreateBucketConfiguration>";
  EXPECT_EQ(Ask("PUT", "/abroad", configuration).status, 200);
  EXPECT_EQ(Ask("PUT", "/abroad/k", "text").status, 200);
  EXPECT_TRUE(BodyOf(Ask("GET", "/abroad/k")) == "text");
  const std::string directory =
      "<CreateBucketConfiguration><Location><Name>use1-az4</Name><Type>AvailabilityZone</Type>"
      "</Location><Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy>"
      "<Type>Directory</Type></Bucket></CreateBucketConfiguration>";
  EXPECT_EQ(Ask("PUT", "/fast--use1-az4--x-s3", directory).status, 200);
  EXPECT_EQ(Ask("PUT", "/fast--use1-az4--x-s3/k", "text").status, 200);
  EXPECT_TRUE(Has(Ask("GET", "/fast--use1-az4--x-s3?list-type=2"), "<Key>k</Key>"));
  EXPECT_TRUE(Has(Ask("GET", "/"), "<Name>fast--use1-az4--x-s3</Name>"));
}

TEST_F(UnsignedS3Test, NamespacesAreApart) {
  const AccessKey key = emulator_->CreateNamespace("suite").value();
  EXPECT_EQ(Ask("PUT", "/bucket", "", "", "/_penstock/s3/suite").status, 200);
  EXPECT_EQ(Ask("HEAD", "/bucket").status, 404);
  EXPECT_EQ(Send(emulator_->endpoint(), {.method = "PUT",
                                         .target = "/bucket/k",
                                         .body = "text",
                                         .access_key = key.id,
                                         .secret = key.secret})
                .status,
            200)
      << "the bucket belongs to the namespace's account";
  EXPECT_EQ(BodyOf(Ask("GET", "/bucket/k", "", "", "/_penstock/s3/s%75ite")), "text");
  for (const char* root : {"/_penstock/s3/nobody", "/_penstock/s3/", "/_penstock/s3/%00",
                           "/_penstock/s3/%zz", "/_penstock/s3/suite%2F"}) {
    const HttpResponse response = Ask("GET", "/bucket/k", "", "", root);
    EXPECT_EQ(response.status, 404) << root;
    EXPECT_TRUE(Has(response, "\"code\":\"NotFound\"")) << response.text;
  }
  for (const char* target : {"/_penstock/s3/suite", "/_penstock/s3/suite?x", "/_penstock/s3"})
    EXPECT_EQ(Ask("GET", "", "", "", target).status, 404) << target;
}

// The journal, counters, faults and limits are about the program under test.
TEST_F(UnsignedS3Test, LeavesNoTraceAndMeetsNoFaults) {
  ASSERT_TRUE(emulator_
                  ->SetFaults("default",
                              R"({"rules": [{"id": "busy", "when": {}, "do": {"slow_down": {}}}]})")
                  .ok());
  EXPECT_EQ(Signed("PUT", "/bucket").status, 503) << "the faults work";
  const EmulatorStats before = emulator_->stats();
  const std::uint64_t entries = emulator_->ReadJournal("default").value().last();
  EXPECT_EQ(Ask("PUT", "/bucket").status, 200);
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text").status, 200);
  EXPECT_EQ(Ask("GET", "/bucket/k").status, 200);
  const EmulatorStats after = emulator_->stats();
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.bytes_in, before.bytes_in);
  EXPECT_EQ(after.bytes_out, before.bytes_out);
  EXPECT_EQ(emulator_->ReadJournal("default").value().last(), entries);
}

TEST_F(UnsignedS3Test, StoredPagesAreOnlyDownloaded) {
  Ask("PUT", "/bucket");
  EXPECT_EQ(Ask("PUT", "/bucket/page.html", "<script>steal()</script>",
                "Content-Type: text/html\r\nContent-Disposition: inline; filename=\"p.html\"\r\n"
                "Cache-Control: max-age=60\r\n")
                .status,
            200);
  for (const char* target :
       {"/bucket/page.html",
        "/bucket/page.html?response-content-type=text/javascript&response-content-disposition="
        "inline%3B%20filename%3D%22p.html%22"}) {
    const HttpResponse page = Ask("GET", target);
    EXPECT_EQ(page.status, 200) << page.text;
    EXPECT_TRUE(Has(page, "Content-Disposition: attachment; filename=\"p.html\"\r\n")) << page.text;
    EXPECT_FALSE(Has(page, "inline")) << page.text;
    EXPECT_TRUE(Has(page, "X-Content-Type-Options: nosniff\r\n"));
    EXPECT_TRUE(Has(page, "Content-Security-Policy: sandbox; default-src 'none'\r\n"));
    EXPECT_TRUE(Has(page, "Cache-Control: max-age=60\r\n")) << page.text;
  }
  for (const char* target : {"/bucket", "/bucket/missing", "/", "/nobucket/<script>"}) {
    const HttpResponse other = Ask("GET", target);
    EXPECT_TRUE(Has(other, "Content-Disposition: attachment\r\n")) << other.text;
    EXPECT_TRUE(Has(other, "Content-Security-Policy: sandbox; default-src 'none'\r\n"));
    EXPECT_TRUE(Has(other, "Cache-Control: no-store\r\n")) << other.text;
  }
  for (const char* use : {"script", "style", "worker", "sharedworker", "serviceworker", "iframe",
                          "object", "embed", "frame", "manifest", "xslt", "something-new"}) {
    const HttpResponse refused =
        Ask("GET", "/bucket/page.html", "",
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: " + std::string(use) + "\r\n");
    EXPECT_EQ(refused.status, 403) << use;
    EXPECT_FALSE(Has(refused, "steal")) << use;
  }
  for (const char* use : {"empty", "image", "document", "video", "audio"}) {
    EXPECT_EQ(Ask("GET", "/bucket/page.html", "",
                  "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: " + std::string(use) + "\r\n")
                  .status,
              200)
        << use;
  }
}

TEST_F(UnsignedS3Test, CorsRulesOfABucketDoNotOpenTheAdminPort) {
  Ask("PUT", "/bucket");
  ASSERT_EQ(AskWithDocument("PUT", "/bucket?cors",
                            "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>"
                            "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>")
                .status,
            200);
  const std::string origin = "Origin: http://localhost\r\n";
  EXPECT_TRUE(Has(Signed("GET", "/bucket", "", origin), "Access-Control-Allow-Origin"));
  const HttpResponse response = Ask("GET", "/bucket", "", origin);
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(Has(response, "Access-Control-Allow")) << response.text;
  EXPECT_EQ(Ask("GET", "/bucket", "", "Origin: http://evil.example\r\n").status, 403);
}

TEST_F(UnsignedS3Test, TakesNoSignaturesAndForms) {
  Ask("PUT", "/bucket");
  // A client that is configured with this path as its endpoint.
  const HttpResponse by_client =
      Send(emulator_->admin_endpoint(), {.target = std::string(kRoot) + "/bucket"});
  EXPECT_EQ(by_client.status, 400);
  EXPECT_TRUE(Has(by_client, "Send signed requests to the S3 port")) << by_client.text;
  for (const char* query : {"X-Amz-Signature=00", "x-amz-algorithm=AWS4-HMAC-SHA256", "Signature=0",
                            "AWSAccessKeyId=penstock"})
    EXPECT_EQ(Ask("GET", std::string("/bucket?") + query).status, 400) << query;
  EXPECT_EQ(Ask("GET", "/bucket", "", "Authorization: AWS penstock:0\r\n").status, 400);
  EXPECT_EQ(Ask("POST", "/bucket", "--b\r\n\r\n--b--\r\n",
                "Content-Type: multipart/form-data; boundary=b\r\n")
                .status,
            501);
  EXPECT_EQ(Ask("GET", "/fast--use1-az4--x-s3?session").status, 501);
  EXPECT_EQ(Ask("POST", "/", "Action=GetCallerIdentity&Version=2011-06-15").status, 405);
}

// The S3 port has no such path, for signed and unsigned clients, whatever they send.
TEST_F(UnsignedS3Test, CannotBeReachedOnTheS3Port) {
  Signed("PUT", "/bucket");
  Signed("PUT", "/bucket/k", "secret");
  const std::string host = emulator_->endpoint().substr(7);
  for (const std::string target :
       {"/_penstock/s3/default/bucket/k", "/_penstock/s3/default/",
        "//_penstock/s3/default/bucket/k", "/_penstock%2Fs3/default/bucket/k",
        "/bucket/../_penstock/s3/default/bucket/k", "/_penstock/s3/default/bucket/k?x-id=GetObject",
        "/moto-api/../_penstock/s3/default/bucket/k"}) {
    for (const std::string headers : {"", "Sec-Fetch-Site: same-origin\r\n",
                                      "X-Original-URL: /_penstock/s3/default/bucket/k\r\n"}) {
      const HttpResponse plain = Exchange(emulator_->endpoint(), Text("GET", target, "", headers));
      EXPECT_GE(plain.status, 400) << target;
      EXPECT_FALSE(Has(plain, "secret")) << target << plain.text;
      const HttpResponse with_key = Signed("GET", target, "", headers);
      EXPECT_GE(with_key.status, 400) << target;
      EXPECT_FALSE(Has(with_key, "secret")) << target << with_key.text;
    }
  }
  const HttpResponse absolute =
      Exchange(emulator_->endpoint(),
               Text("GET", emulator_->admin_endpoint() + "/_penstock/s3/default/bucket/k"));
  EXPECT_FALSE(Has(absolute, "secret")) << absolute.text;
}

TEST_F(UnsignedS3Test, ReadsOddPathsAsS3Does) {
  Ask("PUT", "/bucket");
  const std::string longest(1024, 'k');
  for (const std::string& key :
       {std::string("a%2Fb"), std::string("/first"), std::string("a//b"), std::string("a/./b"),
        std::string("a/b/../c"), std::string("%25"), std::string("a+b"),
        std::string("%F0%9F%8E%89"), std::string("_penstock/s3/default"), longest}) {
    EXPECT_EQ(Ask("PUT", "/bucket/" + key, key).status, 200) << key;
    EXPECT_EQ(BodyOf(Ask("GET", "/bucket/" + key)), key) << key;
  }
  EXPECT_EQ(BodyOf(Ask("GET", "/bucket/a/b")), "a%2Fb") << "the same key";
  const std::pair<std::string, int> refused[] = {
      {"/bucket/" + longest + "k", 400},
      {"/bucket/..", 400},
      {"/bucket/../../etc/passwd", 400},
      {"/bucket/%zz", 400},
      {"/bucket/%", 400},
      {"/bucket/%FF", 400},
      {"//bucket/k", 400},
      {"/b%2Fucket/k", 400},
      {"/../default/bucket/a/b", 400},
      {"/Bucket/k", 400},
      {"/bucket?nosuchsubresource", 501},
      {"/bucket?list-type=2&max-keys=x", 400},
  };
  for (const auto& [target, status] : refused) {
    const HttpResponse response = Ask("GET", target);
    EXPECT_TRUE(response.status == status || response.status == 404)
        << target.substr(0, 60) << ": " << response.text;
    EXPECT_TRUE(Has(response, "<Error>") || Has(response, "\"error\"")) << response.text;
    EXPECT_TRUE(Has(response, "nosniff")) << response.text;
  }
}

// Browsers remove such segments from paths before they send a request.
TEST_F(UnsignedS3Test, TakesTheKeyFromTheQuery) {
  Ask("PUT", "/bucket");
  EXPECT_EQ(Ask("PUT", "/bucket?penstock-key=a%2F..%2Fb%2B%2520+", "text").status, 200);
  EXPECT_TRUE(Has(Signed("GET", "/bucket"), "<Key>a/../b+%20+</Key>"));
  EXPECT_EQ(BodyOf(Ask("GET", "/bucket/?penstock-key=a%2F..%2Fb%2B%2520+")), "text");
  EXPECT_TRUE(Has(Ask("GET", "/bucket?acl&penstock-key=a%2F..%2Fb%2B%2520+"), "<Grantee"));
  EXPECT_TRUE(Has(Ask("POST", "/bucket?penstock-key=.%2Fx&uploads"), "<Key>./x</Key>"));
  for (const char* target :
       {"/bucket?penstock-key=", "/bucket?penstock-key", "/bucket?penstock-key=a&penstock-key=a",
        "/bucket/k?penstock-key=a", "/?penstock-key=a"}) {
    const HttpResponse refused = Ask("GET", target);
    EXPECT_EQ(refused.status, 400) << target;
    EXPECT_TRUE(Has(refused, "penstock-key is the object key")) << refused.text;
  }
  EXPECT_TRUE(Has(Signed("GET", "/bucket?penstock-key=a"), "<ListBucketResult"))
      << "it has no meaning on the S3 port";
}

// Whatever the path, the emulator responds and goes on.
TEST_F(UnsignedS3Test, RandomPathsGetResponses) {
  Ask("PUT", "/bucket");
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string pieces[] = {"/",       "..",       "%2F",          "%00",         "?",
                                "&",       "=",        "bucket",       "key",         "%",
                                "uploads", "uploadId", "versionId",    "list-type=2", "delete",
                                "acl",     "+",        "%25",          "\xff",        ";",
                                "default", "//",       "partNumber=1", "cors"};
  const std::string methods[] = {"GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"};
  const auto pick = [&](const auto& list) {
    return list[std::uniform_int_distribution<std::size_t>(0, std::size(list) - 1)(random)];
  };
  for (int i = 0; i < 400; ++i) {
    std::string target = "/";
    for (int n = static_cast<int>(random() % 8); n > 0; --n) target += pick(pieces);
    const HttpResponse response = Ask(pick(methods), target, random() % 2 == 0 ? "" : "<a/>");
    EXPECT_NE(response.status, 0) << target;
    EXPECT_NE(response.status, 500) << target << response.text;
  }
  EXPECT_EQ(Ask("HEAD", "/bucket/none").status, 404);
}

class UnsignedS3TokenTest : public UnsignedS3Test {
 protected:
  UnsignedS3TokenTest() : UnsignedS3Test({.admin_token = "letmein"}) {}
};

TEST_F(UnsignedS3TokenTest, TheChecksOfTheAdminApiComeFirst) {
  Signed("PUT", "/bucket");
  Signed("PUT", "/bucket/k", "secret");
  const HttpResponse refused = Ask("GET", "/bucket/k");
  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(Has(refused, "WWW-Authenticate: Bearer")) << refused.text;
  EXPECT_EQ(Ask("GET", "/bucket/k", "", "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(BodyOf(Ask("GET", "/bucket/k", "", "Authorization: Bearer letmein\r\n")), "secret");
  EXPECT_EQ(Exchange(emulator_->admin_endpoint(),
                     "GET /_penstock/s3/default/bucket/k HTTP/1.1\r\nHost: evil.example\r\n"
                     "Authorization: Bearer letmein\r\nConnection: close\r\n\r\n")
                .status,
            421);
}

TEST_F(UnsignedS3Test, PagesOfOtherOriginsAreRefused) {
  Ask("PUT", "/bucket");
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", "Origin: http://localhost:9000\r\n").status, 403);
  EXPECT_EQ(Ask("DELETE", "/bucket", "", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(Ask("PUT", "/bucket/k", "text", "Origin: http://localhost\r\n").status, 200);
}

TEST(KeepFromRunningTest, HeadersOfTheObjectNeverWin) {
  const std::pair<const char*, const char*> cases[] = {
      {"inline", "attachment"},
      {"", "attachment"},
      {"attachment; filename=\"a;b\"", "attachment; filename=\"a;b\""},
      {"inline; filename*=UTF-8''%e2%82%ac", "attachment; filename*=UTF-8''%e2%82%ac"},
      {"filename=x", "attachment"},
      {";inline", "attachment;inline"},
  };
  for (const auto& [stored, sent] : cases) {
    s3::Response response;
    response.Add("content-disposition", stored);
    response.Add("CONTENT-DISPOSITION", "inline");
    response.Add("Content-Security-Policy", "default-src *");
    response.Add("x-content-type-options", "sniff");
    response.Add("Access-Control-Allow-Origin", "*");
    response.Add("ETag", "\"e\"");
    KeepFromRunning(response);
    EXPECT_EQ(response.Find("content-disposition"), sent);
    EXPECT_EQ(response.Find("content-security-policy"), "sandbox; default-src 'none'");
    EXPECT_EQ(response.Find("x-content-type-options"), "nosniff");
    EXPECT_FALSE(response.Find("access-control-allow-origin"));
    EXPECT_EQ(response.headers.size(), 6u) << "each once, and the ETag";
  }
}

}  // namespace
}  // namespace penstock::emulator::server
