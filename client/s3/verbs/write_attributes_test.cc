// The headers of new objects. Expected values of the tests named ...AsBotocore are those that
// botocore 1.44.8 sends for the same input.
#include "client/s3/verbs/write_attributes.h"

#include <gtest/gtest.h>

#include <array>

#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/verbs.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

using Headers = std::map<std::string, std::string>;

constexpr WallTime kYear2030{std::chrono::seconds(1893801600)};  // 2030-01-05T00:00:00Z

CustomerKey KeyOf32Bytes() {
  std::array<std::byte, 32> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return CustomerKey::Create(bytes).value();
}
constexpr const char* kKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr const char* kKeyMd5 = "tP/LI3N87DFaSk0aoqYgzg==";

Headers HeadersFor(const ObjectAttributes& attributes) {
  WireRequest wire;
  const Result<void> appended = AppendAttributes(attributes, wire);
  EXPECT_TRUE(appended.ok()) << appended.error().message;
  return HeadersOf(wire);
}

TEST(WriteAttributesTest, SendsEveryAttributeAsBotocore) {
  ObjectAttributes attributes;
  attributes.content_type = "text/plain";
  attributes.storage_class = "STANDARD_IA";
  attributes.user_metadata = {{"n", "v"}};
  attributes.cache_control = "no-cache";
  attributes.content_encoding = "gzip";
  attributes.content_disposition = "attachment";
  attributes.content_language = "de";
  attributes.expires = kYear2030;
  attributes.website_redirect = "/other";
  attributes.tags = {{"a", "b c"}, {"d&", ""}};
  attributes.acl = "bucket-owner-full-control";
  attributes.encryption = SseKms{"key-1", {{"a", "b"}}, true};
  attributes.lock = {LockMode::kGovernance, kYear2030, true};
  EXPECT_EQ(HeadersFor(attributes),
            (Headers{{"content-type", "text/plain"},
                     {"x-amz-storage-class", "STANDARD_IA"},
                     {"x-amz-meta-n", "v"},
                     {"cache-control", "no-cache"},
                     {"content-encoding", "gzip"},
                     {"content-disposition", "attachment"},
                     {"content-language", "de"},
                     {"expires", "Sat, 05 Jan 2030 00:00:00 GMT"},
                     {"x-amz-website-redirect-location", "/other"},
                     {"x-amz-tagging", "a=b%20c&d%26="},
                     {"x-amz-acl", "bucket-owner-full-control"},
                     {"x-amz-server-side-encryption", "aws:kms"},
                     {"x-amz-server-side-encryption-aws-kms-key-id", "key-1"},
                     {"x-amz-server-side-encryption-context", "eyJhIjogImIifQ=="},
                     {"x-amz-server-side-encryption-bucket-key-enabled", "true"},
                     {"x-amz-object-lock-mode", "GOVERNANCE"},
                     // botocore leaves out the milliseconds.
                     {"x-amz-object-lock-retain-until-date", "2030-01-05T00:00:00.000Z"},
                     {"x-amz-object-lock-legal-hold", "ON"}}));
}

TEST(WriteAttributesTest, SendsTheCustomerKeyWithItsMd5AsBotocore) {
  EXPECT_EQ(HeadersFor({.encryption = KeyOf32Bytes()}),
            (Headers{{"x-amz-server-side-encryption-customer-algorithm", "AES256"},
                     {"x-amz-server-side-encryption-customer-key", kKey},
                     {"x-amz-server-side-encryption-customer-key-md5", kKeyMd5}}));
}

TEST(WriteAttributesTest, GrantsOfOnePermissionAreOneHeaderAsBotocore) {
  ObjectAttributes attributes;
  attributes.grants = {{GrantPermission::kRead, "id=\"1\""},
                       {GrantPermission::kFullControl, "id=\"2\""},
                       {GrantPermission::kRead, "uri=\"u\""},
                       {GrantPermission::kReadAcp, "id=\"3\""},
                       {GrantPermission::kWriteAcp, "id=\"4\""}};
  attributes.encryption = SseS3{};
  EXPECT_EQ(HeadersFor(attributes), (Headers{{"x-amz-grant-read", "id=\"1\", uri=\"u\""},
                                             {"x-amz-grant-full-control", "id=\"2\""},
                                             {"x-amz-grant-read-acp", "id=\"3\""},
                                             {"x-amz-grant-write-acp", "id=\"4\""},
                                             {"x-amz-server-side-encryption", "AES256"}}));
}

TEST(WriteAttributesTest, ByDefaultNoHeaderIsSent) {
  EXPECT_EQ(HeadersFor({}), Headers{});
  EXPECT_EQ(HeadersFor({.encryption = CustomerKey()}), Headers{});
}

TEST(WriteAttributesTest, HeaderValuesCannotContainLineBreaks) {
  WireRequest wire;
  EXPECT_FALSE(
      AppendAttributes({.content_type = "text/plain\r\nx-amz-acl: public-read"}, wire).ok());
  EXPECT_FALSE(AppendAttributes({.storage_class = "A\n"}, wire).ok());
  EXPECT_FALSE(AppendAttributes({.user_metadata = {{"a: b", "c"}}}, wire).ok());
  EXPECT_FALSE(AppendAttributes({.cache_control = "a\r\nb: c"}, wire).ok());
  EXPECT_FALSE(AppendAttributes({.grants = {{GrantPermission::kRead, "id=\"1\"\r\n"}}}, wire).ok());
  EXPECT_FALSE(AppendAttributes({.encryption = SseKms{"k\n", {}, {}}}, wire).ok());
  EXPECT_TRUE(wire.headers.empty() || wire.headers.size() == 1);
}

TEST(WriteAttributesTest, AnAclIsEitherCannedOrAList) {
  WireRequest wire;
  const ObjectAttributes both{.acl = "private", .grants = {{GrantPermission::kRead, "id=\"1\""}}};
  EXPECT_EQ(AppendAttributes(both, wire).error().kind, ErrorKind::kInvalidArgument);
}

TEST(WriteAttributesTest, ALockedObjectAlwaysHasADigest) {
  StringSource body("hello");
  PutObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
  request.attributes.lock.legal_hold = false;
  const Headers headers = HeadersOf(BuildRequest(request, WithoutChecksums()).value());
  EXPECT_EQ(headers.at("content-md5"), "XUFAKrxLKna5cZ2REBfFkg==");  // RFC 1864 form of "hello".
}

CopyObjectRequest CopyOf() {
  CopyObjectRequest request;
  request.source_bucket = BucketName("s");
  request.source_key = ObjectKey("a b");
  request.bucket = BucketName("b");
  request.key = ObjectKey("k");
  return request;
}

TEST(CopyAttributesTest, SendsDirectivesConditionsAndKeysAsBotocore) {
  CopyObjectRequest request = CopyOf();
  request.source_version_id = VersionId("v");
  request.metadata_directive = CopyDirective::kReplace;
  request.tagging_directive = CopyDirective::kReplace;
  request.attributes = {
      .content_type = "text/plain", .tags = {{"a", "b"}}, .encryption = DsseKms{}};
  request.source_customer_key = KeyOf32Bytes();
  request.source_if_none_match = ETag("e");
  request.source_if_modified_since = kYear2030;
  request.source_if_unmodified_since = kYear2030;
  request.source_expected_bucket_owner = "444455556666";
  request.checksum_algorithm = "sha256";
  request.if_match = ETag("m");
  const auto wire = BuildRequest(request, Context());
  ASSERT_TRUE(wire.ok()) << wire.error().message;
  const std::string source = "x-amz-copy-source-server-side-encryption-customer-";
  EXPECT_EQ(HeadersOf(*wire),
            (Headers{{"x-amz-copy-source", "s/a%20b?versionId=v"},
                     {"x-amz-metadata-directive", "REPLACE"},
                     {"x-amz-tagging-directive", "REPLACE"},
                     {"x-amz-tagging", "a=b"},
                     {"content-type", "text/plain"},
                     {source + "algorithm", "AES256"},
                     {source + "key", kKey},
                     {source + "key-md5", kKeyMd5},
                     {"x-amz-copy-source-if-none-match", "\"e\""},
                     {"x-amz-copy-source-if-modified-since", "Sat, 05 Jan 2030 00:00:00 GMT"},
                     {"x-amz-copy-source-if-unmodified-since", "Sat, 05 Jan 2030 00:00:00 GMT"},
                     {"x-amz-source-expected-bucket-owner", "444455556666"},
                     {"x-amz-server-side-encryption", "aws:kms:dsse"},
                     {"x-amz-checksum-algorithm", "SHA256"},
                     {"if-match", "\"m\""}}));
  EXPECT_TRUE(wire->carries_customer_key);
}

TEST(CopyAttributesTest, RefusesAttributesThatS3WouldIgnore) {
  CopyObjectRequest request = CopyOf();
  request.attributes.cache_control = "no-cache";
  EXPECT_NE(BuildRequest(request, Context()).error().message.find("metadata_directive"),
            std::string::npos);
  request.metadata_directive = CopyDirective::kReplace;
  EXPECT_TRUE(BuildRequest(request, Context()).ok());
  request.attributes.tags = {{"a", "b"}};
  EXPECT_NE(BuildRequest(request, Context()).error().message.find("tagging_directive"),
            std::string::npos);
  request.tagging_directive = CopyDirective::kReplace;
  request.attributes.storage_class = "GLACIER";
  EXPECT_TRUE(BuildRequest(request, Context()).ok());
}

// Checksums of "hello", as botocore sends them for the same algorithm.
TEST(ChosenChecksumTest, SendsTheChosenAlgorithmAsBotocore) {
  for (const auto& [algorithm, value] :
       {std::pair{"sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},
        std::pair{"sha1", "qvTGHdzF6KLavt4PO0gs2a6pQ00="}, std::pair{"crc32", "NhCmhg=="}}) {
    StringSource body("hello");
    PutObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
    request.checksum_algorithm = algorithm;
    const std::string name = "x-amz-checksum-" + std::string(algorithm);
    EXPECT_EQ(HeadersOf(BuildRequest(request, Context()).value()), (Headers{{name, value}}));
  }
}

TEST(ChosenChecksumTest, SendsAGivenValueUnchanged) {
  StringSource body("hello");
  PutObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
  request.checksum_algorithm = "sha256";
  request.checksum_value = "given";
  EXPECT_EQ(HeadersOf(BuildRequest(request, Context()).value()),
            (Headers{{"x-amz-checksum-sha256", "given"}}));
  EXPECT_EQ(body.rewinds, 0);
}

TEST(ChosenChecksumTest, RefusesUnknownNamesAndAValueWithoutAName) {
  StringSource body("hello");
  PutObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = &body};
  request.checksum_algorithm = "md5";
  EXPECT_EQ(BuildRequest(request, Context()).error().message,
            "checksum_algorithm is `md5`; use crc64nvme, crc32c, crc32, sha256, sha1 or none");
  request.checksum_algorithm = "";
  request.checksum_value = "x";
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ChosenChecksumTest, TheConfirmedValueOfAnyAlgorithmIsCompared) {
  const std::vector<http::Header> sent = {{"x-amz-checksum-sha256", "a"}};
  EXPECT_TRUE(CheckConfirmedChecksum(sent, {200, {{"x-amz-checksum-sha256", "a"}}}).ok());
  EXPECT_EQ(CheckConfirmedChecksum(sent, {200, {{"x-amz-checksum-sha256", "b"}}}).error().message,
            "the bytes sent have SHA256 a, but the server confirms SHA256 b");
  const std::vector<http::Header> algorithm = {{"x-amz-checksum-algorithm", "SHA256"}};
  EXPECT_TRUE(CheckConfirmedChecksum(algorithm, {200, {{"x-amz-checksum-algorithm", "b"}}}).ok());
}

TEST(ChosenChecksumTest, UploadsByHandDeclareAlgorithmAndPartsAsBotocore) {
  CreateMultipartUploadRequest create{.bucket = BucketName("b"), .key = ObjectKey("k")};
  create.checksum_algorithm = "sha256";
  create.checksum_type = "COMPOSITE";
  EXPECT_EQ(
      HeadersOf(BuildRequest(create, Context()).value()),
      (Headers{{"x-amz-checksum-algorithm", "SHA256"}, {"x-amz-checksum-type", "COMPOSITE"}}));

  StringSource body("hello");
  UploadPartRequest part{.bucket = BucketName("b"),
                         .key = ObjectKey("k"),
                         .upload_id = UploadId("u"),
                         .part_number = 1,
                         .body = &body};
  part.checksum_algorithm = "sha256";
  part.customer_key = KeyOf32Bytes();
  const auto wire = BuildRequest(part, Context());
  const std::string sum = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
  EXPECT_EQ(HeadersOf(*wire),
            (Headers{{"x-amz-checksum-sha256", sum},
                     {"x-amz-server-side-encryption-customer-algorithm", "AES256"},
                     {"x-amz-server-side-encryption-customer-key", kKey},
                     {"x-amz-server-side-encryption-customer-key-md5", kKeyMd5}}));
  const auto completed =
      ParseResponse(part, ResponseOf("", {{"ETag", "\"e\""}, {"x-amz-checksum-sha256", sum}}));
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ(completed->checksum_value, sum);

  CompleteMultipartUploadRequest complete{.bucket = BucketName("b"),
                                          .key = ObjectKey("k"),
                                          .upload_id = UploadId("u"),
                                          .parts = {*completed},
                                          .object_size = 5};
  complete.checksum_algorithm = "sha256";
  complete.checksum_type = "COMPOSITE";
  complete.checksum_value = "LPJN";
  const auto last = BuildRequest(complete, Context());
  EXPECT_EQ(HeadersOf(*last), (Headers{{"content-type", "application/xml"},
                                       {"x-amz-checksum-type", "COMPOSITE"},
                                       {"x-amz-checksum-sha256", "LPJN"},
                                       {"x-amz-mp-object-size", "5"}}));
  EXPECT_NE(last->document.find("<ChecksumSHA256>" + sum + "</ChecksumSHA256></Part>"),
            std::string::npos);
}

TEST(CreateBucketTest, SendsAclLockAndOwnershipAsBotocore) {
  CreateBucketRequest request{.bucket = BucketName("b")};
  request.acl = "private";
  request.object_lock_enabled = true;
  request.object_ownership = "ObjectWriter";
  EXPECT_EQ(HeadersOf(BuildRequest(request, Context()).value()),
            (Headers{{"x-amz-acl", "private"},
                     {"x-amz-bucket-object-lock-enabled", "true"},
                     {"x-amz-object-ownership", "ObjectWriter"}}));
}

}  // namespace
}  // namespace penstock::s3
