// Writes JSON string literals for the logger. Code that reads or writes JSON documents uses a
// library.
#ifndef PENSTOCK_BASE_TEXT_JSON_TEXT_H_
#define PENSTOCK_BASE_TEXT_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace penstock::internal {

// Appends `text` as a quoted JSON string literal. Each byte that is not part of valid UTF-8 becomes
// U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_TEXT_JSON_TEXT_H_
