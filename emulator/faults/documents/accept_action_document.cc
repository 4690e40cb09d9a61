#include "emulator/faults/documents/accept_action_document.h"

#include <array>
#include <string_view>
#include <utility>

#include "emulator/faults/documents/kind_document.h"

namespace penstock::emulator::faults {

Result<Action> ReadTlsAbort(const Json& json, const std::string& place) {
  using Kind = TlsAbortAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds{
      {{"handshake-failure", Kind::kHandshakeFailure},
       {"protocol-version", Kind::kProtocolVersion},
       {"no-application-protocol", Kind::kNoApplicationProtocol},
       {"truncated", Kind::kTruncated}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  TlsAbortAction abort;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, abort.kind));
  return Action(abort);
}

Result<Action> ReadTlsCertificate(const Json& json, const std::string& place) {
  using Kind = TlsCertificateAction::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{
      {{"expired", Kind::kExpired},
       {"not-yet-valid", Kind::kNotYetValid},
       {"wrong-host", Kind::kWrongHost},
       {"self-signed", Kind::kSelfSigned},
       {"unknown-authority", Kind::kUnknownAuthority}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"mode"}));
  TlsCertificateAction certificate;
  PENSTOCK_TRY(ReadKind(fields, "mode", kKinds, certificate.kind));
  return Action(certificate);
}

Result<Action> ReadGoAway(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"requests"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> requests, fields.Whole("requests"));
  if (!requests || *requests == 0)
    return FieldError(fields.Place("requests"),
                      "must be at least 1: the number of requests per connection");
  return Action(GoAwayAction{.requests = *requests});
}

Result<Action> ReadConnectionLimit(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"most"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> most, fields.Whole("most"));
  if (!most)
    return FieldError(fields.Place("most"), "is missing: set the number of concurrent connections");
  return Action(ConnectionLimitAction{.most = *most});
}

}  // namespace penstock::emulator::faults
