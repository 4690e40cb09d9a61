#include "emulator/journal/export.h"

#include <nlohmann/json.hpp>

#include "base/dates.h"

namespace penstock::emulator::journal {
namespace {

using Json = nlohmann::ordered_json;

double InSeconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); }

// Keys and targets may be any bytes; what is not UTF-8 becomes U+FFFD.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json ToJson(const Entry& entry) {
  Json json = {{"number", entry.number},
               {"received", FormatIso8601(entry.received)},
               {"began_s", InSeconds(entry.began)},
               {"lasted_s", InSeconds(entry.lasted())},
               {"connection", entry.connection},
               {"requests_before", entry.requests_before},
               {"tls", entry.tls},
               {"peer", entry.peer},
               {"method", entry.method},
               {"target", entry.target},
               {"operation", entry.operation},
               {"bucket", entry.bucket},
               {"key", entry.key},
               {"status", entry.status},
               {"ending", entry.ending == Ending::kAnswered ? "answered" : "broken"},
               {"bytes_in", entry.bytes_in},
               {"bytes_out", entry.bytes_out},
               {"access_key", entry.access_key},
               {"request_id", entry.request_id},
               {"attempt", entry.attempt}};
  const auto add = [&json](const char* name, std::string_view value) {
    if (!value.empty()) json[name] = value;
  };
  if (entry.range) json["range"] = {entry.range->begin, entry.range->end};
  add("invocation", entry.invocation);
  add("user_agent", entry.user_agent);
  add("error_code", entry.error_code);
  add("faults", entry.faults);
  add("checksums", entry.checksums);
  add("payload", entry.payload);
  return json;
}

Json HarEntry(const Entry& entry, std::string_view base_url) {
  const auto ms = [](std::chrono::nanoseconds span) { return std::chrono::duration<double, std::milli>(span).count(); };
  Json headers = Json::array();
  if (!entry.user_agent.empty()) headers.push_back({{"name", "User-Agent"}, {"value", entry.user_agent}});
  const Json nothing = Json::array();
  return {{"startedDateTime", FormatIso8601(entry.received)},
          {"time", ms(entry.lasted())},
          {"request",
           {{"method", entry.method},
            {"url", std::string(base_url) + std::string(entry.target)},
            {"httpVersion", "HTTP/1.1"},
            {"cookies", nothing},
            {"headers", headers},
            {"queryString", nothing},
            {"headersSize", -1},
            {"bodySize", entry.bytes_in}}},
          {"response",
           {{"status", entry.status},
            {"statusText", entry.error_code},
            {"httpVersion", "HTTP/1.1"},
            {"cookies", nothing},
            {"headers", {{{"name", "x-amz-request-id"}, {"value", entry.request_id}}}},
            {"content", {{"size", entry.bytes_out}, {"mimeType", ""}}},
            {"redirectURL", ""},
            {"headersSize", -1},
            {"bodySize", entry.bytes_out}}},
          {"cache", Json::object()},
          {"timings", {{"send", 0}, {"wait", ms(entry.lasted())}, {"receive", 0}}},
          {"connection", std::to_string(entry.connection)},
          {"_operation", entry.operation},
          {"_faults", entry.faults}};
}

}  // namespace

std::string EntryJson(const Entry& entry) { return Dump(ToJson(entry)); }

std::string JsonLines(const Reading& reading) {
  std::string lines;
  reading.ForEach([&](const Entry& entry) {
    lines += EntryJson(entry);
    lines += '\n';
    return true;
  });
  return lines;
}

std::string Har(const Reading& reading, std::string_view base_url, std::string_view version) {
  Json entries = Json::array();
  reading.ForEach([&](const Entry& entry) {
    entries.push_back(HarEntry(entry, base_url));
    return true;
  });
  return Dump({{"log", {{"version", "1.2"}, {"creator", {{"name", "penstock"}, {"version", version}}}, {"entries", std::move(entries)}}}});
}

}  // namespace penstock::emulator::journal
