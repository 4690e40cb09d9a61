// --memory-limit also limits retry tests, fault scenarios and namespaces.
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

// Returns a JSON list that contains `item` `count` times.
std::string JsonListOf(std::size_t count, const std::string& item) {
  std::string text = "[" + item;
  for (std::size_t i = 1; i < count; ++i) text += "," + item;
  return text + "]";
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
    EXPECT_NE(response.text.find("Delete objects, namespaces, retry tests or fault scenarios"),
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

}  // namespace
}  // namespace penstock::emulator::server
