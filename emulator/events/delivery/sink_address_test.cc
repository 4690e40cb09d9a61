#include "emulator/events/delivery/sink_address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::emulator::events {
namespace {

TEST(SinkAddressTest, AFileHasAPath) {
  const auto sink = ParseSink("arn:aws:sqs:*:images=file:/var/a=b");
  ASSERT_TRUE(sink.ok());
  EXPECT_EQ(sink->pattern, "arn:aws:sqs:*:images");
  EXPECT_EQ(sink->kind, SinkAddress::Kind::kFile);
  EXPECT_EQ(sink->path, "/var/a=b");
  EXPECT_EQ(sink->Describe(), "file '/var/a=b'");
}

TEST(SinkAddressTest, AUrlHasAHostAPortAndAPath) {
  const auto sink = ParseSink("*=http://hook.test:8080/in/x?token=secret").value();
  EXPECT_EQ(sink.kind, SinkAddress::Kind::kWebhook);
  EXPECT_FALSE(sink.tls);
  EXPECT_EQ(sink.host, "hook.test");
  EXPECT_EQ(sink.port, 8080);
  EXPECT_EQ(sink.path, "/in/x?token=secret");
  EXPECT_EQ(sink.Describe(), "http://hook.test:8080");
  EXPECT_EQ(ParseSink("*=http://hook")->port, 80);
  EXPECT_EQ(ParseSink("*=http://hook")->path, "/");
  EXPECT_EQ(ParseSink("*=http://hook?a")->path, "/?a");
  EXPECT_EQ(ParseSink("*=http://[::1]:9")->host, "::1");
  EXPECT_EQ(ParseSink("*=http://[::1]:9")->Describe(), "http://[::1]:9");
  const auto secure = ParseSink("*=https://hook/in").value();
  EXPECT_TRUE(secure.tls);
  EXPECT_EQ(secure.path, "/in");
  EXPECT_EQ(secure.Describe(), "https://hook:443");
}

TEST(SinkAddressTest, ErrorsNameTheArnAndTheFixAndNoSecret) {
  const struct {
    const char* text;
    const char* part;
  } kWrong[] = {
      {"", "an ARN and '=' must come first"},
      {"=file:/a", "an ARN and '=' must come first"},
      {"http://token@hook", "an ARN and '=' must come first"},
      {"queue=file:/a", "event sink 'queue': expected an ARN"},
      {"arn:a b=file:/a", "expected an ARN"},
      {"arn:q=/a", "event sink 'arn:q': the target must begin with file:, http:// or https://"},
      {"arn:q=file:", "is empty"},
      {"arn:q=ftp://token.test", "the target must begin with file:, http:// or https://"},
      {"arn:q=https://user:token@host", "a user or a password"},
      {"arn:q=http://user:token@host", "a user or a password"},
      {"arn:q=http://host/token#x", "fragment"},
      {"arn:q=http://host/tok en", "%XX"},
      {"arn:q=http:///token", "no valid host"},
      {"arn:q=http://[1.2]/token", "no valid host"},
      {"arn:q=http://[::1/token", "no valid host"},
      {"arn:q=http://host:0", "the port '0' must be 1 to 65535"},
      {"arn:q=http://host:65536", "the port '65536'"},
      {"arn:q=http://host:", "the port ''"},
      {"arn:q=http://host:8x", "the port '8x'"},
      {"arn:q=http://[::1]8", "must be 1 to 65535"},
  };
  for (const auto& wrong : kWrong) {
    const auto sink = ParseSink(wrong.text);
    ASSERT_FALSE(sink.ok()) << wrong.text;
    EXPECT_NE(sink.error().message.find(wrong.part), std::string::npos) << sink.error().message;
    EXPECT_EQ(sink.error().message.find("token"), std::string::npos) << sink.error().message;
  }
}

TEST(SinkAddressTest, AnArnHasOneSink) {
  const auto twice = ParseSinks({"arn:q=file:/a", "arn:r=file:/a", "arn:q=file:/b"});
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("'arn:q': the ARN is given twice"), std::string::npos);
  EXPECT_EQ(ParseSinks({"arn:q=file:/a", "arn:r=file:/a"})->size(), 2u);
  std::vector<std::string> many;
  for (std::size_t i = 0; i <= kMostSinks; ++i)
    many.push_back("arn:" + std::to_string(i) + "=file:/a");
  EXPECT_NE(ParseSinks(many).error().message.find("65 event sinks"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::events
