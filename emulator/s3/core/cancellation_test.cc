#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/testing.h"
#include "emulator/s3/post/form.h"

namespace penstock::emulator::s3 {
namespace {

class StoppingServer final : public Wire {
 public:
  void BeginWait() noexcept override {}
  void EndWait() noexcept override {}
  bool PeerHasClosed() const noexcept override { return true; }
  bool IsCancelled() const noexcept override { return left-- <= 0; }

  mutable int left = 0;  // calls that return false
};

constexpr std::uint64_t kMiB = 1 << 20;

class CancellationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    exchange_.wire = &wire_;
    s3_.Send("PUT /bucket");
    s3_.Send("PUT /bucket/source", std::string(40 * kMiB, 'x'));
    const auto object = s3_.store().FindObject(BucketName("bucket"), ObjectKey("source"));
    ASSERT_TRUE(object.ok());
    content_ = (*object)->content;
  }

  testing::Harness s3_;
  store::Content content_;
  StoppingServer wire_;
  RequestHead head_;
  Connection connection_;
  testing::TextBody body_{std::string(3 * kMiB, ' '), 3 * kMiB, {}};
  Exchange exchange_{head_, connection_, &body_};
  const RouterOptions options_;
  Call call_{exchange_, options_, s3_.store()};
};

TEST_F(CancellationTest, EndsTheHashingOfACopyBetweenTwoBlocks) {
  wire_.left = 3;
  const auto digests =
      DigestContent(exchange_, content_, {0, 40 * kMiB}, {.algorithm = ChecksumAlgorithm::kCrc32});
  ASSERT_FALSE(digests.ok());
  EXPECT_EQ(digests.error().code, "ServiceUnavailable");
  EXPECT_EQ(wire_.left, -1) << "and not one block later";
}

TEST_F(CancellationTest, EndsTheCheckOfACopysSource) {
  wire_.left = 1;
  const auto checked = CheckCopySource(exchange_, content_, {0, 40 * kMiB});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, "ServiceUnavailable");
}

TEST_F(CancellationTest, EndsTheReadingOfABody) {
  wire_.left = 2;
  const auto received = ReceiveBody(call_, {});
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().code, "ServiceUnavailable");
  EXPECT_LT(body_.bytes_read(), 3 * kMiB);
}

TEST_F(CancellationTest, EndsTheReadingOfADocumentBeforeItIsParsed) {
  wire_.left = 12;  // after all of its bytes
  const auto document = ReadDocument(call_, {.limit_bytes = 4 * kMiB});
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, "ServiceUnavailable");
  EXPECT_EQ(body_.bytes_read(), 3 * kMiB);
}

TEST_F(CancellationTest, EndsTheReadingOfAPostedFile) {
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nposted\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n" +
      std::string(3 * kMiB, 'x') + "\r\n--b--\r\n";
  head_.method = "POST";
  head_.target = "/bucket";
  head_.headers = {{"Content-Type", "multipart/form-data; boundary=b"}};
  testing::TextBody body(form, form.size(), {});
  const auto opened = FormReader::Open(head_, body);
  ASSERT_TRUE(opened.ok());
  exchange_.form = &(*opened)->form();
  exchange_.body = opened->get();
  exchange_.target.bucket = BucketName("bucket");
  exchange_.space = std::shared_ptr<Namespace>(std::shared_ptr<void>(), &s3_.space());
  exchange_.identity = s3_.identity();
  wire_.left = 2;
  const auto posted = PostObject(call_);
  ASSERT_FALSE(posted.ok());
  EXPECT_EQ(posted.error().code, "ServiceUnavailable");
  EXPECT_FALSE(s3_.store().FindObject(BucketName("bucket"), ObjectKey("posted")).ok());
}

TEST_F(CancellationTest, EndsADeletionBetweenTwoKeysAndDeletesNone) {
  std::string keys;
  for (int i = 0; i < 100; ++i) keys += "<Object><Key>source</Key></Object>";
  const std::string document = "<Delete>" + keys + "</Delete>";
  testing::TextBody body(document, document.size(), {});
  head_.method = "POST";
  head_.target = "/bucket?delete";
  const std::string digest = Base64Encode(Md5(AsBytes(document)));
  head_.headers = {{"Content-MD5", digest}};
  exchange_.body = &body;
  exchange_.operation = "DeleteObjects";
  exchange_.target.bucket = BucketName("bucket");
  exchange_.space = std::shared_ptr<Namespace>(std::shared_ptr<void>(), &s3_.space());
  exchange_.identity = s3_.identity();
  wire_.left = 60;
  const auto deleted = DeleteObjects(call_);
  ASSERT_FALSE(deleted.ok());
  EXPECT_EQ(deleted.error().code, "ServiceUnavailable");
  EXPECT_TRUE(s3_.store().FindObject(BucketName("bucket"), ObjectKey("source")).ok());
}

TEST_F(CancellationTest, LeavesRequestsOfARunningServerAlone) {
  wire_.left = 1'000'000;
  EXPECT_TRUE(
      DigestContent(exchange_, content_, {0, 40 * kMiB}, {.algorithm = ChecksumAlgorithm::kCrc32})
          .ok());
  exchange_.wire = nullptr;
  EXPECT_TRUE(RefuseIfCancelled(exchange_).ok());
}

}  // namespace
}  // namespace penstock::emulator::s3
