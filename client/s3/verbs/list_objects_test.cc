#include "client/s3/verbs/verbs.h"

#include <gtest/gtest.h>

#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

const ListObjectsRequest kRequest{.bucket = BucketName("b")};

TEST(ListObjectsTest, RequestsUrlEncodedNames) {
  EXPECT_EQ(Golden(BuildRequest(kRequest, Context())),
            "GET /b?list-type=2&encoding-type=url&max-keys=1000\n\n");
}

TEST(ListObjectsTest, SendsPrefixDelimiterAndStart) {
  ListObjectsRequest request = kRequest;
  request.prefix = "a b/";
  request.delimiter = "/";
  request.start_after = "a b/c";
  request.max_keys = 7;
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET "
            "/b?list-type=2&encoding-type=url&max-keys=7&prefix=a%20b%2F&delimiter=%2F&start-after="
            "a%20b%2Fc\n\n");
  request.continuation_token = "t+1=";
  EXPECT_EQ(Golden(BuildRequest(request, Context())),
            "GET /b?list-type=2&encoding-type=url&max-keys=7&prefix=a%20b%2F&delimiter=%2F"
            "&continuation-token=t%2B1%3D\n\n");
}

TEST(ListObjectsTest, InADirectoryBucketTheDirectoryIsListed) {
  ListObjectsRequest request;
  request.bucket = BucketName("b--usw2-az1--x-s3");
  const auto sent = [&](const std::string& prefix) {
    request.prefix = prefix;
    const std::string text = Golden(BuildRequest(request, Context()));
    return text.substr(0, text.find('\n'));
  };
  const std::string start = "GET /b--usw2-az1--x-s3?list-type=2&encoding-type=url&max-keys=1000";
  EXPECT_EQ(sent("a/b/"), start + "&prefix=a%2Fb%2F");
  EXPECT_EQ(sent("a/b/c"), start + "&prefix=a%2Fb%2F");
  EXPECT_EQ(sent("abc"), start);
  request.start_after = "a/b/d";
  EXPECT_EQ(sent("a/b/c"), start + "&prefix=a%2Fb%2F");
}

TEST(ListObjectsTest, OfADirectoryOnlyRequestedNamesAreReturned) {
  ListObjectsRequest request;
  request.bucket = BucketName("b--usw2-az1--x-s3");
  request.prefix = "d/st";
  request.start_after = "d/step1";
  std::string keys;
  for (const char* key : {"d/stone", "d/step2", "d/other", "d/step1", "d/start"}) {
    keys += std::string("<Contents><Key>") + key + "</Key><Size>0</Size></Contents>";
  }
  const std::string document =
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</"
      "NextContinuationToken>" +
      keys +
      "<CommonPrefixes><Prefix>d/stuff/</Prefix></CommonPrefixes>"
      "<CommonPrefixes><Prefix>d/no/</Prefix></CommonPrefixes></ListBucketResult>";
  const auto page = ParseResponse(request, ResponseOf(document));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key.value, "d/stone");  // In the order of the response.
  EXPECT_EQ(page->objects[1].key.value, "d/step2");
  EXPECT_EQ(page->common_prefixes, std::vector<std::string>{"d/stuff/"});
  EXPECT_EQ(page->next_token, "t");
  request.bucket = BucketName("plain");  // Its listings must match the prefix.
  request.prefix = "d/";
  EXPECT_EQ(ParseResponse(request, ResponseOf(document))->objects.size(), 5u);
}

TEST(ListObjectsTest, ATokenWithoutIsTruncatedContinues) {
  const std::string token = "<NextContinuationToken>t</NextContinuationToken>";
  const std::string keys = "<Contents><Key>k</Key><Size>0</Size></Contents>";
  const auto next_token = [](const std::string& members) {
    return ParseResponse(kRequest,
                         ResponseOf("<ListBucketResult>" + members + "</ListBucketResult>"))
        .value()
        .next_token;
  };
  EXPECT_EQ(next_token(token + keys), "t");
  EXPECT_EQ(next_token(keys), "");
  EXPECT_EQ(next_token("<IsTruncated>false</IsTruncated>" + token + keys), "");
}

TEST(ListObjectsTest, OnlyNegativePageSizesAreRejected) {
  ListObjectsRequest request = kRequest;
  for (const int max_keys : {0, 1, 1001, 5000}) {
    request.max_keys = max_keys;
    EXPECT_NE(Golden(BuildRequest(request, Context()))
                  .find("max-keys=" + std::to_string(max_keys) + "\n"),
              std::string::npos);
  }
  request.max_keys = -1;
  EXPECT_EQ(BuildRequest(request, Context()).error().kind, ErrorKind::kInvalidArgument);
}

TEST(ListObjectsTest, DecodesNamesOfAPage) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf(
          "<ListBucketResult "
          "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix></Prefix>"
          "<NextContinuationToken>t+%2B</NextContinuationToken><KeyCount>2</"
          "KeyCount><MaxKeys>2</MaxKeys>"
          "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
          "<Contents><Key>a+b%2Bc%20d/%E2%82%AC%01</Key><LastModified>2026-01-02T03:04:05.000Z</"
          "LastModified>"
          "<ETag>&quot;e1&quot;</ETag><Size>5368709120</Size><StorageClass>STANDARD</"
          "StorageClass></Contents>"
          "<Contents><Key>z</Key><ETag>e2</ETag><Size>0</Size><StorageClass>GLACIER</"
          "StorageClass></Contents>"
          "<CommonPrefixes><Prefix>p+q/</Prefix></CommonPrefixes></ListBucketResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key.value, "a b+c d/\xE2\x82\xAC\x01");
  EXPECT_EQ(page->objects[0].size, 5368709120u);
  EXPECT_EQ(page->objects[0].etag.value, "e1");
  EXPECT_EQ(page->objects[0].storage_class, "");
  EXPECT_EQ(page->objects[0].last_modified, WallTime(std::chrono::seconds(1767323045)));
  EXPECT_EQ(page->objects[1].storage_class, "GLACIER");
  EXPECT_EQ(page->common_prefixes, std::vector<std::string>{"p q/"});
  EXPECT_EQ(page->next_token, "t+%2B");  // Tokens are never encoded.
}

TEST(ListObjectsTest, NamesAreLiteralWithoutAnEncodingType) {
  const auto page = ParseResponse(
      kRequest, ResponseOf("<ListBucketResult><IsTruncated>false</IsTruncated><Contents>"
                           "<Key>a+b%20</Key><Size>1</Size></Contents></ListBucketResult>"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->objects[0].key.value, "a+b%20");
  EXPECT_EQ(page->next_token, "");
}

TEST(ListObjectsTest, OrderOfMembersAndUnknownMembersDoNotMatter) {
  const auto page = ParseResponse(
      kRequest, ResponseOf("<ListBucketResult><Contents><Owner><ID>i</ID><Key>not "
                           "this</Key></Owner><Size>7</Size><Key>a%2Bb</Key>"
                           "<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress></"
                           "RestoreStatus></Contents><New><Deep/></New>"
                           "<CommonPrefixes/><EncodingType>url</EncodingType></ListBucketResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(page->objects[0].key.value, "a+b");
  EXPECT_EQ(page->objects[0].size, 7u);
  EXPECT_EQ(page->common_prefixes, std::vector<std::string>{""});
}

TEST(ListObjectsTest, TheFirstOfRepeatedMembersIsUsed) {
  const auto page = ParseResponse(
      kRequest,
      ResponseOf("<ListBucketResult><IsTruncated>false</IsTruncated><IsTruncated>true</"
                 "IsTruncated><Contents><Key>first</Key>"
                 "<Key>second</Key><Size>1</Size><Size>x</Size></Contents></ListBucketResult>"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->objects[0].key.value, "first");
  EXPECT_EQ(page->objects[0].size, 1u);
  EXPECT_EQ(page->next_token, "");
}

TEST(ListObjectsTest, AnIncompletePageIsOneError) {
  const std::string whole =
      "<?xml "
      "version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>k</Key>"
      "<ETag>&quot;e&quot;</ETag><Size>1</Size></Contents></ListBucketResult>";
  ASSERT_TRUE(ParseResponse(kRequest, ResponseOf(whole)).ok());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto page = ParseResponse(kRequest, ResponseOf(whole.substr(0, length)));
    ASSERT_FALSE(page.ok()) << length;
    EXPECT_EQ(page.error().kind, ErrorKind::kUnavailable) << length;
    EXPECT_NE(page.error().message.find("should contain a <ListBucketResult> document, but"),
              std::string::npos)
        << page.error().message;
  }
}

TEST(ListObjectsTest, AnErrorAfterTheStatusIsThatError) {
  const auto page = ParseResponse(
      kRequest, ResponseOf("<Error><Code>SlowDown</Code><Message>m</Message></Error>"));
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, "SlowDown");
}

TEST(ListObjectsTest, RejectsNamesOutsideThePrefix) {
  ListObjectsRequest request = kRequest;
  request.prefix = "a/";
  for (const char* member : {"<Contents><Key>b/k</Key><Size>1</Size></Contents>",
                             "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"}) {
    const auto page = ParseResponse(
        request, ResponseOf(std::string("<ListBucketResult>") + member + "</ListBucketResult>"));
    ASSERT_FALSE(page.ok()) << member;
    EXPECT_EQ(page.error().kind, ErrorKind::kDataLoss);
  }
}

TEST(ListObjectsTest, UnreadableResponsesAreRetried) {
  for (const char* body :
       {"", "<ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>k</Key><Size>x</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>perhaps</IsTruncated></ListBucketResult>",
        "<ListBucketResult><!DOCTYPE x><IsTruncated>false</IsTruncated></ListBucketResult>",
        "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size></"
        "Contents>"
        "</ListBucketResult>"}) {
    EXPECT_EQ(ParseResponse(kRequest, ResponseOf(body)).error().kind, ErrorKind::kUnavailable)
        << body;
  }
}

}  // namespace
}  // namespace penstock::s3
