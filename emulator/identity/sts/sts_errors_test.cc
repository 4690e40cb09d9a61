#include "emulator/identity/sts/sts_errors.h"

#include <gtest/gtest.h>

#include "base/xml/xml.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::identity {
namespace {

struct Reply {
  Reply() { exchange.request_id = "0123456789ABCDEF"; }
  std::string Text() const { return std::get<std::string>(exchange.response.body); }
  std::string Of(const char* element) const {
    const auto document = XmlDocument::Parse(Text());
    return document.ok() ? document->root().Child("Error").Child(element).text() : "no XML";
  }

  s3::RequestHead head;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
};

TEST(StsErrorsTest, AnErrorHasTheFormOfSts) {
  Reply reply;
  RespondWithStsError(reply.exchange, StsError("AccessDenied", "no <right>"));
  EXPECT_EQ(reply.exchange.response.status, 403);
  EXPECT_EQ(reply.exchange.response.error_code, "AccessDenied");
  EXPECT_EQ(reply.exchange.response.Find("Content-Type"), "text/xml");
  EXPECT_EQ(reply.Of("Message"), "no <right>");
  EXPECT_EQ(reply.Of("Type"), "Sender");
  EXPECT_EQ(StsRequestId(reply.exchange).size(), 36u);
  EXPECT_EQ(reply.exchange.response.Find("x-amzn-RequestId"), StsRequestId(reply.exchange));
}

// botocore's parser refuses documents that are not XML 1.0 in UTF-8.
TEST(StsErrorsTest, ErrorsAreXml10) {
  Reply reply;
  RespondWithStsError(reply.exchange,
                      StsError("ValidationError", std::string("a\0b\x1f\n\xef\xbf\xbf\xff!", 10)));
  EXPECT_TRUE(XmlDocument::Parse(reply.Text(), XmlCharacters::kXml10).ok()) << reply.Text();
  EXPECT_EQ(reply.Of("Message"), "a\uFFFDb\uFFFD\n\uFFFD\uFFFD!");
}

TEST(StsErrorsTest, InternalErrorsAreNotShown) {
  Reply reply;
  RespondWithStsError(reply.exchange, Error::Make(ErrorKind::kInternal, "/data/users.db failed"));
  EXPECT_EQ(reply.exchange.response.status, 500);
  EXPECT_EQ(reply.Of("Type"), "Receiver");
  EXPECT_EQ(reply.Text().find("users.db"), std::string::npos);
  EXPECT_EQ(reply.exchange.response.error_detail, "/data/users.db failed");
}

TEST(StsErrorsTest, ErrorsOfS3AreTranslated) {
  const struct {
    const char* code;
    const char* sts_code;
    int status;
  } rows[] = {{"InvalidAccessKeyId", "InvalidClientTokenId", 403},
              {"ExpiredToken", "ExpiredToken", 403},
              {"RequestTimeTooSkewed", "SignatureDoesNotMatch", 403},
              {"SlowDown", "SlowDown", 503}};
  for (const auto& row : rows) {
    Reply reply;
    s3::RespondWithError(reply.exchange, s3::MakeError(row.code));
    TranslateError(reply.exchange);
    EXPECT_EQ(reply.Of("Code"), row.sts_code);
    EXPECT_EQ(reply.exchange.response.status, row.status) << row.code;
    EXPECT_EQ(reply.exchange.response.error_code, row.sts_code);
    EXPECT_FALSE(reply.Of("Message").empty());
  }
}

TEST(StsErrorsTest, OtherResponsesStay) {
  Reply reply;
  reply.exchange.response.body = std::string("<Error><Code>x</Code></Error>");
  TranslateError(reply.exchange);
  EXPECT_EQ(reply.Text(), "<Error><Code>x</Code></Error>") << "no error";
  RespondWithStsError(reply.exchange, StsError("AccessDenied", "m"));
  const std::string before = reply.Text();
  TranslateError(reply.exchange);
  EXPECT_EQ(reply.Text(), before);
}

}  // namespace
}  // namespace penstock::emulator::identity
