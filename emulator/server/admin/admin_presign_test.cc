#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

nlohmann::json JsonOf(const HttpResponse& response) {
  return nlohmann::json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
}

HttpResponse Presign(const Emulator& emulator, const std::string& body,
                     const std::string& name_space = "", const std::string& host = "localhost:1") {
  return Exchange(emulator.admin_endpoint(),
                  "POST /_penstock/presign" + name_space + " HTTP/1.1\r\nHost: " + host +
                      "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                      "\r\n\r\n" + body);
}

// Sends a request without a signature of its own to a presigned URL.
HttpResponse Use(const std::string& url, const std::string& method, const std::string& body = "") {
  const std::size_t host = url.find("://") + 3;
  const std::size_t path = url.find('/', host);
  return Exchange(url.substr(0, path), method + " " + url.substr(path) +
                                           " HTTP/1.1\r\nHost: " + url.substr(host, path - host) +
                                           "\r\nConnection: close\r\nContent-Length: " +
                                           std::to_string(body.size()) + "\r\n\r\n" + body);
}

class AdminPresignTest : public testing::Test {
 protected:
  std::string Url(const std::string& body) {
    const HttpResponse response = Presign(*emulator_, body);
    EXPECT_EQ(response.status, 200) << response.text;
    return response.status == 200 ? JsonOf(response).at("url").get<std::string>() : std::string();
  }
  const std::unique_ptr<Emulator> emulator_ = Emulator::Start({}).value();
};

TEST_F(AdminPresignTest, UrlsWorkOnTheS3Port) {
  Send(emulator_->endpoint(), {.method = "PUT", .target = "/bucket"});
  for (const char* key : {"plain", "a b+c/d%2F?&=#", "/first", "ümlaut", "a//b/"}) {
    const auto request = [key](const char* method) {
      return nlohmann::json{{"bucket", "bucket"}, {"key", key}, {"method", method}}.dump();
    };
    EXPECT_EQ(Use(Url(request("PUT")), "PUT", "text").status, 200) << key;
    EXPECT_TRUE(Use(Url(request("GET")), "GET").text.ends_with("\r\n\r\ntext")) << key;
    EXPECT_EQ(Use(Url(request("HEAD")), "HEAD").status, 200) << key;
    EXPECT_EQ(Use(Url(request("GET")), "PUT", "other").status, 403) << "another method";
    EXPECT_EQ(Use(Url(request("DELETE")), "DELETE").status, 204) << key;
    EXPECT_EQ(Use(Url(request("GET")), "GET").status, 404) << key;
  }
}

TEST_F(AdminPresignTest, UrlsHaveTheHostOfTheRequestAndThePortOfS3) {
  const std::string body = R"({"bucket": "bucket", "key": "k", "method": "GET"})";
  const std::string port = ":" + std::to_string(emulator_->options().port) + "/bucket/k?";
  for (const auto& [host, expected] :
       {std::pair("localhost:9001", "http://localhost"), std::pair("127.0.0.1", "http://127.0.0.1"),
        std::pair("[::1]:9001", "http://[::1]")}) {
    const std::string url = JsonOf(Presign(*emulator_, body, "", host)).at("url");
    EXPECT_TRUE(url.starts_with(expected + port)) << url;
  }
}

TEST_F(AdminPresignTest, UrlsFollowTheNamespaceAndItsClock) {
  const AccessKey key = emulator_->CreateNamespace("suite").value();
  ASSERT_TRUE(emulator_->ChangeClock("suite", {.advance = std::chrono::hours(1000)}).ok());
  const std::string body = R"({"bucket": "bucket", "key": "k", "method": "GET", "expires_s": 60})";
  const auto made = JsonOf(Presign(*emulator_, body, "/suite"));
  const std::string url = made.at("url");
  EXPECT_NE(url.find("X-Amz-Credential=" + key.id + "%2F"), std::string::npos) << url;
  EXPECT_NE(url.find("X-Amz-Expires=60&"), std::string::npos) << url;
  EXPECT_EQ(Use(url, "GET").status, 404) << "the signature is valid: the bucket is missing";
  ASSERT_TRUE(emulator_->ChangeClock("suite", {.advance = std::chrono::seconds(61)}).ok());
  EXPECT_EQ(Use(url, "GET").status, 403) << "expired";
  EXPECT_EQ(Presign(*emulator_, body, "/nobody").status, 404);
}

TEST_F(AdminPresignTest, SignsForTheVersionAndTheRegionOfTheBucket) {
  ASSERT_EQ(
      Send(emulator_->endpoint(),
           {.method = "PUT",
            .target = "/bucket",
            .body = "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint>"
                    "</CreateBucketConfiguration>"})
          .status,
      200);
  const std::string put = Url(R"({"bucket": "bucket", "key": "k", "method": "PUT"})");
  EXPECT_NE(put.find("%2Feu-west-1%2Fs3%2F"), std::string::npos) << put;
  EXPECT_EQ(Use(put, "PUT", "text").status, 200);
  const std::string get =
      Url(R"({"bucket": "bucket", "key": "k", "method": "GET", "version_id": "null"})");
  EXPECT_TRUE(Use(get, "GET").text.ends_with("\r\n\r\ntext"));
}

TEST_F(AdminPresignTest, PrefersTheRootOfTheBucketsOwner) {
  ASSERT_TRUE(emulator_
                  ->AddUsers(R"({"accounts": [{"account_id": "111122223333",
    "access_keys": [{"access_key_id": "ZROOT", "secret_access_key": "s"}],
    "users": [{"name": "ann", "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s"}]}]}]})")
                  .ok());
  Send(emulator_->endpoint(),
       {.method = "PUT", .target = "/theirs", .access_key = "ZROOT", .secret = "s"});
  const std::string url = Url(R"({"bucket": "theirs", "key": "k", "method": "PUT"})");
  EXPECT_NE(url.find("X-Amz-Credential=ZROOT%2F"), std::string::npos) << url;
  EXPECT_EQ(Use(url, "PUT", "text").status, 200);
}

TEST_F(AdminPresignTest, NeedsAnActiveKey) {
  ASSERT_TRUE(emulator_->ChangeAccessKey("penstock", {.active = false}).ok());
  const HttpResponse response =
      Presign(*emulator_, R"({"bucket": "bucket", "key": "k", "method": "GET"})");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.text.find("namespace 'default' has no active access key"), std::string::npos);
  EXPECT_NE(response.text.find("POST /_penstock/users"), std::string::npos);
}

TEST_F(AdminPresignTest, RefusesWrongFields) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "bucket"},
      {R"({"bucket": "bucket", "method": "GET"})", "key"},
      {R"({"bucket": "bucket", "key": "k"})", "method"},
      {R"({"bucket": "bucket", "key": "k", "method": "POST"})", "not 'POST'"},
      {R"({"bucket": "bucket", "key": "k", "method": "get"})", "not 'get'"},
      {R"({"bucket": "b/c", "key": "k", "method": "GET"})", "bucket"},
      {R"({"bucket": "b--use1-az4--x-s3", "key": "k", "method": "GET"})", "directory bucket"},
      {R"({"bucket": "bucket", "key": "../k", "method": "GET"})", "key"},
      {R"({"bucket": "bucket", "key": "k", "method": "GET", "expires_s": 0})", "expires_s"},
      {R"({"bucket": "bucket", "key": "k", "method": "GET", "expires_s": 604801})", "expires_s"},
      {R"({"bucket": "bucket", "key": "k", "method": "GET", "expires_s": 1.5})", "expires_s"},
      {R"({"bucket": "bucket", "key": "k", "method": "PUT", "version_id": "v"})", "version_id"},
      {R"({"bucket": "bucket", "key": "k", "method": "GET", "expire": 1})", "unknown field"},
  };
  for (const auto& [body, expected] : cases) {
    const HttpResponse response = Presign(*emulator_, body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_NE(response.text.find(expected), std::string::npos) << body << response.text;
  }
  const std::string longest = std::string(1024, 'k');
  EXPECT_EQ(
      Presign(*emulator_, R"({"bucket": "bucket", "method": "GET", "key": ")" + longest + "\"}")
          .status,
      200);
  EXPECT_EQ(
      Presign(*emulator_, R"({"bucket": "bucket", "method": "GET", "key": "k)" + longest + "\"}")
          .status,
      400);
}

}  // namespace
}  // namespace penstock::emulator::server
