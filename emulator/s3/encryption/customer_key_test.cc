#include "emulator/s3/encryption/customer_key.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

constexpr char kPrefix[] = "x-amz-server-side-encryption-customer-";
constexpr char kSourcePrefix[] = "x-amz-copy-source-server-side-encryption-customer-";

std::string KeyMd5(const std::string& key) { return Base64Encode(Md5(AsBytes(key))); }
// Returns the three headers for a key.
std::string Headers(const std::string& key, const std::string& prefix = kPrefix) {
  return prefix + "algorithm: AES256\n" + prefix + "key: " + Base64Encode(AsBytes(key)) + "\n" +
         prefix + "key-MD5: " + KeyMd5(key);
}
const std::string kRed(32, 'r');
const std::string kBlue(32, 'b');

class CustomerKeyTest : public ::testing::Test {
 protected:
  CustomerKeyTest() { s3_.Send("PUT /bucket"); }
  Reply Put(const std::string& headers) { return s3_.Send("PUT /bucket/k\n" + headers, "hello"); }
  Harness s3_;
};

TEST_F(CustomerKeyTest, ObjectsAreReadOnlyWithTheirKey) {
  const Reply put = Put(Headers(kRed));
  ASSERT_EQ(put.Outcome(), "200");
  for (const char* method : {"PUT", "GET", "HEAD"}) {
    const Reply reply = method == std::string("PUT")
                            ? put
                            : s3_.Send(std::string(method) + " /bucket/k\n" + Headers(kRed));
    EXPECT_EQ(reply.status, 200) << method;
    EXPECT_EQ(reply.Header("x-amz-server-side-encryption-customer-algorithm"), "AES256") << method;
    EXPECT_EQ(reply.Header("x-amz-server-side-encryption-customer-key-MD5"), KeyMd5(kRed))
        << method;
    EXPECT_EQ(reply.Header("x-amz-server-side-encryption"), "<absent>") << method;
  }
  EXPECT_EQ(s3_.Send("GET /bucket/k\n" + Headers(kRed)).body, "hello");
  // No MD5 with SSE-C.
  EXPECT_NE(put.Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");

  // Text recorded against Amazon S3.
  const Reply without = s3_.Send("GET /bucket/k");
  EXPECT_EQ(without.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(without.Element("Message"),
            "The object was stored using a form of Server Side Encryption. The correct parameters "
            "must be provided to retrieve "
            "the object.");
  const Reply wrong = s3_.Send("GET /bucket/k\n" + Headers(kBlue));
  EXPECT_EQ(wrong.Outcome(), "403 AccessDenied");
  EXPECT_EQ(wrong.Element("Message"),
            "Requests specifying Server Side Encryption with Customer provided keys must provide "
            "the correct secret key.");
  EXPECT_EQ(s3_.Send("HEAD /bucket/k").status, 400);
  EXPECT_EQ(s3_.Send("HEAD /bucket/k\n" + Headers(kBlue)).status, 403);
  EXPECT_EQ(s3_.Send("GET /bucket/k?attributes\nx-amz-object-attributes: ETag").Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(s3_.Send("GET /bucket/k?attributes\nx-amz-object-attributes: ETag\n" + Headers(kRed))
                .Outcome(),
            "200");
  EXPECT_EQ(s3_.Send("DELETE /bucket/k").Outcome(), "204");  // Needs no key.
}

TEST_F(CustomerKeyTest, KeysAreRefusedForObjectsWithoutOne) {
  Put("x-amz-meta-a: 1");
  const Reply reply = s3_.Send("GET /bucket/k\n" + Headers(kRed));
  EXPECT_EQ(reply.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(reply.Element("Message"),
            "The encryption parameters are not applicable to this object.");
}

// Texts and elements recorded against Amazon S3.
TEST_F(CustomerKeyTest, HeadersMustBeConsistent) {
  const std::string p = kPrefix;
  const std::string key = p + "key: " + Base64Encode(AsBytes(kRed));
  const std::string md5 = p + "key-MD5: " + KeyMd5(kRed);
  const std::string algorithm = p + "algorithm: AES256";
  const std::string subject =
      "Requests specifying Server Side Encryption with Customer provided keys must provide ";
  const std::pair<std::string, std::string> cases[] = {
      {key + "\n" + md5, subject + "a valid encryption algorithm."},
      {md5, subject + "a valid encryption algorithm."},
      {algorithm, subject + "an appropriate secret key."},
      {algorithm + "\n" + key, subject + "the client calculated MD5 of the secret key."},
      {Headers("short"), "The secret key was invalid for the specified algorithm."},
      {algorithm + "\n" + p + "key: !\n" + md5,
       "The secret key was invalid for the specified algorithm."},
      {algorithm + "\n" + key + "\n" + p + "key-MD5: " + KeyMd5(kBlue),
       "The calculated MD5 hash of the key did not match the hash that was provided."},
  };
  for (const auto& [headers, message] : cases) {
    const Reply reply = Put(headers);
    EXPECT_EQ(reply.Outcome(), "400 InvalidArgument") << headers;
    EXPECT_EQ(reply.Element("Message"), message) << headers;
    EXPECT_EQ(reply.Element("ArgumentName"), "x-amz-server-side-encryption");
    EXPECT_EQ(reply.Element("ArgumentValue"), "<absent>");
    EXPECT_EQ(reply.body.find(Base64Encode(AsBytes(kRed))), std::string::npos);
  }
  const Reply other = Put(p + "algorithm: AES128\n" + key + "\n" + md5);
  EXPECT_EQ(other.Outcome(), "400 InvalidEncryptionAlgorithmError");
  EXPECT_EQ(other.Element("Message"),
            "The Encryption request you specified is not valid. Supported value: AES256.");
  EXPECT_EQ(other.Element("ArgumentValue"), "AES128");
  const Reply both = Put(Headers(kRed) + "\nx-amz-server-side-encryption: AES256");
  EXPECT_EQ(both.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(both.Element("Message"),
            "Server Side Encryption with Customer provided key is incompatible with the encryption "
            "method specified");
}

TEST_F(CustomerKeyTest, StoresASaltedHmacInsteadOfTheKey) {
  Put(Headers(kRed));
  const auto first = s3_.store().FindObject(BucketName("bucket"), ObjectKey("k"));
  Put(Headers(kRed));
  const auto second = s3_.store().FindObject(BucketName("bucket"), ObjectKey("k"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(StoredEncryption((*first)->attributes).customer_key_proof,
            StoredEncryption((*second)->attributes).customer_key_proof);
  for (const auto& [name, value] : (*second)->attributes) {
    EXPECT_EQ(value.find(Base64Encode(AsBytes(kRed))), std::string::npos) << name;
    EXPECT_EQ(value.find(kRed), std::string::npos) << name;
    EXPECT_EQ(value.find(KeyMd5(kRed)), std::string::npos) << name;
  }
}

TEST_F(CustomerKeyTest, CopiesNeedTheKeyOfTheSource) {
  Put(Headers(kRed));
  const std::string copy = "PUT /bucket/copy\nx-amz-copy-source: /bucket/k";
  EXPECT_EQ(s3_.Send(copy).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(s3_.Send(copy + "\n" + Headers(kBlue, kSourcePrefix)).Outcome(), "403 AccessDenied");
  const Reply plain = s3_.Send(copy + "\n" + Headers(kRed, kSourcePrefix));
  EXPECT_EQ(plain.Header("x-amz-server-side-encryption"), "AES256");
  EXPECT_EQ(s3_.Send("GET /bucket/copy").body, "hello");
  EXPECT_EQ(s3_.Send("HEAD /bucket/copy").Header("ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  const Reply rekeyed =
      s3_.Send(copy + "\n" + Headers(kRed, kSourcePrefix) + "\n" + Headers(kBlue));
  EXPECT_EQ(rekeyed.Header("x-amz-server-side-encryption-customer-key-MD5"), KeyMd5(kBlue));
  EXPECT_EQ(s3_.Send("GET /bucket/copy\n" + Headers(kBlue)).body, "hello");
  EXPECT_EQ(
      s3_.Send("PUT /bucket/c2\nx-amz-copy-source: /bucket/none\n" + Headers(kRed, kSourcePrefix))
          .Outcome(),
      "404 NoSuchKey");
}

TEST_F(CustomerKeyTest, PartsNeedTheKeyOfTheUpload) {
  const Reply create = s3_.Send("POST /bucket/u?uploads\n" + Headers(kRed));
  EXPECT_EQ(create.Header("x-amz-server-side-encryption-customer-key-MD5"), KeyMd5(kRed));
  const std::string where = "/bucket/u?uploadId=" + create.Element("UploadId");
  const Reply without = s3_.Send("PUT " + where + "&partNumber=1", "hello");
  EXPECT_EQ(without.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(without.Element("Message"),
            "The multipart upload initiate requested encryption. Subsequent part requests must "
            "include the appropriate "
            "encryption parameters.");
  const Reply wrong = s3_.Send("PUT " + where + "&partNumber=1\n" + Headers(kBlue), "hello");
  EXPECT_EQ(wrong.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(wrong.Element("Message"),
            "The provided encryption parameters did not match the ones used originally.");
  const Reply part = s3_.Send("PUT " + where + "&partNumber=1\n" + Headers(kRed), "hello");
  EXPECT_EQ(part.Header("x-amz-server-side-encryption-customer-key-MD5"), KeyMd5(kRed));
  EXPECT_EQ(s3_.Send("GET " + where).Outcome(), "200");
  EXPECT_EQ(s3_.Send("GET " + where + "\n" + Headers(kBlue)).Outcome(), "400 InvalidRequest");
  const std::string document = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
                               part.Header("ETag") + "</ETag></Part></CompleteMultipartUpload>";
  EXPECT_EQ(s3_.Send("POST " + where + "\n" + Headers(kBlue), document).Outcome(),
            "400 InvalidRequest");
  const Reply complete = s3_.Send("POST " + where, document);
  EXPECT_EQ(complete.Outcome(), "200");
  EXPECT_EQ(complete.Element("ChecksumType"), "<absent>")
      << "recorded against Amazon S3: no checksum unless requested";
  const Reply whole = s3_.Send("GET /bucket/u\nx-amz-checksum-mode: ENABLED\n" + Headers(kRed));
  EXPECT_EQ(whole.body, "hello");
  EXPECT_EQ(whole.Header("x-amz-checksum-type"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket?list-type=2").Element("ChecksumAlgorithm"), "<absent>");
  EXPECT_EQ(s3_.Send("GET /bucket/u").Outcome(), "400 InvalidRequest");

  const std::string plain =
      "/bucket/p?partNumber=1&uploadId=" + s3_.Send("POST /bucket/p?uploads").Element("UploadId");
  EXPECT_EQ(s3_.Send("PUT " + plain + "\n" + Headers(kRed), "hello").Outcome(),
            "400 InvalidRequest");
  s3_.Send("PUT /bucket/k\n" + Headers(kBlue), "hello");
  const std::string part_copy = "PUT " + plain + "\nx-amz-copy-source: /bucket/k";
  EXPECT_EQ(s3_.Send(part_copy).Outcome(), "400 InvalidRequest");
  EXPECT_EQ(s3_.Send(part_copy + "\n" + Headers(kBlue, kSourcePrefix)).Outcome(), "200");
}

TEST_F(CustomerKeyTest, EachVersionHasItsKey) {
  s3_.SetVersioning("bucket", "Enabled");
  const std::string red = Put(Headers(kRed)).Header("x-amz-version-id");
  Put(Headers(kBlue));
  EXPECT_EQ(s3_.Send("GET /bucket/k?versionId=" + red + "\n" + Headers(kRed)).body, "hello");
  EXPECT_EQ(s3_.Send("GET /bucket/k?versionId=" + red + "\n" + Headers(kBlue)).Outcome(),
            "403 AccessDenied");
}

}  // namespace
}  // namespace penstock::emulator::s3
