#include "emulator/auth/signature/canonical.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/digest.h"
#include "base/encoding.h"

namespace penstock::emulator::auth {
namespace {

constexpr std::array<bool, 256> MakeUnreserved() {
  std::array<bool, 256> table{};
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  table['-'] = table['.'] = table['_'] = table['~'] = true;
  return table;
}
constexpr std::array<bool, 256> kUnreserved = MakeUnreserved();

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Recode {
  bool keep_slash = false;
  bool plus_is_space = false;
};

// Appends `raw`, decoded and encoded again. A '%' without two hex digits is kept as a character.
void AppendRecoded(std::string& out, std::string_view raw, Recode rule) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const std::size_t before = out.size();
  out.resize(before + 3 * raw.size());  // each byte becomes at most three
  char* to = out.data() + before;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    while (i < raw.size() && kUnreserved[static_cast<unsigned char>(raw[i])]) *to++ = raw[i++];
    if (i == raw.size()) break;
    auto byte = static_cast<unsigned char>(raw[i]);
    if (byte == '%' && i + 2 < raw.size() && HexValue(raw[i + 1]) >= 0 &&
        HexValue(raw[i + 2]) >= 0) {
      byte = static_cast<unsigned char>(HexValue(raw[i + 1]) * 16 + HexValue(raw[i + 2]));
      i += 2;
    } else if (byte == '+' && rule.plus_is_space) {
      byte = ' ';
    }
    if (kUnreserved[byte] || (byte == '/' && rule.keep_slash)) {
      *to++ = static_cast<char>(byte);
    } else {
      *to++ = '%';
      *to++ = kDigits[byte >> 4];
      *to++ = kDigits[byte & 15];
    }
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

// Whether encoding changes nothing: unreserved bytes, and upper-case encodings of others.
bool IsCanonical(std::string_view raw) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    while (i < raw.size() && kUnreserved[static_cast<unsigned char>(raw[i])]) ++i;
    if (i == raw.size()) break;
    if (raw[i] != '%' || raw.size() - i < 3) return false;
    const int high = HexValue(raw[i + 1]);
    const int low = HexValue(raw[i + 2]);
    if (high < 0 || low < 0 || raw[i + 1] > 'F' || raw[i + 2] > 'F') return false;
    if (kUnreserved[static_cast<unsigned char>(high * 16 + low)]) return false;
    i += 2;
  }
  return true;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Removes outer white space and replaces each inner run with one space.
void AppendFolded(std::string& out, std::string_view value) {
  bool pending = false;
  bool any = false;
  for (const char c : value) {
    if (IsBlank(c)) {
      pending = any;
      continue;
    }
    if (pending) out += ' ';
    pending = false;
    any = true;
    out += c;
  }
}

bool EqualsLower(std::string_view name, std::string_view lower) {
  if (name.size() != lower.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c =
        name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] + ('a' - 'A')) : name[i];
    if (c != lower[i]) return false;
  }
  return true;
}

void AppendHeader(std::string& out, const s3::RequestHead& head, std::string_view lower_name) {
  out += lower_name;
  out += ':';
  bool first = true;
  for (const s3::HeaderView& header : head.headers) {
    if (!EqualsLower(header.name, lower_name)) continue;
    if (!first) out += ',';
    first = false;
    AppendFolded(out, header.value);
  }
  out += '\n';
}

void AppendPath(std::string& out, std::string_view raw_path) {
  if (!raw_path.starts_with('/')) {
    const std::size_t authority = raw_path.find("://");
    if (authority != std::string_view::npos) {
      const std::size_t slash = raw_path.find('/', authority + 3);
      raw_path = slash == std::string_view::npos ? std::string_view("/") : raw_path.substr(slash);
    }
  }
  if (raw_path.empty()) out += '/';
  AppendRecoded(out, raw_path, {.keep_slash = true, .plus_is_space = true});
}

void AppendQuery(std::string& out, std::string_view raw_query, std::string_view leave_out) {
  if (raw_query.empty()) return;
  std::string encoded_leave_out;
  AppendRecoded(encoded_leave_out, leave_out, {});
  struct Pair {
    std::string_view name;
    std::string_view value;
    auto operator<=>(const Pair&) const = default;
  };
  std::vector<Pair> pairs;
  pairs.reserve(8);
  // Re-encoded text that pairs point into. It has its final capacity, so it never moves.
  std::string encoded;
  const std::size_t longest = 3 * raw_query.size();
  const auto recoded = [&encoded, longest](std::string_view raw) {
    if (IsCanonical(raw)) return raw;
    if (encoded.empty()) encoded.reserve(longest);
    const std::size_t begin = encoded.size();
    AppendRecoded(encoded, raw, {});
    return std::string_view(encoded).substr(begin);
  };
  while (!raw_query.empty()) {
    const std::size_t end = raw_query.find('&');
    const std::string_view piece = raw_query.substr(0, end);
    raw_query = end == std::string_view::npos ? std::string_view() : raw_query.substr(end + 1);
    if (piece.empty()) continue;
    const std::size_t equals = piece.find('=');
    Pair pair{recoded(piece.substr(0, equals)), {}};
    if (!leave_out.empty() && pair.name == encoded_leave_out) continue;
    if (equals != std::string_view::npos) pair.value = recoded(piece.substr(equals + 1));
    pairs.push_back(pair);
  }
  if (!std::is_sorted(pairs.begin(), pairs.end())) std::sort(pairs.begin(), pairs.end());
  for (const Pair& pair : pairs) {
    if (&pair != pairs.data()) out += '&';
    out.append(pair.name);
    out += '=';
    out.append(pair.value);
  }
}

}  // namespace

std::string CanonicalPath(std::string_view raw_path) {
  std::string out;
  AppendPath(out, raw_path);
  return out;
}

std::string CanonicalQuery(std::string_view raw_query, std::string_view leave_out) {
  std::string out;
  AppendQuery(out, raw_query, leave_out);
  return out;
}

std::string CanonicalRequest(const CanonicalInput& input) {
  std::string out;
  // Usually enough, and usually below 1 KiB: larger allocations take ten times as long.
  out.reserve(512 + input.raw_path.size() + input.raw_query.size());
  out += input.head.method;
  out += '\n';
  AppendPath(out, input.raw_path);
  out += '\n';
  AppendQuery(out, input.raw_query, input.query_leave_out);
  out += '\n';
  for (const std::string_view name : input.signed_headers) AppendHeader(out, input.head, name);
  out += '\n';
  for (std::size_t i = 0; i < input.signed_headers.size(); ++i) {
    if (i > 0) out += ';';
    out += input.signed_headers[i];
  }
  out += '\n';
  out += input.payload_hash;
  return out;
}

std::string StringToSign(std::string_view amz_date, std::string_view scope,
                         std::string_view canonical_request) {
  std::string out;
  out.reserve(160);
  out += "AWS4-HMAC-SHA256\n";
  out += amz_date;
  out += '\n';
  out += scope;
  out += '\n';
  out += HexEncode(Sha256(AsBytes(canonical_request)));
  return out;
}

}  // namespace penstock::emulator::auth
