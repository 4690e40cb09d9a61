// ASCII-only case conversion, comparison and trimming. Other bytes are unchanged.
#ifndef PENSTOCK_BASE_ASCII_H_
#define PENSTOCK_BASE_ASCII_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace penstock {

constexpr char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = AsciiLower(c);
  return lower;
}

inline bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return x == y || AsciiLower(x) == AsciiLower(y);
         });
}

// Returns `text` without leading and trailing spaces and tabs: the optional white space (OWS, RFC
// 9110) around header values and list items.
inline std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace penstock

#endif  // PENSTOCK_BASE_ASCII_H_
