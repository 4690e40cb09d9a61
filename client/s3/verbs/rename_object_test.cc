#include "client/s3/verbs/rename_object.h"

#include <gtest/gtest.h>

#include "base/dates.h"
#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

RenameObjectRequest Rename(std::string source, std::string destination) {
  RenameObjectRequest request;
  request.bucket = BucketName("b--usw2-az1--x-s3");
  request.source = ObjectKey(std::move(source));
  request.destination = ObjectKey(std::move(destination));
  request.client_token = "token";
  return request;
}

std::string Failure(const RenameObjectRequest& request) {
  const auto built = BuildRequest(request, Context());
  return built.ok() ? "(built)" : built.error().message;
}

TEST(RenameObjectTest, TheSourceIsAnEncodedHeaderAndTheDestinationThePath) {
  EXPECT_EQ(Golden(BuildRequest(Rename("a dir/old+key", "new/key"), Context())),
            "PUT /b--usw2-az1--x-s3/new/key?renameObject=\nx-amz-rename-source: "
            "a%20dir/old%2Bkey\nx-amz-client-token: token\n\n");
}

TEST(RenameObjectTest, SendsConditionsOfBothObjects) {
  RenameObjectRequest request = Rename("a", "b");
  const WallTime then = *ParseHttpDate("Fri, 24 May 2013 00:00:00 GMT");
  request.of_destination = {ETag("d"), ETag("*"), then, then};
  request.of_source = {ETag("s"), ETag("t"), then, then};
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "PUT /b--usw2-az1--x-s3/b?renameObject=\nx-amz-rename-source: a\nIf-Match: "
            "\"d\"\nIf-None-Match: *\n"
            "If-Modified-Since: Fri, 24 May 2013 00:00:00 GMT\nIf-Unmodified-Since: Fri, 24 May "
            "2013 00:00:00 GMT\n"
            "x-amz-rename-source-if-match: \"s\"\nx-amz-rename-source-if-none-match: \"t\"\n"
            "x-amz-rename-source-if-modified-since: Fri, 24 May 2013 00:00:00 GMT\n"
            "x-amz-rename-source-if-unmodified-since: Fri, 24 May 2013 00:00:00 "
            "GMT\nx-amz-client-token: token\n\n");
}

TEST(RenameObjectTest, RejectsAGeneralPurposeBucketWithTheFix) {
  RenameObjectRequest request = Rename("a", "b");
  request.bucket = BucketName("plain");
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(Failure(request),
            "RenameObject works in directory buckets (S3 Express One Zone) only, and `plain` is a "
            "general purpose "
            "bucket; copy the object and delete its source");
}

TEST(RenameObjectTest, ChecksKeysAndTokens) {
  EXPECT_EQ(Failure(Rename("a", "b/")),
            "the key `b/` ends in /; S3 renames objects, not directories");
  EXPECT_EQ(Failure(Rename("a/", "b")),
            "the key `a/` ends in /; S3 renames objects, not directories");
  EXPECT_NE(Failure(Rename("", "b")).find("the object key is empty"), std::string::npos);
  EXPECT_NE(Failure(Rename("a", std::string(1025, 'k'))).find("1025 bytes"), std::string::npos);
  RenameObjectRequest request = Rename("a", "b");
  for (const std::string& token :
       {std::string(), std::string(65, 't'), std::string("a b"), std::string("a\n")}) {
    request.client_token = token;
    EXPECT_NE(Failure(request).find("1 to 64 printable ASCII characters"), std::string::npos)
        << token;
  }
}

}  // namespace
}  // namespace penstock::s3
