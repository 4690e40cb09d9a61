#include "client/auth/canonical.h"

#include <algorithm>
#include <array>
#include <utility>

#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr std::array<std::string_view, 6> kUnsignedHeaders = {"authorization",     "connection", "expect",
                                                              "transfer-encoding", "user-agent", "x-amzn-trace-id"};

std::string CanonicalComponent(std::string_view text) {
  return http::EncodeQuery(http::DecodePercent(text).value_or(std::string(text)));
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
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
  out.reserve(value.size());
  bool blank_due = false;
  for (const char c : value) {
    if (IsBlank(c)) {
      blank_due = !out.empty();
      continue;
    }
    if (blank_due) out.push_back(' ');
    blank_due = false;
    out.push_back(c);
  }
  return out;
}

CanonicalHeaders CanonicalizeHeaders(const std::vector<http::Header>& headers) {
  std::vector<std::pair<std::string, const std::string*>> sorted;
  sorted.reserve(headers.size());
  for (const http::Header& header : headers) {
    std::string name = ToLower(header.name);
    if (std::find(kUnsignedHeaders.begin(), kUnsignedHeaders.end(), name) != kUnsignedHeaders.end()) continue;
    sorted.emplace_back(std::move(name), &header.value);
  }
  // Stable: values of one name keep their order on the wire.
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  CanonicalHeaders out;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, value] = sorted[i];
    if (i > 0 && name == sorted[i - 1].first) {
      out.lines.back() = ',';  // in place of the line end
    } else {
      if (i > 0) out.names.push_back(';');
      out.names.append(name);
      out.lines.append(name).push_back(':');
    }
    out.lines.append(CanonicalHeaderValue(*value)).push_back('\n');
  }
  return out;
}

std::string CanonicalRequest(std::string_view method, std::string_view path, std::string_view canonical_query,
                             const CanonicalHeaders& headers, std::string_view payload_hash) {
  std::string out;
  out.reserve(method.size() + path.size() + canonical_query.size() + headers.lines.size() + headers.names.size() +
              payload_hash.size() + 6);
  out.append(method).append("\n");
  out.append(path.empty() ? std::string_view("/") : path).append("\n");
  out.append(canonical_query).append("\n");
  out.append(headers.lines).append("\n");
  out.append(headers.names).append("\n");
  out.append(payload_hash);
  return out;
}

}  // namespace penstock::auth
