// --memory-limit also limits retry tests, fault scenarios, namespaces and limits.
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

// Returns a JSON list that contains `item` `count` times.
std::string JsonListOf(std::size_t count, const std::string& item) {
  std::string text = "[" + item;
  for (std::size_t i = 1; i < count; ++i) text += "," + item;
  return text + "]";
}

// Limits of `buckets` buckets with `boundaries` boundaries each.
std::string LimitsOf(std::size_t buckets, std::size_t boundaries) {
  std::string keys;
  for (std::size_t i = 0; i < boundaries; ++i)
    keys += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  std::string text;
  for (std::size_t i = 0; i < buckets; ++i) {
    text += (i == 0 ? "\"b" : ",\"b") + std::to_string(i) + R"(": {"boundaries": [)" + keys + "]}";
  }
  return R"({"preset": "aws-standard", "buckets": {)" + text + "}}";
}

class AdminMemoryTest : public FaultsTest {
 protected:
  AdminMemoryTest() : FaultsTest({.memory_limit_bytes = 32 << 20, .auth = AuthMode::kOff}) {}

  HttpResponse Admin(const std::string& method, const std::string& path,
                     const std::string& body = {}) {
    return Exchange(emulator_->admin_endpoint(),
                    method + " /_penstock/" + path +
                        " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  HttpResponse AddRetryTest() {
    return Admin("POST", "retry-tests",
                 R"({"GetObject": )" + JsonListOf(900, R"("slow_down")") + "}");
  }
  HttpResponse CreateNamespace(int number) {
    return Admin("POST", "namespaces", R"({"name": "n)" + std::to_string(number) + R"("})");
  }
  static void ExpectRefused(const HttpResponse& response) {
    EXPECT_EQ(response.status, 507);
    EXPECT_NE(response.text.find("memory limit of 32.0 MiB would be exceeded"), std::string::npos)
        << response.text;
    EXPECT_NE(
        response.text.find("Delete objects, namespaces, retry tests, fault scenarios or limits"),
        std::string::npos)
        << response.text;
  }
};

TEST_F(AdminMemoryTest, RefusesRetryTestsOverTheLimitUntilOneIsDeleted) {
  std::size_t added = 0;
  HttpResponse response = AddRetryTest();
  for (; response.status == 201 && added < 20; response = AddRetryTest()) ++added;
  ASSERT_LT(added, 10U) << "each takes 4 MiB";
  ASSERT_GT(added, 1U);
  ExpectRefused(response);
  const std::string id = emulator_->RetryTests("default").value().front();
  EXPECT_EQ(Admin("DELETE", "retry-tests/" + id).status, 200);
  EXPECT_EQ(AddRetryTest().status, 201);
  EXPECT_EQ(AddRetryTest().status, 507);
  EXPECT_EQ(Admin("POST", "reset").status, 200);
  for (std::size_t i = 0; i < added; ++i) EXPECT_EQ(AddRetryTest().status, 201) << i;
}

TEST_F(AdminMemoryTest, RefusedScenarioKeepsTheCurrentOne) {
  EXPECT_EQ(
      Admin("PUT", "faults", R"({"name": "small", "rules": [{"do": {"slow_down": {}}}]})").status,
      200);
  const std::string large =
      JsonListOf(1000, R"({"when": {"key": {"regex": "a"}}, "do": {"slow_down": {}}})");
  ExpectRefused(Admin("PUT", "faults", large));
  EXPECT_NE(emulator_->FaultAccount("default").value().find("small"), std::string::npos);
}

TEST_F(AdminMemoryTest, RefusesNamespacesOverTheLimitUntilOneIsDeleted) {
  int created = 0;
  HttpResponse response = CreateNamespace(created);
  for (; response.status == 201 && created < 400; response = CreateNamespace(created)) ++created;
  ASSERT_LT(created, 400) << "each takes 144 KiB";
  ASSERT_GT(created, 100);
  ExpectRefused(response);
  EXPECT_EQ(emulator_->Namespaces().value().size(), static_cast<std::size_t>(created) + 1);
  EXPECT_EQ(Admin("DELETE", "namespaces/n7").status, 200);
  EXPECT_EQ(CreateNamespace(created).status, 201);
  EXPECT_EQ(CreateNamespace(created + 1).status, 507);
}

TEST_F(AdminMemoryTest, RefusesLimitsOverTheLimitUntilOthersAreLifted) {
  const std::string large = LimitsOf(15, 4000);
  const std::string small = LimitsOf(1, 10);
  ASSERT_EQ(CreateNamespace(1).status, 201);
  EXPECT_EQ(Admin("PUT", "limits", large).status, 200) << "takes 26 MiB";
  EXPECT_EQ(Admin("PUT", "limits/n1", small).status, 200);
  ExpectRefused(Admin("PUT", "limits/n1", large));
  const HttpResponse kept = Admin("GET", "limits/n1");
  EXPECT_NE(kept.text.find("\"b0\""), std::string::npos) << kept.text;
  EXPECT_EQ(kept.text.find("\"b1\""), std::string::npos) << kept.text;
  EXPECT_EQ(Admin("DELETE", "limits").status, 200);
  EXPECT_EQ(Admin("PUT", "limits/n1", large).status, 200);
  EXPECT_EQ(Admin("DELETE", "limits/n1").status, 200) << "also while the memory is full";
  EXPECT_EQ(Admin("PUT", "limits", large).status, 200);
  EXPECT_EQ(Admin("POST", "reset").status, 200) << "restores the initial limits";
  EXPECT_EQ(Admin("PUT", "limits/n1", large).status, 200);
}

TEST_F(AdminMemoryTest, LimitsOfTheStartCountForEveryNamespace) {
  const auto start = [](std::uint64_t memory_limit, std::size_t buckets) {
    return Emulator::Start({.memory_limit_bytes = memory_limit,
                            .auth = AuthMode::kOff,
                            .limits_json = LimitsOf(buckets, 1000)});
  };
  auto started = start(32 << 20, 10);
  ASSERT_TRUE(started.ok()) << started.error().message;
  int created = 0;
  while (created < 20 && started.value()->CreateNamespace("n" + std::to_string(created)).ok())
    ++created;
  EXPECT_GE(created, 5);
  EXPECT_LT(created, 10) << "each takes 3.5 MiB";
  const auto refused = start(16 << 20, 65);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("limits: The emulator's memory limit of 16.0 MiB"),
            std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace penstock::emulator::server
