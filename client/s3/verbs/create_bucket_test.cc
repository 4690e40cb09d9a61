#include "client/s3/verbs/create_bucket.h"

#include <gtest/gtest.h>

#include "client/s3/wire_for_test.h"

namespace penstock::s3 {
namespace {

const CreateBucketRequest kRequest{.bucket = BucketName("b")};

TEST(CreateBucketTest, UsEast1GoesWithoutABody) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())), "PUT /b\n\n");
}

TEST(CreateBucketTest, OtherRegionsAreNamed) {
  BuildContext context = Context();
  context.region = "eu-west-1";
  EXPECT_EQ(Golden(BuildRequest(kRequest, context)),
            "PUT /b\nContent-Type: application/xml\n\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
            "<LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>");
}

TEST(CreateBucketTest, TakesNoRequestPayer) {
  BuildContext context = Context();
  context.requester_pays = true;
  EXPECT_EQ(Golden(BuildRequest(kRequest, context)), "PUT /b\n\n");
}

TEST(CreateBucketTest, RefusesAnEmptyName) {
  EXPECT_EQ(BuildRequest(CreateBucketRequest{}, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(CreateBucketTest, AnyAnswerOfSuccessIsEnough) { EXPECT_TRUE(ParseResponse(kRequest, Answer("")).ok()); }

}  // namespace
}  // namespace penstock::s3
