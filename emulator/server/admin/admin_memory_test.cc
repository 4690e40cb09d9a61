// Retry tests, fault scenarios and namespaces under a memory limit.
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

std::string Repeated(std::size_t count, const std::string& item) {
  std::string text = "[" + item;
  for (std::size_t i = 1; i < count; ++i) text += "," + item;
  return text + "]";
}

class AdminMemoryTest : public FaultsTest {
 protected:
  AdminMemoryTest() : FaultsTest({.memory_limit_bytes = 32 << 20, .auth = AuthMode::kOff}) {}

  HttpAnswer Admin(const std::string& method, const std::string& path,
                   const std::string& body = {}) {
    return Exchange(emulator_->admin_endpoint(),
                    method + " /_penstock/" + path +
                        " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  HttpAnswer AddRetryTest() {
    return Admin("POST", "retry-tests",
                 R"({"GetObject": )" + Repeated(900, R"("slow_down")") + "}");
  }
  HttpAnswer CreateNamespace(int number) {
    return Admin("POST", "namespaces", R"({"name": "n)" + std::to_string(number) + R"("})");
  }
  static void ExpectRefused(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 507);
    EXPECT_NE(answer.text.find("memory limit of 32.0 MiB would be exceeded"), std::string::npos)
        << answer.text;
    EXPECT_NE(answer.text.find("Delete objects, namespaces, retry tests or fault scenarios"),
              std::string::npos)
        << answer.text;
  }
};

TEST_F(AdminMemoryTest, RetryTestsAreRefusedBeyondTheLimitUntilOneIsDeleted) {
  std::size_t added = 0;
  HttpAnswer answer = AddRetryTest();
  for (; answer.status == 201 && added < 20; answer = AddRetryTest()) ++added;
  ASSERT_LT(added, 10U) << "each takes 4 MiB";
  ASSERT_GT(added, 1U);
  ExpectRefused(answer);
  const std::string id = emulator_->RetryTests("default").value().front();
  EXPECT_EQ(Admin("DELETE", "retry-tests/" + id).status, 200);
  EXPECT_EQ(AddRetryTest().status, 201);
  EXPECT_EQ(AddRetryTest().status, 507);
  EXPECT_EQ(Admin("POST", "reset").status, 200);
  for (std::size_t i = 0; i < added; ++i) EXPECT_EQ(AddRetryTest().status, 201) << i;
}

TEST_F(AdminMemoryTest, ARefusedScenarioLeavesTheEarlierOne) {
  EXPECT_EQ(
      Admin("PUT", "faults", R"({"name": "small", "rules": [{"do": {"slow_down": {}}}]})").status,
      200);
  const std::string large =
      Repeated(1000, R"({"when": {"key": {"regex": "a"}}, "do": {"slow_down": {}}})");
  ExpectRefused(Admin("PUT", "faults", large));
  EXPECT_NE(emulator_->FaultAccount("default").value().find("small"), std::string::npos);
}

TEST_F(AdminMemoryTest, NamespacesAreRefusedBeyondTheLimitUntilOneIsDeleted) {
  int created = 0;
  HttpAnswer answer = CreateNamespace(created);
  for (; answer.status == 201 && created < 400; answer = CreateNamespace(created)) ++created;
  ASSERT_LT(created, 400) << "each takes 126 KiB";
  ASSERT_GT(created, 100);
  ExpectRefused(answer);
  EXPECT_EQ(emulator_->Namespaces().value().size(), static_cast<std::size_t>(created) + 1);
  EXPECT_EQ(Admin("DELETE", "namespaces/n7").status, 200);
  EXPECT_EQ(CreateNamespace(created).status, 201);
  EXPECT_EQ(CreateNamespace(created + 1).status, 507);
}

}  // namespace
}  // namespace penstock::emulator::server
