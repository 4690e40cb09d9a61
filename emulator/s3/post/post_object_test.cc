#include <gtest/gtest.h>

#include "base/encoding.h"
#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Body;
using testing::Harness;
using testing::Reply;
using Fields = std::vector<std::pair<std::string, std::string>>;

const std::string kCrc32OfBody = "26gLsg==";  // CRC32 of "body", base64.

class PostObjectTest : public ::testing::Test {
 protected:
  PostObjectTest() { s3_.Send("PUT /bucket"); }

  static std::string FormOf(const Fields& fields, const std::string& content,
                            const std::string& file = "; filename=\"f.txt\"") {
    std::string form;
    for (const auto& [name, value] : fields) {
      form +=
          "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }
    return form + "--b\r\nContent-Disposition: form-data; name=\"file\"" + file + "\r\n\r\n" +
           content + "\r\n--b--\r\n";
  }
  Reply Post(const Fields& fields, const std::string& content = "body",
             const std::string& headers = "") {
    return s3_.Send(
        "POST /bucket\nHost: 127.0.0.1:9000\nContent-Type: multipart/form-data; boundary=b" +
            headers,
        FormOf(fields, content));
  }
  static std::string Policy(const std::string& conditions) {
    return Base64Encode(AsBytes("{\"expiration\": \"2030-01-01T00:00:00Z\", \"conditions\": [" +
                                conditions + "]}"));
  }

  Harness s3_;  // 2026-01-02T03:04:05Z
};

// Recorded against Amazon S3: the 204 has ETag, and Location with %2F.
TEST_F(PostObjectTest, CreatesAnObjectFromTheFile) {
  const Reply posted = Post({{"key", "a/b c"},
                             {"Content-Type", "text/x"},
                             {"X-Amz-Meta-Who", "me"},
                             {"x-unknown", "ignored"}});
  EXPECT_EQ(posted.status, 204);
  EXPECT_EQ(posted.body, "");
  EXPECT_EQ(posted.Header("ETag"), "\"841a2d689ad86bd1611447453c22c6fc\"");  // MD5 of "body".
  EXPECT_EQ(posted.Header("Location"), "http://127.0.0.1:9000/bucket/a%2Fb%20c");
  EXPECT_EQ(posted.Header("x-amz-checksum-type"), "FULL_OBJECT");
  EXPECT_EQ(posted.Header("Content-Type"), "<absent>");
  const Reply read = s3_.Send("GET /bucket/a/b%20c");
  EXPECT_EQ(read.body, "body");
  EXPECT_EQ(read.Header("Content-Type"), "text/x");
  EXPECT_EQ(read.Header("x-amz-meta-who"), "me");
}

TEST_F(PostObjectTest, LifecycleRulesAddTheExpiration) {
  s3_.SendDocument("PUT /bucket?lifecycle",
                   "<LifecycleConfiguration><Rule><ID>one</ID><Filter><Prefix>a/</Prefix></"
                   "Filter><Status>Enabled</Status>"
                   "<Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>");
  EXPECT_EQ(Post({{"key", "a/b"}}).Header("x-amz-expiration"),
            "expiry-date=\"Sun, 04 Jan 2026 00:00:00 GMT\", rule-id=\"one\"");
  EXPECT_EQ(Post({{"key", "b"}}).Header("x-amz-expiration"), "<absent>");
}

TEST_F(PostObjectTest, SuccessActionStatusSelectsTheResponse) {
  EXPECT_EQ(Post({{"key", "k"}, {"success_action_status", "200"}}).status, 200);
  EXPECT_EQ(Post({{"key", "k"}, {"success_action_status", "404"}}).status, 204);
  const Reply created = Post({{"key", "a/b&c"}, {"success_action_status", "201"}});
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.Header("Content-Type"), "application/xml");
  EXPECT_NE(created.body.find("<PostResponse><Location>http://127.0.0.1:9000/bucket/a%2Fb%26c</"
                              "Location><Bucket>bucket</Bucket>"
                              "<Key>a/b&amp;c</Key><ETag>"),
            std::string::npos)
      << created.body;
}

// Recorded against Amazon S3: the parameters are form-encoded, and the URL's query is kept.
TEST_F(PostObjectTest, RedirectsContainTheObject) {
  const auto location = [&](const std::string& field, const std::string& url) {
    const Reply reply = Post({{"key", "a/b c"}, {field, url}});
    return std::to_string(reply.status) + " " + reply.Header("Location");
  };
  const std::string added = "bucket=bucket&key=a%2Fb+c&etag=%22841a2d689ad86bd1611447453c22c6fc%22";
  EXPECT_EQ(location("success_action_redirect", "http://x.test/done"),
            "303 http://x.test/done?" + added);
  EXPECT_EQ(location("redirect", "https://x.test/?a=b#part"),
            "303 https://x.test/?a=b&" + added + "#part");
  for (const char* url :
       {"/relative", "ftp://x.test/", "http://", "", "http://x.test/\r\nSet-Cookie: a=b"}) {
    EXPECT_EQ(location("success_action_redirect", url),
              "204 http://127.0.0.1:9000/bucket/a%2Fb%20c")
        << url;
  }
}

TEST_F(PostObjectTest, FilenameVariableIsReplaced) {
  EXPECT_EQ(Post({{"key", "u/${filename}-${filename}"}, {"x-amz-meta-name", "${filename}"}}).status,
            204);
  EXPECT_EQ(s3_.Send("GET /bucket/u/f.txt-f.txt").Header("x-amz-meta-name"), "f.txt");
  const std::string request = "POST /bucket\nContent-Type: multipart/form-data; boundary=b";
  EXPECT_EQ(s3_.Send(request, FormOf({{"key", "u/${filename}"}}, "x", "; filename=\"\"")).status,
            204);
  EXPECT_EQ(s3_.Send("GET /bucket/u/").body, "x");
  EXPECT_EQ(s3_.Send(request, FormOf({{"key", "n/${filename}"}}, "x", "")).status, 204);
  EXPECT_EQ(s3_.Send("GET /bucket/n/$%7Bfilename%7D").body, "x")
      << "recorded against Amazon S3 in 2026: without a file name the variable stays";
}

TEST_F(PostObjectTest, PolicyIsCheckedAgainstExpandedFields) {
  const std::string policy = Policy(
      R"({"bucket": "bucket"}, ["starts-with", "$key", "u/f."], ["content-length-range", 2, 4])");
  EXPECT_EQ(Post({{"key", "u/${filename}"}, {"policy", policy}}).status, 204);
  EXPECT_EQ(Post({{"key", "x"}, {"policy", policy}}).Element("Message"),
            "Invalid according to Policy: Policy Condition failed: [&quot;starts-with&quot;, "
            "&quot;$key&quot;, &quot;u/f.&quot;]");
  EXPECT_EQ(Post({{"key", "u/f."}, {"acl", "private"}, {"policy", policy}}).Element("Message"),
            "Invalid according to Policy: Extra input fields: acl");
  EXPECT_EQ(Post({{"key", "k"}, {"policy", "e30="}}).Outcome(), "400 InvalidPolicyDocument");
  EXPECT_EQ(s3_.Send("GET /bucket/x").status, 404);
}

// Recorded against Amazon S3 with ["content-length-range", 5, 10].
TEST_F(PostObjectTest, SizesOutsideTheRangeAreRefusedAndStoreNothing) {
  const std::string policy = Policy(
      R"({"bucket": "bucket"}, ["starts-with", "$key", ""], ["content-length-range", 5, 10])");
  const auto post = [&](std::size_t size) {
    return Post({{"key", "k"}, {"policy", policy}}, std::string(size, 'x'));
  };
  const Reply large = post(12);
  EXPECT_EQ(large.Outcome(), "400 EntityTooLarge");
  EXPECT_EQ(large.Element("ProposedSize"), "12");
  EXPECT_EQ(large.Element("MaxSizeAllowed"), "10");
  EXPECT_EQ(post(1'000'000).Element("ProposedSize"), "1000000");
  const Reply small = post(1);
  EXPECT_EQ(small.Outcome(), "400 EntityTooSmall");
  EXPECT_EQ(small.Element("ProposedSize"), "1");
  EXPECT_EQ(small.Element("MinSizeAllowed"), "5");
  EXPECT_EQ(post(0).Outcome(), "400 EntityTooSmall");
  EXPECT_EQ(s3_.Send("GET /bucket/k").status, 404);
  EXPECT_EQ(post(5).status, 204);
  EXPECT_EQ(post(10).status, 204);
}

TEST_F(PostObjectTest, FieldsActAsHeadersOfAPut) {
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-storage-class", "FakeClass"}}).Outcome(),
            "400 InvalidStorageClass");
  EXPECT_EQ(Post({{"key", "k"}, {"acl", "public-read"}}).Outcome(),
            "400 AccessControlListNotSupported");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-new-thing", "1"}}).Outcome(), "501 NotImplemented");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-copy-source", "/a/b"}}).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-server-side-encryption", "aws:kms"}})
                .Header("x-amz-server-side-encryption"),
            "aws:kms");
  EXPECT_EQ(
      Post({{"key", "k"}, {"x-amz-checksum-crc32", kCrc32OfBody}}).Header("x-amz-checksum-crc32"),
      kCrc32OfBody);
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-checksum-crc32", kCrc32OfBody}}, "other").Outcome(),
            "400 BadDigest");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-checksum-algorithm", "CRC32"}}).Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(Post({{"key", "k"}, {"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}}).Outcome(),
            "400 BadDigest");
  EXPECT_EQ(Post({{"key", std::string(1025, 'k')}}).Outcome(), "400 KeyTooLongError");
  EXPECT_EQ(Post({{"key", "../up"}}).status, 400);
}

// Recorded against Amazon S3: XML that is not a Tagging document sets no tags.
TEST_F(PostObjectTest, TaggingFieldIsADocument) {
  const std::string tags =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
  EXPECT_EQ(Post({{"key", "k"}, {"tagging", tags}}).status, 204);
  EXPECT_EQ(s3_.Send("GET /bucket/k?tagging").Element("Key"), "a");
  EXPECT_EQ(Post({{"key", "k"}, {"tagging", "<InvalidXmlTagging></InvalidXmlTagging>"}}).status,
            204);
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").Header("x-amz-tagging-count"), "<absent>");
  EXPECT_EQ(Post({{"key", "k"}, {"tagging", "not-xml"}}).Outcome(), "400 MalformedXML");
}

// Recorded against Amazon S3: fields are UTF-8.
TEST_F(PostObjectTest, NonAsciiMetadataIsUtf8) {
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-meta-a", "\xC3\x84M\xC3\x84Z\xC3\x95\xC3\x91 S3"}}).status,
            204);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("x-amz-meta-a"),
            "=?UTF-8?Q?=C3=84M=C3=84Z=C3=95=C3=91_S3?=");
}

// Recorded against Amazon S3.
TEST_F(PostObjectTest, FieldsBecomeHeaderValues) {
  EXPECT_EQ(Post({{"key", "k"},
                  {"x-amz-meta-word", "=?UTF-8?B?aGVsbG8=?="},
                  {"x-amz-meta-tab", "a\tb"},
                  {"Cache-Control", "\xC3\xA9 \xE2\x82\xAC."},
                  {"Content-Disposition", "\xF0\x9F\x98\x80x"}})
                .status,
            204);
  const Reply read = s3_.Send("GET /bucket/k");
  EXPECT_EQ(read.Header("x-amz-meta-word"), "=?UTF-8?B?aGVsbG8=?=");
  EXPECT_EQ(read.Header("x-amz-meta-tab"), "a\tb");
  EXPECT_EQ(read.Header("Cache-Control"), "\xE9  .");
  EXPECT_EQ(read.Header("Content-Disposition"), "x");
}

// A field may contain a line break, but a header must not.
TEST_F(PostObjectTest, FieldsCannotSplitResponseHeaders) {
  EXPECT_EQ(Post({{"key", "k"}, {"Content-Type", "a/b\r\nSet-Cookie: c"}}).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-website-redirect-location", "/a\nb"}}).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Post({{"key", "k"}, {"x-amz-meta-a", "b\r\nSet-Cookie: c"}}).status, 204);
  EXPECT_EQ(s3_.Send("GET /bucket/k").Header("x-amz-meta-a"),
            "=?UTF-8?B?Yg0KU2V0LUNvb2tpZTogYw==?=");
}

// IAM User Guide, "AWS global condition context keys": of the browser, not of the form.
TEST_F(PostObjectTest, PoliciesSeeTheBrowsersHeaders) {
  ASSERT_EQ(s3_.SendDocument("PUT /bucket?policy",
                             R"({"Version":"2012-10-17","Statement":[
{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::bucket/*",
 "Condition":{"StringLike":{"aws:UserAgent":"*evil*"}}},
{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::bucket/*",
 "Condition":{"StringNotLike":{"aws:Referer":"http://good/*"}}}]})")
                .Outcome(),
            "204");
  const auto post = [&](const std::string& headers) {
    return Post({{"key", "k"}}, "body", headers).Outcome();
  };
  EXPECT_EQ(post("\nReferer: http://good/1\nUser-Agent: kind"), "204");
  EXPECT_EQ(post("\nReferer: http://good/1\nUser-Agent: an evil one"), "403 AccessDenied");
  EXPECT_EQ(post("\nReferer: http://bad/1"), "403 AccessDenied");
  EXPECT_EQ(post(""), "403 AccessDenied");
}

TEST_F(PostObjectTest, HeadersThatContradictFieldsAreRefused) {
  const Reply reply = Post({{"key", "k"}, {"x-amz-storage-class", "STANDARD_IA"}}, "x",
                           "\nx-amz-storage-class: STANDARD");
  EXPECT_EQ(reply.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(reply.Element("Message"),
            "Conflicting values provided in HTTP headers and POST form fields.");
}

TEST_F(PostObjectTest, BucketChecksEqualThoseOfAPut) {
  EXPECT_EQ(s3_.Send("POST /absent\nContent-Type: multipart/form-data; boundary=b",
                     FormOf({{"key", "k"}}, "x"))
                .Outcome(),
            "404 NoSuchBucket");
  s3_.SetVersioning("bucket", "Enabled");
  const std::string version = Post({{"key", "k"}}).Header("x-amz-version-id");
  EXPECT_EQ(s3_.Send("GET /bucket/k?versionId=" + version).body, "body");
  s3_.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  const Fields fields{
      {"key", "k"}, {"x-amz-object-lock-legal-hold", "ON"}, {"x-amz-checksum-crc32", kCrc32OfBody}};
  EXPECT_EQ(s3_.Send("POST /locked\nContent-Type: multipart/form-data; boundary=b",
                     FormOf(fields, "body"))
                .status,
            204);
  EXPECT_EQ(s3_.Send("HEAD /locked/k").Header("x-amz-object-lock-legal-hold"), "ON");
  EXPECT_EQ(Post(fields).Outcome(), "400 InvalidRequest");
  s3_.identity() = {"OTHER", std::string(64, 'b'), "other", "210987654321"};
  EXPECT_EQ(Post({{"key", "k"}}).Outcome(), "403 AccessDenied");
}

TEST_F(PostObjectTest, TruncatedFormsAndUndeclaredLengthsStoreNothing) {
  const std::string request = "POST /bucket\nContent-Type: multipart/form-data; boundary=b";
  const std::string form = FormOf({{"key", "k"}}, "body");
  EXPECT_EQ(s3_.Send(request, form.substr(0, form.size() - 10)).Outcome(),
            "400 MalformedPOSTRequest");
  EXPECT_EQ(s3_.Send(request, Body{.text = form, .declare_length = false}).Outcome(),
            "411 MissingContentLength");
  EXPECT_EQ(s3_.Send("GET /bucket/k").status, 404);
}

}  // namespace
}  // namespace penstock::emulator::s3
