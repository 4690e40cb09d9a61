#include "emulator/faults/rules/connection_rules.h"

#include "emulator/faults/documents/scenario_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

constexpr std::string_view kBoth =
    R"([{"id": "late", "do": {"reset": {}}}, {"id": "early", "do": {"reset": {}, "at": "accept"}},
                                       {"id": "limit", "do": {"connection_limit": {"most": 1}}}])";

TEST(ConnectionRulesTest, AreRulesWithActionsAtAccept) {
  const Scenario scenario = ParseScenario(kBoth).value();
  EXPECT_FALSE(IsOfConnections(scenario.rules[0]));
  EXPECT_TRUE(IsOfConnections(scenario.rules[1]));
  EXPECT_TRUE(IsOfConnections(scenario.rules[2]));
}

TEST(ConnectionRulesTest, RejectionNamesTheAlternative) {
  EXPECT_EQ(
      RefuseConnectionRules(ParseScenario(kBoth).value(), "no access key is known").error().message,
      "rule 'early': its actions happen at accept, which never occurs here: no access key is "
      "known. Only the scenario of the default namespace applies to connections: set the rule "
      "there with PUT /_penstock/faults (in a test, s3_server.faults().set(...))");
  EXPECT_TRUE(RefuseConnectionRules(ParseScenario(R"([{"do": {"reset": {}}}])").value(), "").ok());
}

TEST(ConnectionRulesTest, DropKeepsOtherRules) {
  Scenario scenario = ParseScenario(kBoth).value();
  DropConnectionRules(scenario);
  ASSERT_EQ(scenario.rules.size(), 1U);
  EXPECT_EQ(scenario.rules[0].id, "late");
}

TEST(ConnectionRulesTest, OfTlsHandshakesAreRefusedWithoutTls) {
  constexpr std::string_view kAbort =
      R"([{"id": "late", "do": {"reset": {}}}, {"id": "a", "do": {"tls_abort": {}}}])";
  EXPECT_EQ(
      RefuseTlsRules(ParseScenario(kAbort).value()).error().message,
      "rule 'a': tls_abort happens in a TLS handshake, and would never happen here: this emulator "
      "serves plain HTTP. Start it "
      "with --tls-cert and --tls-key (in Python, tls=(certificate, key)), or remove the rule");
  EXPECT_FALSE(RefuseTlsRules(ParseScenario(R"([{"do": {"tls_certificate": {}}}])").value()).ok());
  EXPECT_TRUE(RefuseTlsRules(ParseScenario(kBoth).value()).ok());
}

TEST(ConnectionRulesTest, AreRejectedInRequestHeaders) {
  for (const char* text : {R"({"reset": {}, "at": "accept"})", R"([{"goaway": {"requests": 1}}])",
                           R"({"rules": [{"do": {"tls_abort": {}}}]})"}) {
    const auto refused = ParseInlineFaults(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().message.find("PUT /_penstock/faults"), std::string::npos)
        << refused.error().message;
  }
}

}  // namespace
}  // namespace penstock::emulator::faults
