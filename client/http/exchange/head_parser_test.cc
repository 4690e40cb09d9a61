#include "client/http/exchange/head_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {
namespace {

Result<void> AddAll(HeadParser& parser, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) PENSTOCK_TRY(parser.Add(line));
  return Ok();
}

TEST(HeadParser, KeepsStatusAndHeadersInArrivalOrder) {
  HeadParser parser;
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 206 Partial Content\r\n", "B: 2\r\n", "A:1\r\n",
                              "B:  3 \r\n", "\r\n"})
                  .ok());
  EXPECT_TRUE(parser.complete());
  const ResponseHead head = parser.Take();
  EXPECT_EQ(head.status, 206);
  ASSERT_EQ(head.headers.size(), 3u);
  EXPECT_EQ(head.headers[0].name, "B");
  EXPECT_EQ(head.headers[1].value, "1");
  EXPECT_EQ(head.headers[2].value, "3");
}

TEST(HeadParser, InterimHeadIsReplacedByTheFinalOne) {
  HeadParser parser;
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 100 Continue\r\n", "X: 1\r\n", "\r\n"}).ok());
  EXPECT_FALSE(parser.complete());
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 200 OK\r\n", "\r\n"}).ok());
  EXPECT_TRUE(parser.complete());
  EXPECT_FALSE(parser.head().Find("X").has_value());
}

TEST(HeadParser, TrailersAreIgnored) {
  HeadParser parser;
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 200 OK\r\n", "\r\n", "T: v\r\n", "\r\n"}).ok());
  EXPECT_TRUE(parser.head().headers.empty());
}

TEST(HeadParser, FoldedLineContinuesTheValueAbove) {
  HeadParser parser;
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 200 OK\r\n", "A: 1\r\n", "  2\r\n", "\r\n"}).ok());
  EXPECT_EQ(parser.head().Find("A"), "1 2");
}

TEST(HeadParser, AcceptsAStatusWithoutAReason) {
  HeadParser parser;
  ASSERT_TRUE(AddAll(parser, {"HTTP/1.1 503\r\n", "\r\n"}).ok());
  EXPECT_EQ(parser.head().status, 503);
}

TEST(HeadParser, RejectsLinesThatAreNotAHead) {
  for (const std::string_view line : {"A: b", "HTTP/1.1", "HTTP/1.1 2x0 OK", "HTTP/1.1 20",
                                      "HTTP/1.1 099 x", "HTTP/1.1 2000 OK", "HTTP/2 200"}) {
    EXPECT_FALSE(HeadParser().Add(line).ok()) << line;
  }
  for (const std::string_view line : {"no colon", ": no name", " folded"}) {
    HeadParser parser;
    ASSERT_TRUE(parser.Add("HTTP/1.1 200 OK").ok());
    EXPECT_FALSE(parser.Add(line).ok()) << line;
  }
}

TEST(HeadParser, RejectsLinesThatAnotherRecipientMayReadDifferently) {
  for (const std::string_view line : {std::string_view("A: b\0c", 6), std::string_view("A\0: b", 5),
                                      std::string_view("A: b\rC: d")}) {
    HeadParser parser;
    ASSERT_TRUE(parser.Add("HTTP/1.1 200 OK").ok());
    EXPECT_FALSE(parser.Add(line).ok());
  }
}

TEST(HeadParser, RejectsALengthThatIsNotOneNumber) {
  for (const std::string_view length : {"", "-1", "+4", "4x", "4, 4", "18446744073709551616"}) {
    HeadParser parser;
    ASSERT_TRUE(parser.Add("HTTP/1.1 200 OK").ok());
    EXPECT_FALSE(parser.Add("Content-Length: " + std::string(length)).ok()) << length;
  }
  HeadParser folded;
  ASSERT_TRUE(AddAll(folded, {"HTTP/1.1 200 OK", "Content-Length: 1"}).ok());
  EXPECT_FALSE(folded.Add(" 2").ok());
}

TEST(HeadParser, RejectsContradictingBodyHeaders) {
  for (const char* name : {"Content-Length", "Content-Range", "ETag"}) {
    HeadParser parser;
    ASSERT_TRUE(
        AddAll(parser, {"HTTP/1.1 200 OK", std::string(name) + ": 1", std::string(name) + ": 1"})
            .ok());
    EXPECT_FALSE(parser.Add(std::string(name) + ": 2").ok()) << name;
  }
}

TEST(HeadParser, RejectsTooLongHeads) {
  HeadParser parser;
  ASSERT_TRUE(parser.Add("HTTP/1.1 200 OK").ok());
  const std::string line = "A: " + std::string(HeadParser::kMaxHeadBytes / 2, 'a');
  EXPECT_TRUE(parser.Add(line).ok());
  EXPECT_FALSE(parser.Add(line).ok());
}

}  // namespace
}  // namespace penstock::http
