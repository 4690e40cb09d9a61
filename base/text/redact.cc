#include "base/text/redact.h"

#include <cstddef>

#include "base/ascii.h"
#include "base/encoding.h"

namespace penstock {
namespace {

// Endings of names, lower-case, without '-' and '_'. "customerkey" is the SSE-C key and not its
// MD5. The two canonical forms are in S3's SignatureDoesNotMatch document and contain every signed
// header.
constexpr std::string_view kSecretEndings[] = {
    "authorization", "signature",    "signatureprovided", "credential",
    "securitytoken", "sessiontoken", "secretkey",         "secretaccesskey",
    "customerkey",   "bearertoken",  "metadatatoken",     "accesstoken",
    "identitytoken", "password",     "canonicalrequest",  "canonicalrequestbytes",
};
constexpr std::string_view kReplacement = "***";

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsNameCharacter(char c) { return IsAlphanumeric(c) || c == '-' || c == '_'; }

bool EndsWith(std::string_view name, std::string_view ending) {
  while (!ending.empty()) {
    while (!name.empty() && (name.back() == '-' || name.back() == '_')) name.remove_suffix(1);
    if (name.empty() || AsciiLower(name.back()) != ending.back()) return false;
    name.remove_suffix(1);
    ending.remove_suffix(1);
  }
  return true;
}

std::size_t FindFrom(std::string_view text, std::string_view any_of, std::size_t from) {
  const std::size_t at = text.find_first_of(any_of, from);
  return at == std::string_view::npos ? text.size() : at;
}

std::size_t SkipAny(std::string_view text, std::string_view any_of, std::size_t from) {
  const std::size_t at = text.find_first_not_of(any_of, from);
  return at == std::string_view::npos ? text.size() : at;
}

// Half-open part of the text.
struct Span {
  std::size_t begin;
  std::size_t end;
};

// Returns true if an opening bracket precedes the name or its prefix ("ns:"). Looks back at most
// kMaxPrefixBytes.
bool IsElementName(std::string_view text, std::size_t name_begin) {
  constexpr std::size_t kMaxPrefixBytes = 64;
  const std::size_t from = name_begin > kMaxPrefixBytes ? name_begin - kMaxPrefixBytes : 0;
  const std::string_view before = text.substr(from, name_begin - from);
  const std::size_t last = before.find_last_of("<>/ \t\r\n\"'=&");
  return last != std::string_view::npos && before[last] == '<';
}

// Finds the value in <Name>value< and <p:Name a="b">value<.
Span XmlValue(std::string_view text, std::size_t name_end) {
  const std::size_t close = FindFrom(text, "<>", name_end);
  if (close == text.size() || text[close] == '<') return {name_end, name_end};
  return {close + 1, FindFrom(text, "<", close + 1)};
}

// Returns the text between an opening quote and its closing quote. A backslash escapes the next
// character.
Span QuotedValue(std::string_view text, std::size_t quote) {
  std::size_t at = quote + 1;
  while (at < text.size() && text[at] != text[quote]) at += text[at] == '\\' ? 2 : 1;
  return {quote + 1, at < text.size() ? at : text.size()};
}

// Finds the value in: name=value, name: value, "name": "value", name%3Dvalue. Empty if no separator
// follows.
Span AssignedValue(std::string_view text, std::string_view name, std::size_t name_end) {
  std::size_t at = SkipAny(text, " \t\"'\\", name_end);
  const std::string_view rest = text.substr(at);
  // The value of Authorization contains spaces and commas in every form.
  bool to_end_of_line = EndsWith(name, "authorization");
  if (rest.starts_with(":") || rest.starts_with("=")) {
    to_end_of_line |= rest.front() == ':';
    ++at;
  } else if (rest.starts_with("%3D") || rest.starts_with("%3d") || rest.starts_with("%3A") ||
             rest.starts_with("%3a") || rest.starts_with("%22%3A") || rest.starts_with("%22%3a")) {
    at += rest.starts_with("%22") ? 6 : 3;
  } else {
    return {name_end, name_end};
  }
  at = SkipAny(text, " \t", at);
  if (text.substr(at).starts_with("\\\"")) ++at;  // JSON within JSON
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) return QuotedValue(text, at);
  return {at, FindFrom(text, to_end_of_line ? "\r\n" : " \t\r\n&,;\"'<>(){}[]", at)};
}

// Returns the part of scheme://user:password@host before the '@'.
Span UserInfo(std::string_view text, std::size_t authority) {
  const std::size_t end = FindFrom(text, "/?# \t\r\n\"'<>", authority);
  const std::size_t at = text.substr(authority, end - authority).rfind('@');
  return {authority, at == std::string_view::npos ? authority : authority + at};
}

// Returns the end of `secret` at this position, or npos if it is not there.
std::size_t EndOfSecret(std::string_view text, std::size_t at, std::string_view secret) {
  for (const char c : secret) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with('%') && HexDecode(rest.substr(1, 2)) == std::string_view(&c, 1)) {
      at += 3;
    } else if (rest.starts_with(c)) {
      ++at;
    } else {
      return std::string_view::npos;
    }
  }
  return at;
}

bool StandsAlone(std::string_view text, Span part) {
  return (part.begin == 0 || !IsAlphanumeric(text[part.begin - 1])) &&
         (part.end == text.size() || !IsAlphanumeric(text[part.end]));
}

}  // namespace

namespace internal {

bool NamesSecret(std::string_view name) {
  for (const std::string_view ending : kSecretEndings) {
    if (EndsWith(name, ending)) return true;
  }
  // Container and instance credentials use "Token". "next-token" is not a secret.
  return name.size() == 5 && EndsWith(name, "token");
}

void RedactValue(std::string& text, std::string_view secret) {
  constexpr std::size_t kShortestPartOfAWord = 8;
  if (secret.empty()) return;
  const bool anywhere = secret.size() >= kShortestPartOfAWord;
  const char first[] = {secret.front(), '%'};
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = text.find_first_of(first, 0, 2); at != std::string::npos;
       at = text.find_first_of(first, at, 2)) {
    const std::size_t end = EndOfSecret(text, at, secret);
    if (end == std::string::npos || !(anywhere || StandsAlone(text, {at, end}))) {
      ++at;
      continue;
    }
    out.append(text, copied, at - copied).append(kReplacement);
    copied = at = end;
  }
  if (copied != 0) text = out.append(text, copied);
}

}  // namespace internal

// Finds every name of a secret in the text and drops the value that follows it. In doubt it
// drops more, because a leaked key is worse than a lost log detail.
std::string Redact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  const auto drop = [&](Span value) {
    if (value.begin == value.end) return;
    out.append(text, copied, value.begin - copied).append(kReplacement);
    copied = value.end;
  };

  std::size_t at = 0;
  while (at < text.size()) {
    if (text.substr(at).starts_with("://")) {
      drop(UserInfo(text, at + 3));
      at = copied > at ? copied : at + 3;
      continue;
    }
    if (!IsNameCharacter(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (internal::NamesSecret(name)) {
      Span value = IsElementName(text, at) ? XmlValue(text, end) : Span{end, end};
      if (value.begin == value.end) value = AssignedValue(text, name, end);
      drop(value);
    }
    at = copied > end ? copied : end;
  }
  return out.append(text, copied, text.size() - copied);
}

}  // namespace penstock
