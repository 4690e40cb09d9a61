#include "emulator/s3/protocol/text.h"

#include <algorithm>

#include "base/ascii.h"

namespace penstock::emulator::s3 {
namespace {

constexpr int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void AppendPercent(std::string& out, char c) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

std::string EncodeAllBut(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size() + 8);
  for (const char c : text) {
    if (IsAlphanumeric(c) || kept.find(c) != std::string_view::npos) {
      out += c;
    } else {
      AppendPercent(out, c);
    }
  }
  return out;
}

}  // namespace

bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && EqualsIgnoreCase(text.substr(0, prefix.size()), prefix);
}

std::optional<std::uint64_t> ParseDecimal(std::string_view text, std::uint64_t limit) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (limit - std::min(limit, digit)) / 10) return std::nullopt;
    value = value * 10 + digit;
    if (value > limit) return std::nullopt;
  }
  return value;
}

std::optional<std::string> PercentDecode(std::string_view text, DecodeOptions options) {
  std::string out(text);  // Decoded in place: the result is never longer.
  std::size_t from = out.find('%');
  if (options.plus_is_space) from = std::min(from, out.find('+'));
  if (from == std::string::npos) return out;
  char* to = out.data() + from;
  const char* const end = out.data() + out.size();
  for (const char* at = to; at != end; ++at) {
    if (*at == '%') {
      if (end - at < 3) return std::nullopt;
      const int high = HexValue(at[1]);
      const int low = HexValue(at[2]);
      if (high < 0 || low < 0) return std::nullopt;
      *to++ = static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      *to++ = *at == '+' && options.plus_is_space ? ' ' : *at;
    }
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return out;
}

std::string ListingEncode(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 8);
  AppendListingEncoded(out, text);
  return out;
}

void AppendListingEncoded(std::string& out, std::string_view text) {
  std::size_t run = 0;  // Start of the text that is not appended yet.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsAlphanumeric(c) || c == '*' || c == '-' || c == '.' || c == '_' || c == '/') continue;
    out.append(text, run, i - run);
    run = i + 1;
    if (c == ' ') {
      out += '+';
    } else {
      AppendPercent(out, c);
    }
  }
  out.append(text, run, text.size() - run);
}

std::string PathEncode(std::string_view text) { return EncodeAllBut(text, "-._~/"); }

std::string PercentEncode(std::string_view text) { return EncodeAllBut(text, "-._~"); }

}  // namespace penstock::emulator::s3
