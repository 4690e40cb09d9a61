// Malicious requests with valid signatures. They get a clear error, and the emulator's state does
// not change.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/encoding.h"
#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

class HostileRequests : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = Emulator::Start({.data_directory = folder_.path()});
    ASSERT_TRUE(started.ok()) << started.error().ToString();
    emulator_ = std::move(started).value();
    ASSERT_EQ(SendRequest("PUT", "/bucket").status, 200);
    ASSERT_EQ(SendRequest("PUT", "/bucket/key", "kept").status, 200);
  }
  HttpResponse SendRequest(const std::string& method, const std::string& target,
                           const std::string& body = {}) const {
    const std::string md5 = Base64Encode(Md5(AsBytes(body)));
    return Send(emulator_->endpoint(), {.method = method,
                                        .target = target,
                                        .body = body,
                                        .more_headers = "Content-MD5: " + md5 + "\r\n"});
  }
  bool ServesOthers() const {
    return SendRequest("GET", "/bucket/key").text.ends_with("\r\n\r\nkept");
  }

  TemporaryFolder folder_;
  std::unique_ptr<Emulator> emulator_;
};

TEST_F(HostileRequests, RefusesAnXmlBomb) {
  std::string bomb = "<?xml version=\"1.0\"?><!DOCTYPE d [<!ENTITY e0 \"boom\">";
  for (int i = 1; i < 30; ++i) {
    const std::string inner = "&e" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY e" + std::to_string(i) + " \"" + inner + inner + "\">";
  }
  bomb += "]><Delete><Object><Key>&e29;</Key></Object></Delete>";
  const std::string outside =
      "<!DOCTYPE d [<!ENTITY f SYSTEM "
      "\"file:///etc/passwd\">]><Delete><Object><Key>&f;</Key></Object></Delete>";
  for (const std::string& document : {bomb, outside}) {
    for (const std::string target :
         {"/bucket?delete=", "/bucket/key?uploadId=x", "/bucket?tagging="}) {
      const HttpResponse response =
          SendRequest(target.ends_with("tagging=") ? "PUT" : "POST", target, document);
      EXPECT_GE(response.status, 400) << target;
      EXPECT_LT(response.status, 502) << target;
      EXPECT_EQ(response.text.find("root:"), std::string::npos) << target;
    }
    EXPECT_NE(
        SendRequest("POST", "/bucket?delete=", document).text.find("<Code>MalformedXML</Code>"),
        std::string::npos);
  }
  EXPECT_TRUE(ServesOthers());
}

TEST_F(HostileRequests, RefusesDeepAndLongDocuments) {
  constexpr int kDepth = 150'000;
  std::string deep;
  for (int i = 0; i < kDepth; ++i) deep += "<a>";
  for (int i = 0; i < kDepth; ++i) deep += "</a>";
  EXPECT_NE(SendRequest("POST", "/bucket?delete=", deep).text.find("<Code>MalformedXML</Code>"),
            std::string::npos);
  const std::string longer = "<Delete>" + std::string(9 << 20, ' ') + "</Delete>";
  const HttpResponse response = SendRequest("POST", "/bucket?delete=", longer);
  EXPECT_EQ(response.status, 400) << response.text.substr(0, 400);
  EXPECT_TRUE(ServesOthers());
}

TEST_F(HostileRequests, KeysCannotEscapeTheDataDirectory) {
  for (const std::string target : {"/bucket/../outside", "/bucket/a/../../../outside",
                                   "/bucket/../../../../../../tmp/outside"}) {
    EXPECT_EQ(SendRequest("PUT", target, "x").status, 400) << target;
    EXPECT_EQ(SendRequest("GET", target).status, 400) << target;
  }
  // These are ordinary keys, stored unchanged.
  for (const std::string target :
       {"/bucket//etc/passwd", "/bucket/a%00b", "/bucket/~root", "/bucket/a%5C..%5Cb"}) {
    const int status = SendRequest("PUT", target, "harmless").status;
    EXPECT_TRUE(status == 200 || status == 400) << target << " " << status;
    EXPECT_EQ(SendRequest("GET", target).text.ends_with("harmless"), status == 200) << target;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/outside"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/../outside"));
  EXPECT_TRUE(ServesOthers());
}

}  // namespace
}  // namespace penstock::emulator::server
