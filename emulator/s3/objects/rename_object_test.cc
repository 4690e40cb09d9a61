#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

const std::string kBucket = "/b--use1-az4--x-s3/";

class RenameObjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(s3_.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
    etag_ = s3_.Send("PUT " + kBucket + "a\nx-amz-meta-m: 1", "bytes").Header("ETag");
  }
  Reply Rename(const std::string& source, const std::string& target,
               const std::string& headers = {}) {
    return s3_.Send("PUT " + kBucket + target + "?renameObject\nx-amz-rename-source: " + source +
                    headers);
  }
  std::string Text(const std::string& key) {
    const Reply reply = s3_.Send("GET " + kBucket + key);
    return reply.status == 200 ? reply.body : reply.Outcome();
  }
  Harness s3_;
  std::string etag_;
};

TEST_F(RenameObjectTest, RenameChangesOnlyTheKey) {
  const std::string date = s3_.Send("HEAD " + kBucket + "a").Header("Last-Modified");
  s3_.clock().Advance(std::chrono::minutes(10));
  EXPECT_EQ(Rename("a", "folder/b").Outcome(), "200");
  const Reply head = s3_.Send("HEAD " + kBucket + "folder/b");
  EXPECT_EQ(head.Header("ETag"), etag_);
  EXPECT_EQ(head.Header("Last-Modified"), date);
  EXPECT_EQ(head.Header("x-amz-meta-m"), "1");
  EXPECT_EQ(Text("a"), "404 NoSuchKey");
  EXPECT_EQ(Text("folder/b"), "bytes");
}

TEST_F(RenameObjectTest, SourceIsUrlEncoded) {
  s3_.Send("PUT " + kBucket + "with%20space%2Bplus", "x");
  EXPECT_EQ(Rename("with%20space%2Bplus", "b").Outcome(), "200");
  EXPECT_EQ(Text("b"), "x");
  EXPECT_EQ(Rename("%zz", "b").Outcome(), "400 InvalidArgument");
}

TEST_F(RenameObjectTest, InvalidSourcesAndTargetsAreRefused) {
  const Reply missing = Rename("absent", "b");
  EXPECT_EQ(missing.Outcome(), "404 NoSuchKey");
  EXPECT_EQ(missing.Element("Key"), "absent");
  EXPECT_EQ(Rename("a", "folder/").Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Rename("a/", "b").Outcome(), "400 InvalidRequest");
  EXPECT_EQ(Rename(std::string(1025, 'k'), "b").Outcome(), "400 KeyTooLongError");
  EXPECT_EQ(Rename("a", std::string(1025, 'k')).Outcome(), "400 KeyTooLongError");
  EXPECT_EQ(s3_.Send("PUT " + kBucket + "b?renameObject").Outcome(), "400 InvalidRequest");
}

TEST_F(RenameObjectTest, TargetConditionsAreChecked) {
  const std::string target = s3_.Send("PUT " + kBucket + "b", "old").Header("ETag");
  const Reply exists = Rename("a", "b", "\nIf-None-Match: *");
  EXPECT_EQ(exists.Outcome(), "412 PreconditionFailed");
  EXPECT_EQ(exists.Element("Condition"), "If-None-Match");
  EXPECT_EQ(Rename("a", "b", "\nIf-Match: " + etag_).Element("Condition"), "If-Match");
  EXPECT_EQ(Rename("a", "absent", "\nIf-Match: " + etag_).Element("Condition"), "If-Match");
  EXPECT_EQ(Rename("a", "b", "\nIf-Match: \"no\"\nIf-None-Match: *").Element("Condition"),
            "If-Match")
      << "If-Match is evaluated first";
  EXPECT_EQ(Rename("a", "b", "\nIf-Unmodified-Since: Fri, 02 Jan 2026 03:04:04 GMT").Outcome(),
            "412 PreconditionFailed");
  EXPECT_EQ(Rename("a", "b", "\nIf-Modified-Since: Fri, 02 Jan 2026 03:04:05 GMT").Outcome(),
            "412 PreconditionFailed");
  EXPECT_EQ(Rename("a", "b", "\nIf-Match: " + target).Outcome(), "200");
  EXPECT_EQ(Text("b"), "bytes");
}

TEST_F(RenameObjectTest, SourceConditionsAreChecked) {
  const std::string source = "\nx-amz-rename-source-";
  EXPECT_EQ(Rename("a", "b", source + "if-match: \"no\"").Element("Condition"), "If-Match");
  EXPECT_EQ(Rename("a", "b", source + "if-none-match: " + etag_).Element("Condition"),
            "If-None-Match");
  EXPECT_EQ(
      Rename("a", "b", source + "if-unmodified-since: Fri, 02 Jan 2026 03:04:04 GMT").Outcome(),
      "412 PreconditionFailed");
  EXPECT_EQ(Rename("a", "b", source + "if-modified-since: Fri, 02 Jan 2026 03:04:05 GMT").Outcome(),
            "412 PreconditionFailed");
  EXPECT_EQ(Rename("a", "b", source + "if-match: " + etag_ + "\nIf-None-Match: *").Outcome(),
            "200");
}

TEST_F(RenameObjectTest, ClientTokenMakesRetriesSafe) {
  const std::string token = "\nx-amz-client-token: 7a0c";
  EXPECT_EQ(Rename("a", "b", token).Outcome(), "200");
  EXPECT_EQ(Rename("a", "b", token).Outcome(), "200");
  EXPECT_EQ(Text("b"), "bytes");
  EXPECT_EQ(Rename("b", "c", token).Outcome(), "400 IdempotencyParameterMismatch");
  EXPECT_EQ(Rename("a", "b", token + "\nIf-None-Match: *").Outcome(),
            "400 IdempotencyParameterMismatch");
  EXPECT_EQ(Rename("b", "c", "\nx-amz-client-token: " + std::string(65, 't')).Outcome(),
            "400 InvalidArgument");
}

}  // namespace
}  // namespace penstock::emulator::s3
