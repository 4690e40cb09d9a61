#include "emulator/faults/documents/accept_action_document.h"

#include "emulator/faults/documents/action_document.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

TimedAction Read(std::string_view json) {
  return ReadAction(ParseJson(json).value(), "do").value();
}
std::string Problem(std::string_view json) {
  return ReadAction(ParseJson(json).value(), "do").error().message;
}

TEST(AcceptActionDocumentTest, ConnectionActionsHappenAtAccept) {
  EXPECT_TRUE(std::holds_alternative<TlsAbortAction>(Read(R"({"tls_abort": {}})").action));
  EXPECT_EQ(
      std::get<TlsAbortAction>(Read(R"({"tls_abort": {"mode": "protocol-version"}})").action).kind,
      TlsAbortAction::Kind::kProtocolVersion);
  EXPECT_EQ(std::get<TlsCertificateAction>(Read(R"({"tls_certificate": {}})").action).kind,
            TlsCertificateAction::Kind::kExpired);
  EXPECT_EQ(std::get<TlsCertificateAction>(
                Read(R"({"tls_certificate": {"mode": "unknown-authority"}})").action)
                .kind,
            TlsCertificateAction::Kind::kUnknownAuthority);
  EXPECT_EQ(std::get<GoAwayAction>(Read(R"({"goaway": {"requests": 2}})").action).requests, 2U);
  EXPECT_EQ(
      std::get<ConnectionLimitAction>(Read(R"({"connection_limit": {"most": 0}})").action).most,
      0U);
  for (const char* json : {R"({"tls_abort": {}})", R"({"tls_certificate": {}})",
                           R"({"goaway": {"requests": 2}})", R"({"connection_limit": {"most": 0}})",
                           R"({"reset": {}, "at": "accept"})", R"({"fin": {}, "at": "accept"})"}) {
    EXPECT_EQ(Read(json).at.stage, Stage::kAccept) << json;
  }
}

TEST(AcceptActionDocumentTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(Problem(R"({"goaway": {}})"),
            "do.goaway.requests: must be at least 1: the number of requests per connection");
  EXPECT_EQ(Problem(R"({"tls_certificate": {"mode": "old"}})"),
            "do.tls_certificate.mode: must be one of expired, not-yet-valid, wrong-host, "
            "self-signed, unknown-authority, not 'old'");
  EXPECT_EQ(Problem(R"({"connection_limit": {}})"),
            "do.connection_limit.most: is missing: set the number of concurrent connections");
  EXPECT_EQ(Problem(R"({"goaway": {"requests": 1}, "at": "headers"})"),
            "do.at: 'goaway' cannot happen at 'headers'");
  EXPECT_EQ(Problem(R"({"stall": {"ms": 1}, "at": "accept"})"),
            "do.at: 'stall' cannot happen at 'accept'");
}

}  // namespace
}  // namespace penstock::emulator::faults
