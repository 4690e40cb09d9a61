#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;
using Strings = std::vector<std::string>;

const std::string kList = "GET /b--use1-az4--x-s3?list-type=2";

class ListDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(s3_.MakeDirectoryBucket("b--use1-az4--x-s3").status, 200);
    for (const char* key : {"a", "d/1", "d/2", "d/e/3", "z"})
      s3_.Send(std::string("PUT /b--use1-az4--x-s3/") + key, "x");
  }
  Harness s3_;
};

TEST_F(ListDirectoryTest, KeysAreNotInLexicographicOrder) {
  const Reply all = s3_.Send(kList);
  EXPECT_EQ(all.Elements("Key"), (Strings{"z", "d/e/3", "d/2", "d/1", "a"}));
  EXPECT_EQ(all.Element("KeyCount"), "5");
  EXPECT_EQ(all.Element("StorageClass"), "EXPRESS_ONEZONE");
  EXPECT_EQ(s3_.Send(kList).body, all.body) << "the order must be stable";
}

TEST_F(ListDirectoryTest, DelimiterReturnsCommonPrefixes) {
  const Reply top = s3_.Send(kList + "&delimiter=/");
  EXPECT_EQ(top.Elements("Key"), (Strings{"z", "a"}));
  EXPECT_EQ(top.Elements("Prefix"), (Strings{"", "d/"}))
      << "the first is the Prefix of the request";
  const Reply inner = s3_.Send(kList + "&delimiter=/&prefix=d/");
  EXPECT_EQ(inner.Elements("Key"), (Strings{"d/2", "d/1"}));
  EXPECT_EQ(inner.Elements("Prefix"), (Strings{"d/", "d/e/"}));
}

TEST_F(ListDirectoryTest, CommonPrefixesIncludeOpenUploads) {
  s3_.Send("POST /b--use1-az4--x-s3/up/load?uploads");
  EXPECT_EQ(s3_.Send(kList + "&delimiter=/").Elements("Prefix"), (Strings{"", "up/", "d/"}));
  EXPECT_EQ(s3_.Send(kList).Elements("Key").size(), 5U);
}

TEST_F(ListDirectoryTest, PrefixAndDelimiterMustBeDirectories) {
  const Reply refused = s3_.Send(kList + "&prefix=d");
  EXPECT_EQ(refused.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(refused.Element("Message"),
            "This bucket does not support a prefix that does not end in a delimiter. Specify a "
            "prefix path ending with a delimiter and "
            "try again.");
  EXPECT_EQ(s3_.Send(kList + "&delimiter=-").Outcome(), "400 InvalidRequest");
  EXPECT_EQ(s3_.Send(kList + "&start-after=a").Outcome(), "501 NotImplemented");
}

TEST_F(ListDirectoryTest, PagesContainEveryKey) {
  Strings keys;
  std::string token;
  for (int pages = 0; pages < 9; ++pages) {
    const Reply page =
        s3_.Send(kList + "&max-keys=2" + (token.empty() ? "" : "&continuation-token=" + token));
    for (const std::string& key : page.Elements("Key")) keys.push_back(key);
    if (page.Element("IsTruncated") == "false") break;
    token = page.Element("NextContinuationToken");
  }
  EXPECT_EQ(keys, s3_.Send(kList).Elements("Key"));
  EXPECT_EQ(s3_.Send(kList + "&continuation-token=x").Element("ArgumentValue"), "x");
  EXPECT_EQ(s3_.Send(kList + "&continuation-token=").Outcome(), "400 InvalidArgument");
  EXPECT_EQ(s3_.Send(kList + "&continuation-token=").Element("ArgumentValue"), "<absent>");
}

}  // namespace
}  // namespace penstock::emulator::s3
