// One way into JSON: a string literal. For the logger; whoever reads or builds JSON documents uses
// a library.
#ifndef PENSTOCK_BASE_JSON_TEXT_H_
#define PENSTOCK_BASE_JSON_TEXT_H_

#include <string>
#include <string_view>

namespace penstock::internal {

// Appends `text` as a JSON string literal with its quotes. Bytes that are not UTF-8 become U+FFFD,
// one for each.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_JSON_TEXT_H_
