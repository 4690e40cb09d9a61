#include "emulator/server/admin/admin.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "emulator/console/assets.h"
#include "emulator/server/namespaces/data_directory.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

class AdminTest : public testing::Test {
 protected:
  explicit AdminTest(EmulatorOptions options = {})
      : emulator_(Emulator::Start(std::move(options)).value()) {}

  HttpResponse SendRequest(const std::string& method, const std::string& path,
                           const std::string& body = "", const std::string& more_headers = "") {
    return Exchange(emulator_->admin_endpoint(),
                    method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                        more_headers + "Content-Length: " + std::to_string(body.size()) +
                        "\r\n\r\n" + body);
  }
  static nlohmann::json Json(const HttpResponse& response) {
    return nlohmann::json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
  void MakeBucket(const std::string& name) {
    ASSERT_EQ(Send(emulator_->endpoint(), {.method = "PUT", .target = "/" + name}).status, 200);
  }
  int BucketStatus(const std::string& name) {
    return Send(emulator_->endpoint(), {.method = "HEAD", .target = "/" + name}).status;
  }

  const std::unique_ptr<Emulator> emulator_;
};

TEST_F(AdminTest, IsHealthy) {
  const auto response = SendRequest("GET", "/_penstock/health");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(Json(response).at("status"), "ok");
  EXPECT_EQ(SendRequest("HEAD", "/_penstock/health").status, 200);
}

TEST_F(AdminTest, ShowsStatistics) {
  MakeBucket("bucket");
  const auto stats = Json(SendRequest("GET", "/_penstock/stats"));
  EXPECT_EQ(stats.at("requests").at("CreateBucket"), 1);
  EXPECT_EQ(stats.at("statuses").at("200"), 1);
}

TEST_F(AdminTest, ResetsOnPostOnly) {
  MakeBucket("bucket");
  const auto refused = SendRequest("GET", "/_penstock/reset");
  EXPECT_EQ(refused.status, 405);
  EXPECT_NE(refused.text.find("Allow: POST"), std::string::npos);
  EXPECT_EQ(BucketStatus("bucket"), 200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset").status, 200);
  EXPECT_EQ(BucketStatus("bucket"), 404);
}

TEST_F(AdminTest, ClosingTheConnectionCancelsASeed) {
  const TemporaryFolder folder;
  // More files than are seeded before the closed connection is noticed.
  constexpr int kFiles = 2'000;
  for (int i = 0; i < kFiles; ++i) std::ofstream(folder.path() + "/" + std::to_string(i)) << "text";
  const std::string body =
      nlohmann::json{{"bucket", "seeded"}, {"directory", folder.path()}}.dump();
  const Wire wire(emulator_->admin_endpoint());
  wire.Send("POST /_penstock/seed HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
  wire.EndSending();
  const HttpResponse response = wire.Finish();
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.text.find("seeding bucket 'seeded' was cancelled after"), std::string::npos)
      << response.text;
  EXPECT_EQ(BucketStatus("seeded"), 404);
}

TEST_F(AdminTest, ServesThePathsOfOtherEmulators) {
  MakeBucket("bucket");
  EXPECT_EQ(Plain(emulator_->endpoint(), "POST", "/moto-api/reset").status, 200);
  EXPECT_EQ(BucketStatus("bucket"), 404);
  const auto health = Plain(emulator_->endpoint(), "GET", "/_localstack/health");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(Json(health).at("services").at("s3"), "running");
  EXPECT_EQ(SendRequest("POST", "/moto-api/reset").status, 200);
  MakeBucket("moto-api");  // still a valid bucket name
  EXPECT_EQ(BucketStatus("moto-api"), 200);
}

TEST_F(AdminTest, CreatesAndDeletesNamespacesWithAKey) {
  MakeBucket("bucket");
  const auto made = SendRequest("POST", "/_penstock/namespaces", R"({"name": "suite"})");
  ASSERT_EQ(made.status, 201);
  const SignedRequest there{.method = "HEAD",
                            .target = "/bucket",
                            .body = "",
                            .access_key = Json(made).at("access_key_id"),
                            .secret = Json(made).at("secret_access_key"),
                            .more_headers = ""};
  EXPECT_EQ(Send(emulator_->endpoint(), there).status, 404);
  EXPECT_EQ(Json(SendRequest("GET", "/_penstock/namespaces")).at("namespaces").size(), 2u);
  EXPECT_EQ(SendRequest("POST", "/_penstock/namespaces", R"({"name": "suite"})").status, 409);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", R"({"namespace": "suite"})").status, 200);
  EXPECT_EQ(BucketStatus("bucket"), 200);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/namespaces/suite").status, 200);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/namespaces/suite").status, 404);
  EXPECT_EQ(Send(emulator_->endpoint(), there).status, 403);
}

TEST_F(AdminTest, ClockDeterminesDatesAndSignatures) {
  const auto moved = SendRequest("POST", "/_penstock/clock", R"({"advance_seconds": 3600})");
  ASSERT_EQ(moved.status, 200);
  EXPECT_NEAR(Json(moved).at("offset_seconds").get<double>(), 3600, 1);
  EXPECT_EQ(BucketStatus("bucket"), 403);  // the signature is an hour old
  const auto frozen = SendRequest("POST", "/_penstock/clock/default",
                                  R"({"now": "2030-01-01T00:00:00Z", "frozen": true})");
  EXPECT_EQ(Json(frozen).at("now"), "2030-01-01T00:00:00.000Z");
  EXPECT_NE(Send(emulator_->endpoint(), {}).text.find("Date: Tue, 01 Jan 2030 00:00:00 GMT"),
            std::string::npos);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/clock").status, 200);
  EXPECT_EQ(BucketStatus("bucket"), 404);
  EXPECT_EQ(SendRequest("GET", "/_penstock/clock/nobody").status, 404);
}

TEST_F(AdminTest, SeedsABucketFromADirectory) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/one.txt") << "one";
  const auto seeded = SendRequest(
      "POST", "/_penstock/seed",
      nlohmann::json{{"bucket", "data"}, {"directory", folder.path()}, {"prefix", "p/"}}.dump());
  ASSERT_EQ(seeded.status, 200) << seeded.text;
  EXPECT_EQ(Json(seeded).at("objects"), 1);
  EXPECT_EQ(Json(seeded).at("bytes"), 3);
  EXPECT_NE(Send(emulator_->endpoint(), {.target = "/data/p/one.txt"}).text.find("\r\n\r\none"),
            std::string::npos);
}

TEST_F(AdminTest, AddsChangesAndRemovesUsers) {
  const auto added = SendRequest("POST", "/_penstock/users",
                                 R"({"accounts": [{"account_id": "111122223333", "users": [
    {"name": "ann", "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
     "access_keys": [{"access_key_id": "ANN", "secret_access_key": "hush"}]}]}]})");
  ASSERT_EQ(added.status, 200);
  EXPECT_EQ(added.text.find("hush"), std::string::npos);
  const SignedRequest by_ann{.method = "GET",
                             .target = "/",
                             .body = "",
                             .access_key = "ANN",
                             .secret = "hush",
                             .more_headers = ""};
  EXPECT_EQ(Send(emulator_->endpoint(), by_ann).status, 200);
  EXPECT_EQ(SendRequest("PATCH", "/_penstock/access-keys/ANN", R"({"active": false})").status, 200);
  EXPECT_EQ(Send(emulator_->endpoint(), by_ann).status, 403);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/access-keys/ANN").status, 200);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/access-keys/ANN").status, 404);
  EXPECT_EQ(Json(SendRequest("GET", "/_penstock/users")).at("accounts").size(), 2u);
}

TEST_F(AdminTest, KeysMoveToAnotherNamespaceOnlyExplicitly) {
  const auto users = [](const std::string& name_space, const std::string& made = "") {
    return R"({"namespaces": [)" + made +
           R"(], "accounts": [{"account_id": "111122223333", "access_keys": [
      {"access_key_id": "K", "secret_access_key": "s", "namespace": ")" +
           name_space + "\"}]}]}";
  };
  EXPECT_EQ(SendRequest("POST", "/_penstock/users", users("suite")).status, 404);
  EXPECT_EQ(Json(SendRequest("GET", "/_penstock/namespaces")).at("namespaces").size(), 1u);
  EXPECT_EQ(SendRequest("POST", "/_penstock/users", users("suite", "\"suite\"")).status, 200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/users", users("default")).status, 409);
  EXPECT_EQ(SendRequest("PATCH", "/_penstock/access-keys/K", R"({"namespace": "siute"})").status,
            404);
  EXPECT_EQ(Json(SendRequest("GET", "/_penstock/namespaces")).at("namespaces").size(), 2u);
  EXPECT_EQ(SendRequest("PATCH", "/_penstock/access-keys/K", R"({"namespace": "default"})").status,
            200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/users", users("default")).status, 200);
}

TEST_F(AdminTest, ErrorsDescribeTheProblem) {
  const auto response = SendRequest("POST", "/_penstock/namespaces", R"({"nmae": "x"})");
  EXPECT_EQ(response.status, 400);
  EXPECT_TRUE(std::string(Json(response).at("error")).starts_with("unknown field 'nmae'"))
      << response.text;
  EXPECT_EQ(Json(response).at("code"), "InvalidArgument");
  EXPECT_EQ(Json(SendRequest("DELETE", "/_penstock/access-keys/NOBODY")).at("code"), "NotFound");
  EXPECT_EQ(Json(SendRequest("GET", "/_penstock/reset")).at("code"), "MethodNotAllowed");
  EXPECT_EQ(SendRequest("POST", "/_penstock/clock", "{").status, 400);
  EXPECT_EQ(SendRequest("POST", "/_penstock/users", std::string(9 << 20, ' ')).status, 400);
}

TEST_F(AdminTest, RefusesUnknownAndRepeatedQueryParameters) {
  MakeBucket("bucket");
  for (const auto& [method, path] : std::initializer_list<std::pair<const char*, const char*>>{
           {"POST", "/_penstock/reset?namespace=w2"},
           {"DELETE", "/_penstock/journal?bucket=x"},
           {"PUT", "/_penstock/limits?namespace=default"},
           {"DELETE", "/_penstock/faults?forgett=true"},
           {"DELETE", "/_penstock/faults?forget=true&forget=false"},
           {"GET", "/_penstock/journal?limit=1&limit=2"},
           {"GET", "/_penstock/stats?="}}) {
    const HttpResponse response = SendRequest(method, path);
    EXPECT_EQ(response.status, 400) << path;
    EXPECT_EQ(Json(response).at("code"), "InvalidArgument") << path;
  }
  EXPECT_EQ(Json(SendRequest("POST", "/_penstock/reset?namespace=w2")).at("error"),
            "unknown query parameter 'namespace'; allowed: none");
  EXPECT_EQ(BucketStatus("bucket"), 200);
  EXPECT_EQ(SendRequest("DELETE", "/_penstock/faults?forget=true").status, 200);
  EXPECT_EQ(SendRequest("GET", "/_penstock/retry-tests?namespace=default").status, 200);
  EXPECT_EQ(SendRequest("GET", "/_penstock/journal?limit=1&bucket=bucket").status, 200);
}

TEST_F(AdminTest, RefusesRequestsOfWebPages) {
  MakeBucket("bucket");
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", "", "Origin: http://evil.example\r\n").status,
            403);
  EXPECT_EQ(Exchange(emulator_->endpoint(),
                     "POST /moto-api/reset HTTP/1.1\r\nHost: localhost\r\nOrigin: "
                     "null\r\nConnection: close\r\n"
                     "Content-Length: 0\r\n\r\n")
                .status,
            403);
  EXPECT_EQ(BucketStatus("bucket"), 200);
}

struct PageRequest {
  const char* headers;  // by which browsers mark it
  int status;
  const char* meaning;
};

// The Host header of all requests is "localhost:9001".
constexpr PageRequest kPageRequests[] = {
    {"", 200, "not a browser"},
    {"Sec-Fetch-Site: none\r\n", 200, "the user has entered the address"},
    {"Sec-Fetch-Site: same-origin\r\n", 200, "GET of the console"},
    {"Sec-Fetch-Site: same-origin\r\nOrigin: http://localhost:9001\r\n", 200,
     "POST of the console"},
    {"Origin: http://localhost:9001\r\n", 200, "the console in a browser without Sec-Fetch-Site"},
    {"Origin: http://LOCALHOST:9001\r\n", 200, "host names have no case"},
    {"Sec-Fetch-Site: cross-site\r\n", 403, "an image or a link of another page"},
    {"Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost:9001\r\n", 403, "contradiction"},
    {"Sec-Fetch-Site: same-site\r\n", 403, "a page of another port"},
    {"Sec-Fetch-Site: same-site\r\nOrigin: http://localhost:9000\r\n", 403, "the S3 port"},
    {"Sec-Fetch-Site: same-origin\r\nOrigin: http://localhost:9000\r\n", 403, "contradiction"},
    {"Sec-Fetch-Site: none\r\nOrigin: http://evil.example\r\n", 403, "contradiction"},
    {"Sec-Fetch-Site: sometimes\r\n", 403, "an unknown value"},
    {"Sec-Fetch-Site: \r\n", 403, "an empty value"},
    {"Origin: null\r\n", 403, "a sandboxed page or a file"},
    {"Sec-Fetch-Site: same-origin\r\nOrigin: null\r\n", 403, "contradiction"},
    {"Origin: http://evil.example\r\n", 403, "another origin, in an old browser"},
    {"Origin: http://localhost\r\n", 403, "another port"},
    {"Origin: http://localhost:90010\r\n", 403, "another port"},
    {"Origin: https://localhost:9001\r\n", 403, "another scheme"},
    {"Origin: http://localhost:9001.evil.example\r\n", 403, "a longer name"},
    {"Origin: http://\r\n", 403, "no host"},
    {"Origin: \r\n", 403, "an empty value"},
};

HttpResponse OfPage(const std::string& endpoint, const std::string& headers,
                    const std::string& method = "GET",
                    const std::string& target = "/_penstock/users") {
  return Exchange(endpoint, method + " " + target +
                                " HTTP/1.1\r\nHost: localhost:9001\r\nConnection: close\r\n" +
                                headers + "Content-Length: 0\r\n\r\n");
}

TEST_F(AdminTest, ServesPagesOfItsOwnOriginOnly) {
  for (const PageRequest& page : kPageRequests) {
    EXPECT_EQ(OfPage(emulator_->admin_endpoint(), page.headers).status, page.status)
        << page.meaning << ": " << page.headers;
  }
}

// With a token, the token decides.
TEST(AdminPageTest, TokenAllowsEveryOrigin) {
  const auto emulator = Emulator::Start({.admin_token = "letmein"}).value();
  for (const PageRequest& page : kPageRequests) {
    EXPECT_EQ(OfPage(emulator->admin_endpoint(), page.headers).status, 401) << page.headers;
    const std::string with_token = std::string(page.headers) + "Authorization: Bearer letmein\r\n";
    EXPECT_EQ(OfPage(emulator->admin_endpoint(), with_token).status, 200) << page.headers;
  }
}

TEST(AdminPageTest, NoPageIsServedWithoutTheConsole) {
  const auto emulator = Emulator::Start({.console = false}).value();
  for (const PageRequest& page : kPageRequests) {
    const bool is_page = std::string(page.headers).find("Origin") != std::string::npos ||
                         std::string(page.headers).find("same-origin") != std::string::npos;
    EXPECT_EQ(OfPage(emulator->admin_endpoint(), page.headers).status, is_page ? 403 : page.status)
        << page.headers;
  }
}

// Stored objects may be pages, and have the origin of the S3 port.
TEST_F(AdminTest, PagesOfTheS3PortCannotResetIt) {
  MakeBucket("bucket");
  EXPECT_EQ(
      OfPage(emulator_->endpoint(), "Sec-Fetch-Site: same-origin\r\n", "POST", "/moto-api/reset")
          .status,
      403);
  EXPECT_EQ(
      OfPage(emulator_->endpoint(), "Origin: http://localhost:9001\r\n", "POST", "/moto-api/reset")
          .status,
      403);
  EXPECT_EQ(BucketStatus("bucket"), 200);
}

TEST_F(AdminTest, ServesTheConsole) {
  const HttpResponse page = SendRequest("GET", "/console/");
  EXPECT_EQ(page.status, console::EmbeddedAssets().empty() ? 503 : 200) << page.text;
  for (const char* header :
       {"Content-Security-Policy: default-src 'none'; script-src 'self'; ",
        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "X-Frame-Options: DENY",
        "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin",
        "Content-Type: text/html"}) {
    EXPECT_NE(page.text.find(header), std::string::npos) << header << " in " << page.text;
  }
  const HttpResponse moved = SendRequest("GET", "/console");
  EXPECT_EQ(moved.status, 308);
  EXPECT_NE(moved.text.find("Location: /console/\r\n"), std::string::npos) << moved.text;
  const HttpResponse missing = SendRequest("GET", "/console/assets/../../etc/passwd");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Json(missing).at("code"), "NotFound");
  const HttpResponse post = SendRequest("POST", "/console/");
  EXPECT_EQ(post.status, 405);
  EXPECT_NE(post.text.find("Allow: GET, HEAD\r\n"), std::string::npos) << post.text;
  // A link of another site leads to the page, which is public.
  EXPECT_NE(SendRequest("GET", "/console", "", "Sec-Fetch-Site: cross-site\r\n").status, 403);
}

TEST(AdminPageTest, ConsoleNeedsNoTokenButAKnownHost) {
  const auto emulator = Emulator::Start({.admin_token = "letmein"}).value();
  EXPECT_EQ(Plain(emulator->admin_endpoint(), "GET", "/console").status, 308);
  EXPECT_EQ(Exchange(emulator->admin_endpoint(),
                     "GET /console HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                .status,
            421);
}

TEST(AdminPageTest, ConsoleCanBeSwitchedOff) {
  const auto emulator = Emulator::Start({.console = false}).value();
  for (const char* path : {"/console", "/console/", "/console/assets/index.js"}) {
    const HttpResponse response = Plain(emulator->admin_endpoint(), "GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_NE(response.text.find("the console is off; start with --console on"), std::string::npos);
  }
}

HttpResponse SendRequestAs(const std::string& endpoint, const std::string& host,
                           const std::string& method, const std::string& path) {
  return Exchange(endpoint, method + " " + path + " HTTP/1.1\r\nHost: " + host +
                                "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
}

// If a page's DNS name resolves to 127.0.0.1, the browser treats the listener as the same origin
// and sends no Origin header.
TEST_F(AdminTest, RefusesUnknownHostNames) {
  MakeBucket("bucket");
  for (const std::string host :
       {"evil.example", "evil.example:9001", "127.0.0.1.evil.example", "10.0.0.1"}) {
    for (const std::string path : {"/_penstock/users", "/_penstock/journal", "/_penstock/stats"}) {
      const HttpResponse response = SendRequestAs(emulator_->admin_endpoint(), host, "GET", path);
      EXPECT_EQ(response.status, 421) << host;
      EXPECT_EQ(Json(response).at("code"), "MisdirectedRequest");
      EXPECT_NE(std::string(Json(response).at("error")).find("--admin-allow-host"),
                std::string::npos);
    }
    EXPECT_EQ(SendRequestAs(emulator_->admin_endpoint(), host, "POST", "/_penstock/reset").status,
              421);
    EXPECT_EQ(SendRequestAs(emulator_->endpoint(), host, "POST", "/moto-api/reset").status, 421);
    EXPECT_EQ(SendRequestAs(emulator_->admin_endpoint(), host, "GET", "/_penstock/health").status,
              200)
        << "the value has no effect";
  }
  EXPECT_EQ(BucketStatus("bucket"), 200);
  for (const std::string host : {"localhost:1", "127.0.0.1", "[::1]:9001"}) {
    EXPECT_EQ(SendRequestAs(emulator_->admin_endpoint(), host, "GET", "/_penstock/users").status,
              200)
        << host;
  }
}

TEST(AdminHostTest, AcceptsAGivenName) {
  const auto emulator = Emulator::Start({.admin_allowed_hosts = {"emulator"}}).value();
  EXPECT_EQ(
      SendRequestAs(emulator->admin_endpoint(), "emulator:9001", "GET", "/_penstock/users").status,
      200);
  EXPECT_EQ(
      SendRequestAs(emulator->admin_endpoint(), "emulators", "GET", "/_penstock/users").status,
      421);
}

// Regression: a document with 300,000 members took minutes, even after the client had closed and
// SIGTERM.
TEST_F(AdminTest, RefusesAHugeDocumentAtOnce) {
  std::string body = "{";
  for (int i = 0; i < 300'000; ++i) body += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  body += "}";
  const auto begin = std::chrono::steady_clock::now();
  const auto response = SendRequest("POST", "/_penstock/users", body);
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.text.find("more than 256 members"), std::string::npos) << response.text;
  {  // a client that does not wait for the response
    const Wire wire(emulator_->admin_endpoint());
    wire.Send("POST /_penstock/users HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  emulator_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
}

// Every client of the port may send it, and it empties every bucket.
TEST(MotoResetTest, IsOnOnlyInMemoryOnLoopback) {
  const TemporaryFolder folder;
  const struct {
    EmulatorOptions options;
    bool on;
  } cases[] = {{{}, true},
               {{.host = "localhost"}, true},
               {{.data_directory = folder.path()}, false},
               {{.host = "0.0.0.0"}, false},
               {{.moto_reset = false}, false},
               {{.moto_reset = true, .data_directory = folder.path()}, true},
               {{.host = "0.0.0.0", .moto_reset = true}, true}};
  int number = 0;
  for (const auto& each : cases) {
    const auto emulator = Emulator::Start(each.options).value();
    for (const std::string path : {"/moto-api/reset", "//moto-api/reset"}) {
      const std::string bucket = "/bucket-" + std::to_string(number++);
      ASSERT_EQ(Send(emulator->endpoint(), {.method = "PUT", .target = bucket}).status, 200);
      const HttpResponse response = Plain(emulator->endpoint(), "POST", path);
      EXPECT_EQ(response.status, each.on ? 200 : 403) << number;
      EXPECT_EQ(response.text.find("--moto-reset on") != std::string::npos, !each.on)
          << response.text;
      EXPECT_EQ(Send(emulator->endpoint(), {.method = "HEAD", .target = bucket}).status,
                each.on ? 404 : 200)
          << number;
    }
    EXPECT_EQ(Plain(emulator->endpoint(), "GET", "/_localstack/health").status, 200);
  }
}

TEST_F(AdminTest, UnknownPathErrorListsThePaths) {
  const auto response = SendRequest("GET", "/bucket/key");
  EXPECT_EQ(response.status, 404);
  EXPECT_NE(std::string(Json(response).at("error")).find("health"), std::string::npos);
}

class AdminTokenTest : public AdminTest {
 protected:
  AdminTokenTest() : AdminTest({.admin_token = "letmein"}) {}
};

TEST_F(AdminTokenTest, IsRequiredExceptForHealth) {
  EXPECT_EQ(SendRequest("GET", "/_penstock/health").status, 200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset").status, 401);
  EXPECT_EQ(Plain(emulator_->endpoint(), "POST", "/moto-api/reset").status, 401);
  EXPECT_EQ(
      SendRequest("POST", "/_penstock/reset", "", "Authorization: Bearer letmeout\r\n").status,
      401);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", "", "Authorization: Bearer letmein\r\n").status,
            200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", "", "Authorization: bearer letmein\r\n").status,
            200)
      << "RFC 9110 section 11.1";
  EXPECT_EQ(
      SendRequest("POST", "/_penstock/reset", "", "Authorization: BEARER   letmein\r\n").status,
      200);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", "", "Authorization: bearer\r\n").status, 401);
  EXPECT_EQ(SendRequest("POST", "/_penstock/reset", "", "Authorization: Basic letmein\r\n").status,
            401);
}

HttpResponse PostJson(const Emulator& emulator, const std::string& path, const std::string& body) {
  return Exchange(emulator.admin_endpoint(),
                  "POST " + path +
                      " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST(AdminFailureTest, ErrorNamesNoFileOfThisMachine) {
  const TemporaryFolder folder;
  const auto emulator = Emulator::Start({.data_directory = folder.path()}).value();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);  // simulates a full disk
  const HttpResponse response =
      PostJson(*emulator, "/_penstock/namespaces", R"({"name": "suite"})");
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_GE(response.status, 500) << response.text;
  EXPECT_NE(response.text.find("diagnostic log"), std::string::npos) << response.text;
  EXPECT_EQ(response.text.find(folder.path()), std::string::npos) << response.text;
}

TEST(AdminFailureTest, ErrorsOfUnusableDirectoriesDoNotShowTheirPath) {
  const TemporaryFolder folder;
  const auto emulator = Emulator::Start({.data_directory = folder.path()}).value();
  const auto other_process = DataDirectory::Open(folder.path() + "/namespaces/locked").value();
  const HttpResponse locked = PostJson(*emulator, "/_penstock/namespaces", R"({"name": "locked"})");
  EXPECT_EQ(locked.status, 503) << locked.text;
  EXPECT_NE(locked.text.find("'locked' is in use"), std::string::npos) << locked.text;
  EXPECT_EQ(locked.text.find(folder.path()), std::string::npos) << locked.text;
  std::ofstream(folder.path() + "/namespaces/file") << "x";
  const HttpResponse foreign = PostJson(*emulator, "/_penstock/namespaces", R"({"name": "file"})");
  EXPECT_EQ(foreign.status, 400) << "the message says which file to move";
  EXPECT_NE(foreign.text.find("'namespaces/file' in the data directory"), std::string::npos);
  EXPECT_EQ(foreign.text.find(folder.path()), std::string::npos) << foreign.text;
  EXPECT_EQ(PostJson(*emulator, "/_penstock/namespaces", R"({"name": "a/b"})").status, 400)
      << "this is an error of the request";
}

}  // namespace
}  // namespace penstock::emulator::server
