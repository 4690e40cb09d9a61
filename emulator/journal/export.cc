#include "emulator/journal/export.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/dates.h"
#include "emulator/journal/document.h"

namespace penstock::emulator::journal {
namespace {

std::string Decoded(std::string_view text) {
  std::string decoded;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    decoded += escape ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return decoded;
}

// Appends {"name": name, "value": value}.
void AddNamed(Json& list, std::string_view name, std::string_view value) {
  list.push_back(EmptyObject(2));
  list.back()["name"] = name;
  list.back()["value"] = value;
}

void AddHeaders(Json& list, std::string_view lines) {
  for (const auto& [name, value] : JournalHeaders(lines)) AddNamed(list, name, value);
}

void AddQuery(Json& list, std::string_view target) {
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return;
  target.remove_prefix(question + 1);
  while (!target.empty()) {
    const std::string_view pair = target.substr(0, target.find('&'));
    target.remove_prefix(std::min(target.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    AddNamed(list, Decoded(pair.substr(0, equals)),
             Decoded(pair.substr(std::min(pair.size(), equals + 1))));
  }
}

void AddHarRequest(Json& request, const JournalEntryView& entry, std::string_view base_url) {
  request["method"] = entry.method;
  request["url"] = std::string(base_url) + std::string(entry.target);
  request["httpVersion"] = "HTTP/1.1";
  request["cookies"] = Json::array();
  Json& headers = request["headers"] = Json::array();
  if (!entry.request_headers.empty()) {
    AddHeaders(headers, entry.request_headers);
  } else if (!entry.user_agent.empty()) {
    AddNamed(headers, "User-Agent", entry.user_agent);
  }
  AddQuery(request["queryString"] = Json::array(), entry.target);
  request["headersSize"] = -1;
  request["bodySize"] = entry.bytes_in;
}

// Returns the value of the first header with that name, in lower case.
std::string_view HeaderIn(std::string_view lines, std::string_view lower_name) {
  for (const auto& [name, value] : JournalHeaders(lines)) {
    if (EqualsIgnoreCase(name, lower_name)) return value;
  }
  return {};
}

void AddHarResponse(Json& response, const JournalEntryView& entry) {
  response["status"] = entry.status;
  response["statusText"] = entry.error_code;
  response["httpVersion"] = "HTTP/1.1";
  response["cookies"] = Json::array();
  Json& headers = response["headers"] = Json::array();
  if (!entry.response_headers.empty()) {
    AddHeaders(headers, entry.response_headers);
  } else if (!entry.request_id.empty()) {
    AddNamed(headers, "x-amz-request-id", entry.request_id);
  }
  Json& content = response["content"] = EmptyObject(2);
  content["size"] = entry.bytes_out;
  content["mimeType"] = HeaderIn(entry.response_headers, "content-type");
  response["redirectURL"] = "";
  response["headersSize"] = -1;
  response["bodySize"] = entry.bytes_out;
}

// [name, value] for each line.
void AddPairs(Json& list, std::string_view lines) {
  for (const auto& [name, value] : JournalHeaders(lines)) {
    list.push_back(Json::array());
    list.back().push_back(name);
    list.back().push_back(value);
  }
}

void AddCapturedHeaders(Json& json, const JournalEntryView& entry) {
  if (!entry.request_headers.empty())
    AddPairs(json["request_headers"] = Json::array(), entry.request_headers);
  if (!entry.response_headers.empty())
    AddPairs(json["response_headers"] = Json::array(), entry.response_headers);
  if (entry.headers_left_out > 0) json["headers_left_out"] = entry.headers_left_out;
}

std::string_view NameOf(SignatureVersion version) {
  switch (version) {
    case SignatureVersion::kNone: return "";
    case SignatureVersion::kV4: return "v4";
    case SignatureVersion::kV4Query: return "v4-query";
    case SignatureVersion::kV4Chunked: return "v4-chunked";
    case SignatureVersion::kV4Form: return "v4-form";
    case SignatureVersion::kV2: return "v2";
    case SignatureVersion::kV2Query: return "v2-query";
    case SignatureVersion::kV2Form: return "v2-form";
  }
  return "";
}

std::string_view NameOf(SignatureVerdict verdict) {
  switch (verdict) {
    case SignatureVerdict::kUnverified: return "unverified";
    case SignatureVerdict::kValid: return "valid";
    case SignatureVerdict::kInvalid: return "invalid";
  }
  return "";
}

void AddSignature(Json& json, RequestSignature signature) {
  if (signature.version == SignatureVersion::kNone) return;
  Json& member = json["signature"] = EmptyObject(2);
  member["version"] = NameOf(signature.version);
  member["verdict"] = NameOf(signature.verdict);
}

}  // namespace

// Body sizes are counted on the wire. -1: unknown.
JsonTree HarEntry(const JournalEntryView& entry, std::string_view base_url) {
  const double ms = std::chrono::duration<double, std::milli>(entry.lasted()).count();
  JsonTree tree(EmptyObject(9));
  Json& json = tree.root();
  json["startedDateTime"] = FormatIso8601(entry.received);
  json["time"] = ms;
  AddHarRequest(json["request"] = EmptyObject(8), entry, base_url);
  AddHarResponse(json["response"] = EmptyObject(9), entry);
  json["cache"] = Json::object();
  Json& timings = json["timings"] = EmptyObject(3);
  timings["send"] = 0;
  timings["wait"] = ms;
  timings["receive"] = 0;
  json["connection"] = std::to_string(entry.connection);
  json["_operation"] = entry.operation;
  json["_faults"] = entry.faults;
  return tree;
}

JsonTree EntryJson(const JournalEntryView& entry) {
  JsonTree tree(EmptyObject(32));
  Json& json = tree.root();
  json["number"] = entry.number;
  json["received"] = FormatIso8601(entry.received);
  json["began_s"] = InSeconds(entry.began);
  json["lasted_s"] = InSeconds(entry.lasted());
  json["connection"] = entry.connection;
  json["requests_before"] = entry.requests_before;
  json["tls"] = entry.tls;
  json["peer"] = entry.peer;
  json["method"] = entry.method;
  json["target"] = entry.target;
  json["operation"] = entry.operation;
  json["bucket"] = entry.bucket;
  json["key"] = entry.key;
  json["status"] = entry.status;
  json["ending"] = entry.ending == Ending::kAnswered ? "answered" : "broken";
  json["bytes_in"] = entry.bytes_in;
  json["bytes_out"] = entry.bytes_out;
  json["access_key"] = entry.access_key;
  json["request_id"] = entry.request_id;
  json["attempt"] = entry.attempt;
  const auto add = [&json](const char* name, std::string_view value) {
    if (!value.empty()) json[name] = value;
  };
  if (entry.range) {
    Json& range = json["range"] = Json::array();
    range.push_back(entry.range->begin);
    range.push_back(entry.range->end);
  }
  if (entry.rank) json["rank"] = *entry.rank;
  add("invocation", entry.invocation);
  add("user_agent", entry.user_agent);
  add("error_code", entry.error_code);
  add("faults", entry.faults);
  add("checksums", entry.checksums);
  add("payload", entry.payload);
  AddSignature(json, entry.signature);
  AddCapturedHeaders(json, entry);
  // A long text is cut in the journal. Then the decisions are missing.
  if (entry.authorization.empty()) return tree;
  if (auto decisions = ParseJsonTree(entry.authorization); decisions.ok())
    json["decisions"] = std::move(decisions->root());
  return tree;
}

std::string LineOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::emulator::journal

namespace penstock::emulator {

std::string JournalReading::JsonLines(const JournalFilter& filter) const {
  return journal::DocumentText(journal::LinesDocument(*this, filter));
}

std::string JournalReading::Har(std::string_view base_url, const JournalFilter& filter) const {
  return journal::DocumentText(journal::HarDocument(*this, filter, std::string(base_url)));
}

}  // namespace penstock::emulator
