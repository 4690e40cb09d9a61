#include "client/auth/canonical.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"
#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr std::array<std::string_view, 6> kUnsignedHeaders = {
    "authorization", "connection", "expect", "transfer-encoding", "user-agent", "x-amzn-trace-id"};

std::string CanonicalComponent(std::string_view text) {
  return http::EncodeQuery(http::DecodePercent(text).value_or(std::string(text)));
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool IsSigned(std::string_view name) {
  return std::none_of(
      kUnsignedHeaders.begin(), kUnsignedHeaders.end(),
      [name](std::string_view other) { return http::EqualsIgnoringCase(name, other); });
}

// Sorts by lower-case name; headers of the same name keep their order in the request.
bool ComesFirst(const http::Header* a, const http::Header* b) {
  const std::size_t common = std::min(a->name.size(), b->name.size());
  for (std::size_t i = 0; i < common; ++i) {
    const char x = AsciiLower(a->name[i]);
    const char y = AsciiLower(b->name[i]);
    if (x != y) return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
  }
  return a->name.size() != b->name.size() ? a->name.size() < b->name.size() : a < b;
}

// Returns whether the value is already canonical, as most are: no leading or trailing blank, no two
// blanks in a row, no blank other than a space. std::string_view::find compares many bytes at a
// time.
bool IsCanonical(std::string_view value) {
  if (value.empty()) return true;
  if (value.front() == ' ' || value.back() == ' ') return false;
  for (const char blank : {'\t', '\r', '\n'}) {
    if (value.find(blank) != std::string_view::npos) return false;
  }
  for (std::size_t at = value.find(' '); at != std::string_view::npos;
       at = value.find(' ', at + 1)) {
    if (value[at + 1] == ' ') return false;
  }
  return true;
}

void AppendLowerCase(std::string& out, std::string_view text) {
  const std::size_t begin = out.size();
  out.append(text);
  for (std::size_t i = begin; i < out.size(); ++i) out[i] = AsciiLower(out[i]);
}

void AppendValue(std::string& out, std::string_view value) {
  if (IsCanonical(value)) {
    out.append(value);
    return;
  }
  const std::size_t begin = out.size();
  bool blank_due = false;
  for (const char c : value) {
    if (IsBlank(c)) {
      blank_due = out.size() != begin;
      continue;
    }
    if (blank_due) out.push_back(' ');
    blank_due = false;
    out.push_back(c);
  }
}

}  // namespace

std::string CanonicalQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view piece = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    parameters.emplace_back(CanonicalComponent(piece.substr(0, equals)),
                            CanonicalComponent(piece.substr(std::min(equals + 1, piece.size()))));
  }
  std::sort(parameters.begin(), parameters.end());
  std::string out;
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out.push_back('&');
    out.append(name).append("=").append(value);
  }
  return out;
}

std::string CanonicalHeaderValue(std::string_view value) {
  std::string out;
  AppendValue(out, value);
  return out;
}

CanonicalHeaders CanonicalizeHeaders(const std::vector<http::Header>& headers) {
  std::vector<const http::Header*> sorted;
  sorted.reserve(headers.size());
  std::size_t name_bytes = 0;
  std::size_t bytes = 0;
  for (const http::Header& header : headers) {
    if (!IsSigned(header.name)) continue;
    sorted.push_back(&header);
    name_bytes += header.name.size() + 1;
    bytes += header.value.size() + 1;
  }
  std::sort(sorted.begin(), sorted.end(), ComesFirst);
  CanonicalHeaders out;
  out.names.reserve(name_bytes);
  out.lines.reserve(name_bytes + bytes);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const http::Header& header = *sorted[i];
    if (i > 0 && http::EqualsIgnoringCase(header.name, sorted[i - 1]->name)) {
      out.lines.back() = ',';  // Replaces the line end.
    } else {
      if (i > 0) out.names.push_back(';');
      AppendLowerCase(out.names, header.name);
      out.lines.append(out.names, out.names.size() - header.name.size()).push_back(':');
    }
    AppendValue(out.lines, header.value);
    out.lines.push_back('\n');
  }
  return out;
}

std::string CanonicalRequest(std::string_view method, std::string_view path,
                             std::string_view canonical_query, const CanonicalHeaders& headers,
                             std::string_view payload_hash) {
  std::string out;
  out.reserve(method.size() + path.size() + canonical_query.size() + headers.lines.size() +
              headers.names.size() + payload_hash.size() + 6);
  out.append(method).append("\n");
  out.append(path.empty() ? std::string_view("/") : path).append("\n");
  out.append(canonical_query).append("\n");
  out.append(headers.lines).append("\n");
  out.append(headers.names).append("\n");
  out.append(payload_hash);
  return out;
}

}  // namespace penstock::auth
