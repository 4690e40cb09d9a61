// The optional white space (OWS, RFC 9110) around header values and list items.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_BLANKS_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_BLANKS_H_

#include <string_view>

namespace penstock::http {

// Returns `text` without leading and trailing spaces and tabs.
inline std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_BLANKS_H_
