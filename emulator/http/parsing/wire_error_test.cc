#include "emulator/http/parsing/wire_error.h"

#include <string>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(WireError, BecomesAnS3ErrorDocument) {
  message::Response response;
  response.body = std::string("half a response");
  response.headers.emplace_back("ETag", "\"x\"");
  FillErrorResponse(IncompleteBody(10, 3), "ID0", "HOST", response);
  EXPECT_EQ(response.status, 400);
  EXPECT_TRUE(response.close);
  EXPECT_TRUE(response.chunked);
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].second, "application/xml");
  // The shape is that of Amazon S3: code-specific elements between Message and RequestId.
  EXPECT_EQ(
      std::get<std::string>(response.body),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>IncompleteBody</Code><Message>You "
      "did not provide the number of "
      "bytes specified by the Content-Length HTTP "
      "header</Message><NumberBytesExpected>10</NumberBytesExpected>"
      "<NumberBytesProvided>3</NumberBytesProvided><RequestId>ID0</RequestId><HostId>HOST</"
      "HostId></Error>");
}

TEST(WireError, EachCodeHasItsStatus) {
  EXPECT_EQ(BadRequest("x").http_status, 400);
  EXPECT_EQ(HeadTooLarge(8192).details[0].second, "8192");
  EXPECT_EQ(HeadTooLarge(8192).code, "RequestHeaderSectionTooLarge");
  EXPECT_EQ(TargetTooLong(1).http_status, 414);
  EXPECT_EQ(VersionNotSupported().http_status, 505);
  EXPECT_EQ(HeaderNotImplemented("Transfer-Encoding").http_status, 501);
  EXPECT_EQ(BrokenChunks("x").code, "IncompleteBody");
  EXPECT_EQ(RequestTimedOut().code, "RequestTimeout");
  EXPECT_EQ(RequestTimedOut().http_status, 400);
  EXPECT_EQ(InternalError().http_status, 500);
}

}  // namespace
}  // namespace penstock::emulator::http
