// Sources of faults: the admin API, request headers, options.
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

class AdminFaultsTest : public FaultsTest {
 protected:
  HttpResponse Admin(const std::string& method, const std::string& path,
                     const std::string& body = {}) {
    return Exchange(emulator_->admin_endpoint(),
                    method + " /_penstock/" + path +
                        " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  static nlohmann::json Json(const HttpResponse& response) {
    return nlohmann::json::parse(response.text.substr(response.text.find("\r\n\r\n") + 4));
  }
};

TEST_F(AdminFaultsTest, SetsReadsAndClearsAScenario) {
  EXPECT_EQ(Admin("GET", "faults").status, 404);
  const auto set = Admin(
      "PUT", "faults",
      R"({"name": "n", "rules": [{"id": "a", "do": {"slow_down": {}}, "limit": {"times": 1}}]})");
  EXPECT_EQ(set.status, 200);
  EXPECT_EQ(Json(set).at("complete"), false);
  EXPECT_EQ(Get().status(), 503);
  EXPECT_EQ(Get().status(), 200);
  const auto account = Json(Admin("GET", "faults/default"));
  EXPECT_EQ(account.at("complete"), true);
  EXPECT_EQ(account.at("rules")[0].at("fired"), 1);
  EXPECT_EQ(account.at("rules")[0].at("request_ids").size(), 1U);
  EXPECT_EQ(Admin("DELETE", "faults").status, 200);
  EXPECT_EQ(Admin("GET", "faults").status, 404);
}

TEST_F(AdminFaultsTest, ListsReplacedScenariosUntilTheyAreForgotten) {
  const std::string rules =
      R"([{"id": "never", "when": {"operation": "CopyObject"}, "do": {"slow_down": {}}}])";
  Admin("PUT", "faults", rules);
  const auto second = Json(Admin("PUT", "faults", rules));
  ASSERT_EQ(second.at("replaced").size(), 1U);
  EXPECT_EQ(second.at("replaced")[0].at("rules")[0].at("id"), "never");
  EXPECT_EQ(Admin("DELETE", "faults").status, 200);
  EXPECT_EQ(emulator_->CheckFaults("default").error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Admin("DELETE", "faults?forget=perhaps").status, 400);
  EXPECT_EQ(Admin("DELETE", "faults?forget=true").status, 200);
  EXPECT_TRUE(emulator_->CheckFaults("default").ok());
}

TEST_F(AdminFaultsTest, ErrorNamesThePlaceAndKeepsTheScenario) {
  Admin("PUT", "faults", R"([{"do": {"slow_down": {}}}])");
  const auto wrong = Admin("PUT", "faults", R"([{"do": {"explode": {}}}])");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.text.find("rules[0].do: unknown action 'explode'"), std::string::npos)
      << wrong.text;
  EXPECT_EQ(Get().status(), 503);
  EXPECT_EQ(Admin("PUT", "faults/nobody", "[]").status, 404);
}

TEST_F(AdminFaultsTest, RetryTestAppliesToRequestsThatNameIt) {
  const auto created = Admin("POST", "retry-tests",
                             R"({"GetObject": ["slow_down", {"reset": {}, "at": "body_out@4"}]})");
  ASSERT_EQ(created.status, 201);
  const std::string id = Json(created).at("id");
  const std::string header = "x-penstock-retry-test: " + id + "\r\n";
  EXPECT_EQ(Json(Admin("GET", "retry-tests")).at("retry_tests"), nlohmann::json({id}));
  EXPECT_EQ(Get().status(), 200) << "the request names no retry test";
  EXPECT_EQ(Get(header).status(), 503);
  EXPECT_EQ(Json(Admin("GET", "retry-tests/" + id)).at("complete"), false);
  EXPECT_TRUE(Get(header).reset);
  EXPECT_EQ(Get(header).status(), 200);
  EXPECT_EQ(Json(Admin("GET", "retry-tests/" + id)).at("complete"), true);
  EXPECT_EQ(Admin("DELETE", "retry-tests/" + id).status, 200);
  EXPECT_EQ(Admin("DELETE", "retry-tests/" + id).status, 404);
  const ReceivedResponse unknown = Get(header);
  EXPECT_EQ(unknown.status(), 400);
  EXPECT_NE(unknown.text.find("retry test '" + id + "' does not exist"), std::string::npos)
      << unknown.text;
  EXPECT_EQ(Admin("POST", "retry-tests", R"({"GetObjekt": ["slow_down"]})").status, 400);
}

TEST_F(AdminFaultsTest, OnlyTheDefaultNamespaceHasAcceptRules) {
  ASSERT_TRUE(emulator_->CreateNamespace("ann").ok());
  for (const char* rules :
       {R"([{"do": {"reset": {}, "at": "accept"}}])", R"([{"do": {"goaway": {"requests": 1}}}])",
        R"([{"do": {"connection_limit": {"most": 1}}}])"}) {
    const auto refused = Admin("PUT", "faults/ann", rules);
    EXPECT_EQ(refused.status, 400) << rules;
    EXPECT_NE(refused.text.find("set the rule there with PUT /_penstock/faults"), std::string::npos)
        << refused.text;
    const auto taken = emulator_->SetFaults("default", rules);
    EXPECT_TRUE(taken.ok()) << rules;
    ASSERT_TRUE(emulator_->ClearFaults("default").ok());
  }
  const ReceivedResponse brought = Get("x-penstock-fault: {\"reset\": {}, \"at\": \"accept\"}\r\n");
  EXPECT_EQ(brought.status(), 400);
}

TEST_F(AdminFaultsTest, RulesOfTlsHandshakesAreRefusedWithoutTls) {
  for (const char* action : {"tls_abort", "tls_certificate"}) {
    const std::string rules = R"([{"id": "flawed", "do": {")" + std::string(action) + R"(": {}}}])";
    const std::string reason =
        "rule 'flawed': " + std::string(action) +
        " happens in a TLS handshake, and would never happen here: this emulator serves plain "
        "HTTP. Start it "
        "with --tls-cert and --tls-key (in Python, tls=(certificate, key)), or remove the rule";
    const auto refused = Admin("PUT", "faults", rules);
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.text.find(reason), std::string::npos) << refused.text;
    const auto started = Emulator::Start({.faults_json = rules});
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().message, "faults: " + reason);
  }
}

TEST_F(AdminFaultsTest, RequestMayHaveItsOwnFaults) {
  EXPECT_EQ(Get("x-penstock-fault: {\"slow_down\": {}}\r\n").status(), 503);
  const ReceivedResponse two = Get(
      "x-penstock-fault: {\"slow_down\": {}}\r\nX-Penstock-Fault: {\"stall\": {\"ms\": 1}}\r\n");
  EXPECT_EQ(two.status(), 400);
  EXPECT_NE(two.text.find("duplicate header; send it once"), std::string::npos) << two.text;
  EXPECT_EQ(Get("x-penstock-fault: [{\"stall\": {\"ms\": 1}}, {\"error\": {\"code\": "
                "\"NoSuchKey\"}}]\r\n")
                .status(),
            404);
  EXPECT_EQ(Get("x-penstock-fault: {\"do\": {\"slow_down\": {}}, \"when\": {\"attempt\": 2}}\r\n")
                .status(),
            200);
  const ReceivedResponse wrong = Get("x-penstock-fault: {\"slow\r\n");
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_NE(wrong.text.find("x-penstock-fault: "), std::string::npos) << wrong.text;
}

TEST_F(AdminFaultsTest, FinalRuleOfARequestOverridesTheScenario) {
  SetAction(R"({"error": {"code": "NoSuchKey"}})");
  EXPECT_EQ(Get("x-penstock-fault: {\"slow_down\": {}}\r\n").status(), 503);
  EXPECT_EQ(Get("x-penstock-fault: {\"stall\": {\"ms\": 1}}\r\n").status(), 404)
      << "both rules must apply";
}

TEST(StartedWithFaultsTest, EveryNamespaceHasThemAlsoAfterAReset) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/faults.json") << R"([{"do": {"slow_down": {}}}])";
  const auto emulator =
      Emulator::Start({.auth = AuthMode::kOff, .faults_path = folder.path() + "/faults.json"});
  ASSERT_TRUE(emulator.ok()) << emulator.error().message;
  EXPECT_EQ(Plain((*emulator)->endpoint(), "GET", "/").status, 503);
  ASSERT_TRUE((*emulator)->ClearFaults("default").ok());
  EXPECT_EQ(Plain((*emulator)->endpoint(), "GET", "/").status, 200);
  ASSERT_TRUE((*emulator)->Reset().ok());
  EXPECT_EQ(Plain((*emulator)->endpoint(), "GET", "/").status, 503);
  ASSERT_TRUE((*emulator)->CreateNamespace("ann").ok());
  EXPECT_TRUE((*emulator)->FaultAccount("ann").ok());
}

TEST(StartedWithFaultsTest, OtherNamespacesHaveNoConnectionRules) {
  const auto emulator = Emulator::Start(
      {.faults_json =
           R"([{"id": "early", "do": {"connection_limit": {"most": 9}}}, {"id": "late", "do": {"slow_down": {}}}])"});
  ASSERT_TRUE(emulator.ok()) << emulator.error().message;
  ASSERT_TRUE((*emulator)->CreateNamespace("ann").ok());
  EXPECT_NE((*emulator)->FaultAccount("default").value().find("early"), std::string::npos);
  const std::string account = (*emulator)->FaultAccount("ann").value();
  EXPECT_EQ(account.find("early"), std::string::npos) << account;
  EXPECT_NE(account.find("late"), std::string::npos) << account;
}

TEST(StartedWithFaultsTest, NamesAnErrorInThem) {
  EXPECT_EQ(Emulator::Start({.faults_json = "[{}]"}).error().message,
            "faults: rules[0].do: is missing: add an action or a list of actions");
  EXPECT_EQ(Emulator::Start({.faults_path = "/nowhere/f.json"}).error().message,
            "faults file '/nowhere/f.json' cannot be opened: No such file or directory; name a "
            "JSON file (docs/reference/faults.md)");
}

class FaultsUnderATokenTest : public FaultsTest {
 protected:
  FaultsUnderATokenTest() : FaultsTest({.admin_token = "token", .auth = AuthMode::kOff}) {}
};

TEST_F(FaultsUnderATokenTest, RequestFaultsAreRefusedIfTheAdminApiNeedsAToken) {
  const ReceivedResponse refused = Get("x-penstock-fault: {\"slow_down\": {}}\r\n");
  EXPECT_EQ(refused.status(), 400);
  EXPECT_NE(refused.text.find("the emulator has an admin token"), std::string::npos)
      << refused.text;
  SetAction(R"({"slow_down": {}})");
  EXPECT_EQ(Get().status(), 503);
}

}  // namespace
}  // namespace penstock::emulator::server
