#include "emulator/faults/actions/accept_faults.h"

#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Kind = AcceptFault::Kind;

class AcceptFaultsTest : public testing::Test {
 protected:
  void Set(std::string_view rules) {
    ASSERT_TRUE(registry_.Start(ParseScenario(rules).value()).ok());
  }
  AcceptFault Meet(bool tls = false, std::size_t others = 0) {
    return FaultOfAccept(registry_, {.connection = {.id = 1, .peer = "10.0.0.1:5000", .tls = tls},
                                     .others = others});
  }
  std::uint64_t fired() const { return registry_.Account()->fired; }

  FaultRegistry registry_{SystemClock()};
};

TEST_F(AcceptFaultsTest, ServesConnectionsWithoutRules) {
  EXPECT_EQ(Meet().kind, Kind::kServe);
  Set(R"([{"do": {"slow_down": {}}}])");
  EXPECT_EQ(Meet().kind, Kind::kServe) << "the rule applies to requests";
  EXPECT_EQ(registry_.Account()->requests, 0U);
}

TEST_F(AcceptFaultsTest, RulesResetOrCloseConnections) {
  Set(R"([{"do": {"reset": {}, "at": "accept"}, "when": {"nth": 1}}, {"do": {"fin": {}, "at": "accept"}, "when": {"nth": 1}}])");
  EXPECT_EQ(Meet().kind, Kind::kReset);
  EXPECT_EQ(Meet().kind, Kind::kFin) << "the first rule was final for the first connection";
  EXPECT_EQ(Meet().kind, Kind::kServe);
  EXPECT_EQ(fired(), 2U);
}

TEST_F(AcceptFaultsTest, AlertRequiresTls) {
  Set(R"([{"do": {"tls_abort": {}}}])");
  EXPECT_EQ(Meet(false).kind, Kind::kServe);
  EXPECT_EQ(fired(), 0U);
  EXPECT_EQ(Meet(true).kind, Kind::kRefuseTls);
  EXPECT_EQ(fired(), 1U);
}

TEST_F(AcceptFaultsTest, AbortCarriesItsKind) {
  Set(R"([{"do": {"tls_abort": {"mode": "truncated"}}}])");
  EXPECT_EQ(Meet(true).refusal, TlsAbortAction::Kind::kTruncated);
}

TEST_F(AcceptFaultsTest, AbortPrecedesCertificate) {
  Set(R"([{"do": {"tls_abort": {}}}, {"do": {"tls_certificate": {"mode": "self-signed"}}}])");
  EXPECT_EQ(Meet(true).certificate, std::nullopt);
  EXPECT_EQ(fired(), 1U);
}

TEST_F(AcceptFaultsTest, FlawedCertificateRequiresTlsAndSigningCertificate) {
  Set(R"([{"do": {"tls_certificate": {"mode": "wrong-host"}}}])");
  const auto meet = [&](bool tls, bool trusts) {
    return FaultOfAccept(registry_, {.connection = {.tls = tls}, .certificate_may_sign = trusts})
        .certificate;
  };
  EXPECT_EQ(meet(false, true), std::nullopt);
  EXPECT_EQ(meet(true, false), std::nullopt);
  EXPECT_EQ(fired(), 0U);
  EXPECT_EQ(meet(true, true), TlsCertificateAction::Kind::kWrongHost);
  EXPECT_EQ(fired(), 1U);
  Set(R"([{"do": {"tls_certificate": {"mode": "self-signed"}}}, {"do": {"tls_certificate": {"mode": "expired"}}}])");
  EXPECT_EQ(meet(true, true), TlsCertificateAction::Kind::kSelfSigned)
      << "a self-signed certificate needs no trusted signer";
  EXPECT_EQ(fired(), 1U) << "a connection has one certificate";
}

TEST_F(AcceptFaultsTest, LimitResetsConnectionsAboveIt) {
  Set(R"([{"do": {"connection_limit": {"most": 2}}, "when": {"client": {"address": "10.*"}}}])");
  EXPECT_EQ(Meet(false, 1).kind, Kind::kServe);
  EXPECT_EQ(Meet(false, 2).kind, Kind::kReset);
}

TEST_F(AcceptFaultsTest, GoAwayLimitsRequestsPerConnection) {
  Set(R"([{"do": {"goaway": {"requests": 3}}}])");
  EXPECT_EQ(Meet().max_requests, 3U);
}

TEST_F(AcceptFaultsTest, RejectsConditionsOnRequests) {
  EXPECT_EQ(ParseScenario(R"([{"do": {"tls_abort": {}}, "when": {"operation": "GetObject"}}])")
                .error()
                .message,
            "rule 'rule-1': no request is known at accept: `when` may only have client.address, "
            "connection.id, nth, after, window and probability");
  EXPECT_EQ(ParseScenario(R"([{"do": [{"tls_abort": {}}, {"slow_down": {}}]}])").error().message,
            "rule 'rule-1': actions at accept apply to a connection: put them in a separate rule");
}

}  // namespace
}  // namespace penstock::emulator::faults
