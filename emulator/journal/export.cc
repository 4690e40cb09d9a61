#include "emulator/journal/export.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/dates.h"
#include "emulator/journal/document.h"

namespace penstock::emulator::journal {
namespace {

double InSeconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); }

std::string Decoded(std::string_view text) {
  std::string decoded;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    decoded += escape ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return decoded;
}

Json HarQuery(std::string_view target) {
  Json query = Json::array();
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return query;
  target.remove_prefix(question + 1);
  while (!target.empty()) {
    const std::string_view pair = target.substr(0, target.find('&'));
    target.remove_prefix(std::min(target.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query.push_back({{"name", Decoded(pair.substr(0, equals))}, {"value", Decoded(pair.substr(std::min(pair.size(), equals + 1)))}});
  }
  return query;
}

Json HarHeader(std::string_view name, std::string_view value) {
  Json headers = Json::array();
  if (!value.empty()) headers.push_back({{"name", name}, {"value", value}});
  return headers;
}

}  // namespace

// A body's bytes are counted as they were on the wire; -1 stands for what is not known.
Json HarEntry(const JournalEntryView& entry, std::string_view base_url) {
  const double ms = std::chrono::duration<double, std::milli>(entry.lasted()).count();
  const Json nothing = Json::array();
  return {{"startedDateTime", FormatIso8601(entry.received)},
          {"time", ms},
          {"request",
           {{"method", entry.method},
            {"url", std::string(base_url) + std::string(entry.target)},
            {"httpVersion", "HTTP/1.1"},
            {"cookies", nothing},
            {"headers", HarHeader("User-Agent", entry.user_agent)},
            {"queryString", HarQuery(entry.target)},
            {"headersSize", -1},
            {"bodySize", entry.bytes_in}}},
          {"response",
           {{"status", entry.status},
            {"statusText", entry.error_code},
            {"httpVersion", "HTTP/1.1"},
            {"cookies", nothing},
            {"headers", HarHeader("x-amz-request-id", entry.request_id)},
            {"content", {{"size", entry.bytes_out}, {"mimeType", ""}}},
            {"redirectURL", ""},
            {"headersSize", -1},
            {"bodySize", entry.bytes_out}}},
          {"cache", Json::object()},
          {"timings", {{"send", 0}, {"wait", ms}, {"receive", 0}}},
          {"connection", std::to_string(entry.connection)},
          {"_operation", entry.operation},
          {"_faults", entry.faults}};
}

Json EntryJson(const JournalEntryView& entry) {
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

std::string LineOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace penstock::emulator::journal

namespace penstock::emulator {

std::string JournalReading::JsonLines(const JournalFilter& filter) const {
  return journal::DocumentText(journal::LinesDocument(*this, filter));
}

std::string JournalReading::Har(std::string_view base_url, const JournalFilter& filter) const {
  return journal::DocumentText(journal::HarDocument(*this, filter, std::string(base_url)));
}

}  // namespace penstock::emulator
