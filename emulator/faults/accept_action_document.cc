#include "emulator/faults/accept_action_document.h"

namespace penstock::emulator::faults {

Result<Deed> ReadTlsAbort(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {}));
  return Deed(TlsAbortAction{});
}

Result<Deed> ReadGoAway(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"requests"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> requests, fields.Whole("requests"));
  if (!requests || *requests == 0) return FieldError(fields.Place("requests"), "must be at least 1: how many requests may a connection carry?");
  return Deed(GoAwayAction{.requests = *requests});
}

Result<Deed> ReadConnectionLimit(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"most"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> most, fields.Whole("most"));
  if (!most) return FieldError(fields.Place("most"), "is missing: how many connections at a time?");
  return Deed(ConnectionLimitAction{.most = *most});
}

}  // namespace penstock::emulator::faults
