#include "emulator/server/request_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

class RequestLogTest : public testing::Test {
 protected:
  RequestLogTest() {
    head_.method = "GET";
    exchange_.received = *ParseIso8601("2026-01-02T03:04:05.000Z");
    exchange_.operation = "GetObject";
    exchange_.target.bucket = BucketName("b");
    exchange_.target.key = ObjectKey("k");
  }
  nlohmann::json Line() const {
    return nlohmann::json::parse(
        LogLine(exchange_, exchange_.received + std::chrono::microseconds(1500)));
  }

  s3::RequestHead head_;
  s3::Connection connection_{.id = 7};
  s3::Exchange exchange_{head_, connection_};
};

TEST_F(RequestLogTest, RecordsTheRequest) {
  head_.headers = {{"Range", "bytes=0-9"},
                   {"User-Agent", "agent"},
                   {"amz-sdk-request", "ttl=x; attempt=3; max=5"}};
  exchange_.response.status = 206;
  exchange_.bytes_out = 10;
  const auto line = Line();
  EXPECT_EQ(line.at("time"), "2026-01-02T03:04:05.000Z");
  EXPECT_EQ(line.at("connection"), 7);
  EXPECT_EQ(line.at("operation"), "GetObject");
  EXPECT_EQ(line.at("range"), "bytes=0-9");
  EXPECT_EQ(line.at("status"), 206);
  EXPECT_EQ(line.at("bytes_out"), 10);
  EXPECT_EQ(line.at("duration_us"), 1500);
  EXPECT_EQ(line.at("attempt"), 3);
}

TEST_F(RequestLogTest, RecordsTheErrorCode) {
  exchange_.response.status = 404;
  exchange_.response.body =
      std::string("<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message/></Error>");
  EXPECT_EQ(Line().at("error"), "NoSuchKey");
}

TEST_F(RequestLogTest, RecordsTheErrorCodeWithoutADocument) {
  exchange_.response.status = 404;
  exchange_.response.error_code = "NoSuchKey";
  EXPECT_EQ(Line().at("error"), "NoSuchKey");
}

TEST_F(RequestLogTest, RecordsDetailsThatTheResponseOmits) {
  EXPECT_FALSE(Line().contains("detail"));
  exchange_.response.status = 500;
  exchange_.response.error_detail = "no space left for /data/objects.db";
  EXPECT_EQ(Line().at("detail"), "no space left for /data/objects.db");
}

TEST_F(RequestLogTest, IgnoresAnErrorCodeInAnObject) {
  exchange_.response.body = std::string("<Error><Code>NoSuchKey</Code></Error>");
  EXPECT_EQ(Line().at("error"), "");
}

TEST_F(RequestLogTest, WritesOneLineForAnyKey) {
  exchange_.target.key = ObjectKey("a\nb\xff\"");
  const std::string text = LogLine(exchange_, exchange_.received);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_TRUE(nlohmann::json::accept(text));
}

TEST_F(RequestLogTest, RedactsSecretsInFreeText) {
  head_.headers = {{"User-Agent", "x X-Amz-Signature=0123456789abcdef y"}};
  EXPECT_EQ(std::string(Line().at("user_agent")).find("0123456789abcdef"), std::string::npos);
}

// If a client encodes the '?' of a presigned URL, the signature becomes part of the key.
TEST_F(RequestLogTest, MasksSignaturesInNames) {
  exchange_.target.bucket = BucketName("Signature=hush");
  exchange_.target.key = ObjectKey("k?X-Amz-Signature=hush&x=1");
  EXPECT_EQ(Line().at("bucket"), "Signature=***");
  EXPECT_EQ(Line().at("key"), "k?X-Amz-Signature=***&x=1");
}

// The log has malformed heads too, whose method can be any text.
TEST_F(RequestLogTest, MasksSignaturesInMethods) {
  head_.method = "Signature=hush";
  EXPECT_EQ(Line().at("method"), "Signature=***");
  head_.method = "Signature%3Dhush";
  EXPECT_EQ(Line().at("method"), "Signature%3D***");
  head_.method = "GET";
  EXPECT_EQ(Line().at("method"), "GET");
}

TEST_F(RequestLogTest, AppendsToItsFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  for (int i = 0; i < 2; ++i) {
    const auto log = RequestLog::Open(path);
    ASSERT_TRUE(log.ok());
    (*log)->Write(exchange_, exchange_.received);
  }
  const std::string line = LogLine(exchange_, exchange_.received);
  EXPECT_EQ(ReadFile(path), line + line);
}

}  // namespace
}  // namespace penstock::emulator::server
