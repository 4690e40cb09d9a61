#include "client/s3/delete_one_by_one.h"

#include <gtest/gtest.h>

#include <string>

#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

DeleteObjectsRequest Request(std::vector<std::string> keys) {
  DeleteObjectsRequest request{BucketName("b"), {}, {}};
  for (std::string& key : keys) request.keys.emplace_back(std::move(key));
  return request;
}

// Returns "METHOD target" of each request.
std::vector<std::string> Sent(const ClientUnderTest& test) {
  std::vector<std::string> sent;
  for (const auto& call : test.transport.requests())
    sent.push_back(call.request.method + " " + call.request.target);
  return sent;
}

TEST(DeleteOneByOne, KeysWithoutAnXmlRepresentationDoNotFit) {
  for (const char* key : {"a\x01", "\x1f", "\xEF\xBF\xBE", "x\xEF\xBF\xBF", "\xff"})
    EXPECT_FALSE(FitsXml(key)) << key;
  EXPECT_FALSE(FitsXml(std::string_view("a\0b", 3)));
  for (const char* key : {"a", "a\tb\r\n", "\x7f", "\xEF\xBF\xBD", "<&>\"'"})
    EXPECT_TRUE(FitsXml(key)) << key;
}

TEST(DeleteOneByOne, SendsFittingKeysInOneRequestFirst) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200, {}, "<DeleteResult/>"));
  test.transport.Expect(FakeReply::Respond(204));
  test.transport.Expect(FakeReply::Respond(204));
  const auto result = test.Run(Request({"x\x01", "a", "b", "\x02y"}));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(result->failures.empty());
  EXPECT_EQ(Sent(test),
            (std::vector<std::string>{"POST /b?delete=", "DELETE /b/x%01", "DELETE /b/%02y"}));
}

TEST(DeleteOneByOne, WithoutFittingKeysThereIsNoListRequest) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(204));
  ASSERT_TRUE(test.Run(Request({"x\x01"})).ok());
  EXPECT_EQ(Sent(test), std::vector<std::string>{"DELETE /b/x%01"});
}

TEST(DeleteOneByOne, AFittingListIsOneRequest) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200, {}, "<DeleteResult/>"));
  ASSERT_TRUE(test.Run(Request({"a", "b\n"})).ok());
  EXPECT_EQ(test.sent(), 1u);
}

TEST(DeleteOneByOne, FailuresAreInTheOrderOfTheKeys) {
  ClientUnderTest test;
  test.transport.Expect(FakeReply::Respond(200, {},
                                           "<DeleteResult><Error><Key>b</Key><Code>AccessDenied</"
                                           "Code><Message>no</Message></Error></DeleteResult>"));
  test.transport.Expect(Refuse(403, "AccessDenied"));
  test.transport.Expect(FakeReply::Respond(204));
  test.transport.Expect(Refuse(403, "AccessDenied"));
  const auto result = test.Run(Request({"x\x01", "a", "y\x01", "b", "z\x01"}));
  ASSERT_TRUE(result.ok());
  std::vector<std::string> failed;
  for (const auto& failure : result->failures)
    failed.push_back(failure.key.value + " " + failure.code);
  EXPECT_EQ(failed, (std::vector<std::string>{"x\x01 AccessDenied", "b AccessDenied",
                                              "z\x01 AccessDenied"}));
}

TEST(DeleteOneByOne, ErrorsThatConcernNoSingleKeyFailTheCall) {
  for (const FakeReply& reply : {Refuse(404, "NoSuchBucket"),
                                 FakeReply::Fail(Error::Make(ErrorKind::kInvalidArgument, "no"))}) {
    ClientUnderTest test;
    test.transport.Expect(reply);
    EXPECT_FALSE(test.Run(Request({"x\x01"})).ok());
  }
  ClientUnderTest test;
  test.transport.Expect(Refuse(403, "AccessDenied"));
  EXPECT_EQ(test.Run(Request({"x\x01", "a"})).error().code, "AccessDenied");
  EXPECT_EQ(test.sent(), 1u);
}

TEST(DeleteOneByOne, DeletesAThousandKeysWithoutDeepRecursion) {
  ClientUnderTest test;
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) {
    keys.push_back(std::to_string(i) + "\x01");
    test.transport.Expect(FakeReply::Respond(204));
  }
  ASSERT_TRUE(test.Run(Request(keys)).ok());
  EXPECT_EQ(test.sent(), 1000u);
}

TEST(DeleteOneByOne, RejectsInvalidListsLikeDeleteObjects) {
  ClientUnderTest test;
  EXPECT_FALSE(test.Run(Request({"x\x01", ""})).ok());
  EXPECT_FALSE(test.Run(Request(std::vector<std::string>(1001, "x\x01"))).ok());
  EXPECT_EQ(test.sent(), 0u);
}

}  // namespace
}  // namespace penstock::s3
