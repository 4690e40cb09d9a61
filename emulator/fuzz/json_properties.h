// Properties of the JSON parser of the admin API.
#ifndef PENSTOCK_EMULATOR_FUZZ_JSON_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_JSON_PROPERTIES_H_

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/identity/users_document.h"
#include "emulator/json/json_fields.h"
#include "emulator/traffic/limits/limits_document.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

// The properties of a JSON text that ParseJson limits, computed by a second, independent scanner.
struct JsonShape {
  std::size_t depth = 0;
  std::size_t members = 0;  // Of the largest object.
  std::size_t values = 0;
  bool duplicates = false;
};

// Returns the offset after the closing quote of the string literal at `begin`.
inline std::size_t EndOfJsonString(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// Requires valid JSON. Scans brackets, separators and names. Shares only the decoding of names with
// the parser under test.
inline JsonShape ScanJson(std::string_view text) {
  JsonShape shape;
  std::vector<std::set<std::string>> names;
  bool in_value = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t end = c == '"' ? EndOfJsonString(text, at) : at + 1;
    const bool separator = std::string_view(" \t\r\n,:]}").find(c) != std::string_view::npos;
    if (!separator && !in_value) {
      const std::size_t next =
          c == '"' ? text.find_first_not_of(" \t\r\n", end) : std::string_view::npos;
      if (next != std::string_view::npos && text[next] == ':') {
        shape.duplicates = !names.back()
                                .insert(Json::parse(text.substr(at, end - at)).get<std::string>())
                                .second ||
                           shape.duplicates;
        shape.members = std::max(shape.members, names.back().size());
      } else {
        ++shape.values;
      }
    }
    in_value = !separator && c != '"' && c != '{' && c != '[';
    if (c == '{' || c == '[') names.emplace_back();
    shape.depth = std::max(shape.depth, names.size());
    if (c == '}' || c == ']') names.pop_back();
    at = end;
  }
  return shape;
}

// Writing an accepted users document and parsing it returns the same document. UsersJson omits
// secrets, so each access key gets a new one.
inline void CheckUsers(std::string_view input) {
  const Result<identity::UsersDocument> users = identity::ParseUsers(input);
  if (!users.ok()) return;
  const std::string written = identity::UsersJson(*users);
  Json document = Json::parse(written);
  const auto complete = [](Json& keys) {
    for (Json& key : keys) {
      PENSTOCK_CHECK(!key.contains("secret_access_key") && !key.contains("session_token"));
      key["secret_access_key"] = "secret";
      if (key.contains("expires")) key["session_token"] = "token";
    }
  };
  for (Json& account : document["accounts"]) {
    complete(account["access_keys"]);
    for (Json& user : account["users"]) complete(user["access_keys"]);
  }
  const Result<identity::UsersDocument> again = identity::ParseUsers(document.dump());
  PENSTOCK_CHECK(again.ok() && again->keys.size() == users->keys.size() &&
                 identity::UsersJson(*again) == written);
}

// Accepted limits are within their bounds.
inline void CheckLimitsDocument(const Json& json) {
  const auto fields = JsonFields::Read(json, "",
                                       {"reads_per_second", "writes_per_second", "burst_ms",
                                        "split_after_s", "merge_after_s", "max_partitions"});
  if (!fields.ok()) return;
  traffic::Limits limits;
  if (!traffic::ReadLimits(*fields, limits).ok()) return;
  PENSTOCK_CHECK(limits.reads_per_second <= traffic::kLargestRate &&
                 limits.writes_per_second <= traffic::kLargestRate);
  PENSTOCK_CHECK(limits.max_partitions >= 1 && limits.max_partitions <= traffic::kMaxPartitions);
  PENSTOCK_CHECK(limits.burst <= traffic::kLongestBurst && limits.split_after.count() >= 0 &&
                 limits.merge_after.count() >= 0);
  PENSTOCK_CHECK(limits.Burst(traffic::Traffic::kRead) >= 1);
}

// ParseJson accepts a text exactly if nlohmann::json accepts it and it is within the limits.
// Writing the value and parsing it returns the same value. Error messages have a bounded length.
inline void CheckJson(std::string_view input) {
  const Result<Json> parsed = ParseJson(input);
  if (!parsed.ok()) {
    const std::string& message = parsed.error().message;
    PENSTOCK_CHECK(parsed.error().kind == ErrorKind::kInvalidArgument && !message.empty());
    // The message contains the location and the name of a member.
    PENSTOCK_CHECK(message.size() <= 2 * input.size() + 512);
    // nlohmann::json reads a NUL as the end of the text.
    if (!Json::accept(input) || input.find('\0') != std::string_view::npos) return;
    const JsonShape shape = ScanJson(input);
    PENSTOCK_CHECK(shape.duplicates || shape.depth > kMaxJsonDepth ||
                   shape.members > kMaxJsonMembers || shape.values > kMaxJsonValues ||
                   message.find("out of range") != std::string::npos);
    return;
  }
  PENSTOCK_CHECK(input.find('\0') == std::string_view::npos);
  const JsonShape shape = ScanJson(input);
  PENSTOCK_CHECK(!shape.duplicates && shape.depth <= kMaxJsonDepth &&
                 shape.members <= kMaxJsonMembers);
  const Result<Json> again = ParseJson(parsed->dump());
  PENSTOCK_CHECK(again.ok() && *again == *parsed);
  CheckUsers(input);
  CheckLimitsDocument(*parsed);
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_JSON_PROPERTIES_H_
