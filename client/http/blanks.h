// The optional whitespace around header values and list items (RFC 9110, OWS).
#ifndef PENSTOCK_CLIENT_HTTP_BLANKS_H_
#define PENSTOCK_CLIENT_HTTP_BLANKS_H_

#include <string_view>

namespace penstock::http {

// Without spaces and tabs at its ends.
inline std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_BLANKS_H_
