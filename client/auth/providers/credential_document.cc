#include "client/auth/providers/credential_document.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/dates.h"
#include "client/auth/providers/provider_response.h"

namespace penstock::auth {
namespace {

using nlohmann::json;

// Whether a member of this name is sent to a service, as an identity or a secret.
bool IsText(std::string_view name) {
  for (const std::string_view end : {"ccessKeyId", "ccessKey", "oken"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

Result<void> Flatten(const json& object, const std::string& prefix,
                     std::map<std::string, std::string>& out) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      std::string text = value.get<std::string>();
      if (text.find('\0') != std::string::npos) return Unusable("`" + name + "` has a NUL");
      out[prefix + name] = std::move(text);
    } else if (value.is_object() && prefix.empty()) {
      PENSTOCK_TRY(Flatten(value, name + ".", out));
    } else if (IsText(name) && !value.is_null()) {
      return Unusable("`" + name + "` has the type " + std::string(value.type_name()) +
                      ", not string");
    } else if (value.is_number()) {
      out[prefix + name] = value.dump();
    }
  }
  return Ok();
}

}  // namespace

Result<std::map<std::string, std::string>> ReadFlatObject(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  // The library treats a NUL as the end of the text. Valid JSON contains none.
  if (!document.is_object() || text.find('\0') != std::string_view::npos)
    return Unusable("not a JSON object");
  std::map<std::string, std::string> out;
  PENSTOCK_TRY(Flatten(document, "", out));
  return out;
}

Result<Credentials> ReadCredentialDocument(std::string_view json_text, std::string_view token_name,
                                           const std::string& source) {
  auto members = ReadFlatObject(json_text);
  if (!members.ok()) return Unusable(source + ": " + members.error().message);
  return CredentialsOf(*std::move(members), token_name, source);
}

Result<Credentials> CredentialsOf(std::map<std::string, std::string> members,
                                  std::string_view token_name, const std::string& source) {
  const auto take = [&](std::string_view name) { return std::move(members[std::string(name)]); };
  Credentials found;
  found.access_key_id = take("AccessKeyId");
  found.secret_access_key = take("SecretAccessKey");
  found.session_token = take(token_name);
  if (found.access_key_id.empty()) return Unusable(source + ": AccessKeyId is missing");
  if (found.secret_access_key.empty()) return Unusable(source + ": SecretAccessKey is missing");
  const std::string expiry = take("Expiration");
  if (expiry.empty()) return found;
  found.expires_at = ParseIso8601(expiry);
  if (!found.expires_at) {
    return Unusable(source + ": Expiration is '" + expiry +
                    "', not an ISO 8601 time such as 2026-01-02T03:04:05Z");
  }
  return found;
}

}  // namespace penstock::auth
