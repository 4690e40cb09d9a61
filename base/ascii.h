// ASCII-only case conversion and comparison. Bytes outside A-Z are unchanged.
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

}  // namespace penstock

#endif  // PENSTOCK_BASE_ASCII_H_
