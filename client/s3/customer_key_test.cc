// ClientConfig::customer_key.
#include "client/s3/customer_key.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "client/s3/client_for_test.h"
#include "penstock/bodies.h"
#include "penstock/presign.h"

namespace penstock::s3 {
namespace {

constexpr const char* kKeyHeader = "x-amz-server-side-encryption-customer-key";
constexpr const char* kSourceKeyHeader = "x-amz-copy-source-server-side-encryption-customer-key";

CustomerKey KeyOf(char byte) {
  const std::string bytes(32, byte);
  return CustomerKey::Create(AsBytes(bytes)).value();
}

ClientConfig WithKey(CustomerKey key) {
  ClientConfig config;
  config.customer_key = std::move(key);
  return config;
}

TEST(ClientCustomerKeyTest, ReadsAndWritesSendIt) {
  const CustomerKey key = KeyOf('k');
  ClientUnderTest test(WithKey(key));
  test.transport.SetHandler([](const auto&) { return Object("text"); });
  ASSERT_TRUE(test.Get().ok());
  Body body("text");
  (void)test.Run(
      PutObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = body.source()});
  (void)test.Run(HeadObjectRequest{BucketName("b"), ObjectKey("k"), {}, {}});
  (void)test.Run(UploadPartRequest{.bucket = BucketName("b"),
                                   .key = ObjectKey("k"),
                                   .upload_id = UploadId("u"),
                                   .part_number = 1,
                                   .body = body.source()});
  ASSERT_GE(test.sent(), 4u);  // The response is not one of all these operations.
  for (std::size_t i = 0; i < test.sent(); ++i) EXPECT_EQ(test.Header(i, kKeyHeader), key.base64());
}

TEST(ClientCustomerKeyTest, CopiesSendItForBothObjects) {
  const CustomerKey key = KeyOf('k');
  ClientUnderTest test(WithKey(key));
  test.transport.SetHandler([](const auto&) { return Refuse(404, "NoSuchKey"); });
  (void)test.Run(CopyObjectRequest{.source_bucket = BucketName("b"),
                                   .source_key = ObjectKey("s"),
                                   .bucket = BucketName("b"),
                                   .key = ObjectKey("k")});
  EXPECT_EQ(test.Header(0, kKeyHeader), key.base64());
  EXPECT_EQ(test.Header(0, kSourceKeyHeader), key.base64());
}

TEST(ClientCustomerKeyTest, TheKeyOfARequestComesFirst) {
  ClientUnderTest test(WithKey(KeyOf('k')));
  test.transport.Expect(Object("text"));
  HeadObjectRequest request{BucketName("b"), ObjectKey("k"), {}, {}};
  request.customer_key = KeyOf('o');
  (void)test.Run(std::move(request));
  EXPECT_EQ(test.Header(0, kKeyHeader), KeyOf('o').base64());
}

TEST(ClientCustomerKeyTest, RequestsWithoutObjectDataDoNotSendIt) {
  ClientUnderTest test(WithKey(KeyOf('k')));
  test.transport.SetHandler([](const auto&) { return Refuse(404, "NoSuchBucket"); });
  (void)test.Run(DeleteObjectRequest{BucketName("b"), ObjectKey("k"), {}, {}});
  (void)test.Run(ListObjectsRequest{.bucket = BucketName("b")});
  for (std::size_t i = 0; i < test.sent(); ++i) EXPECT_EQ(test.Header(i, kKeyHeader), "(none)");
}

TEST(ClientCustomerKeyTest, AnotherEncryptionIsRefused) {
  ClientUnderTest test(WithKey(KeyOf('k')));
  Body body("text");
  PutObjectRequest request{.bucket = BucketName("b"), .key = ObjectKey("k"), .body = body.source()};
  request.attributes.encryption = SseS3{};
  const auto refused = test.Run(std::move(request));
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(test.sent(), 0u);
}

TEST(ClientCustomerKeyTest, PresignedRequestsDoNotContainIt) {
  ClientUnderTest test(WithKey(KeyOf('k')));
  const auto url =
      Presign(*test.client, GetObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k")});
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->headers.empty());
}

}  // namespace
}  // namespace penstock::s3
