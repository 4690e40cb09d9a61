#include "emulator/server/accept_decision_for.h"

#include "gtest/gtest.h"

namespace penstock::emulator::server {
namespace {

using faults::TlsAbortAction;
using faults::TlsCertificateAction;

TEST(ToAcceptDecisionTest, ServesConnectionsWithoutFaults) {
  const http::AcceptDecision decision = ToAcceptDecision({.max_requests = 7});
  EXPECT_EQ(decision.kind, http::AcceptDecision::Kind::kServe);
  EXPECT_EQ(decision.flaw, http::CertificateFlaw::kNone);
  EXPECT_EQ(decision.max_requests, 7U);
}

TEST(ToAcceptDecisionTest, ConvertsEveryFault) {
  using Kind = faults::AcceptFault::Kind;
  EXPECT_EQ(ToAcceptDecision({.kind = Kind::kReset}).kind, http::AcceptDecision::Kind::kReset);
  EXPECT_EQ(ToAcceptDecision({.kind = Kind::kFin}).kind, http::AcceptDecision::Kind::kFin);
  const auto refusal = [](TlsAbortAction::Kind kind) {
    return ToAcceptDecision({.kind = Kind::kRefuseTls, .refusal = kind}).refusal;
  };
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kHandshakeFailure), http::TlsRefusal::kHandshakeFailure);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kProtocolVersion), http::TlsRefusal::kProtocolVersion);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kNoApplicationProtocol),
            http::TlsRefusal::kNoApplicationProtocol);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kTruncated), http::TlsRefusal::kTruncated);
  const auto flaw = [](TlsCertificateAction::Kind kind) {
    return ToAcceptDecision({.certificate = kind}).flaw;
  };
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kExpired), http::CertificateFlaw::kExpired);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kNotYetValid), http::CertificateFlaw::kNotYetValid);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kWrongHost), http::CertificateFlaw::kWrongHost);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kSelfSigned), http::CertificateFlaw::kSelfSigned);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kUnknownAuthority),
            http::CertificateFlaw::kUnknownAuthority);
}

}  // namespace
}  // namespace penstock::emulator::server
