#include "emulator/server/reception_for.h"

#include "gtest/gtest.h"

namespace penstock::emulator::server {
namespace {

using faults::TlsAbortAction;
using faults::TlsCertificateAction;

TEST(ReceptionForTest, WhoMetNothingIsServed) {
  const http::Reception reception = ReceptionFor({.most_requests = 7});
  EXPECT_EQ(reception.kind, http::Reception::Kind::kServe);
  EXPECT_EQ(reception.flaw, http::CertificateFlaw::kNone);
  EXPECT_EQ(reception.most_requests, 7U);
}

TEST(ReceptionForTest, ItSaysWhatTheFaultsSaid) {
  using Kind = faults::Greeting::Kind;
  EXPECT_EQ(ReceptionFor({.kind = Kind::kReset}).kind, http::Reception::Kind::kReset);
  EXPECT_EQ(ReceptionFor({.kind = Kind::kFin}).kind, http::Reception::Kind::kFin);
  const auto refusal = [](TlsAbortAction::Kind kind) { return ReceptionFor({.kind = Kind::kRefuseTls, .refusal = kind}).refusal; };
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kHandshakeFailure), http::TlsRefusal::kHandshakeFailure);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kProtocolVersion), http::TlsRefusal::kProtocolVersion);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kNoApplicationProtocol), http::TlsRefusal::kNoApplicationProtocol);
  EXPECT_EQ(refusal(TlsAbortAction::Kind::kTruncated), http::TlsRefusal::kTruncated);
  const auto flaw = [](TlsCertificateAction::Kind kind) { return ReceptionFor({.certificate = kind}).flaw; };
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kExpired), http::CertificateFlaw::kExpired);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kNotYetValid), http::CertificateFlaw::kNotYetValid);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kWrongHost), http::CertificateFlaw::kWrongHost);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kSelfSigned), http::CertificateFlaw::kSelfSigned);
  EXPECT_EQ(flaw(TlsCertificateAction::Kind::kUnknownAuthority), http::CertificateFlaw::kUnknownAuthority);
}

}  // namespace
}  // namespace penstock::emulator::server
