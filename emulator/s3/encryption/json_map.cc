#include "emulator/s3/encryption/json_map.h"

#include "base/text/utf8.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// Each function below removes what it recognises from the start of `rest`.
void SkipBlanks(std::string_view& rest) {
  const auto first = rest.find_first_not_of(" \t\r\n");
  rest.remove_prefix(first == std::string_view::npos ? rest.size() : first);
}

bool Take(std::string_view& rest, char c) {
  SkipBlanks(rest);
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

bool TakeEscape(std::string_view& rest) {
  if (rest.empty()) return false;
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind != 'u') return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
  const bool hex = rest.size() >= 4 && rest.find_first_not_of("0123456789abcdefABCDEF") >= 4;
  if (hex) rest.remove_prefix(4);
  return hex;
}

bool TakeString(std::string_view& rest) {
  if (!Take(rest, '"')) return false;
  while (!rest.empty()) {
    const auto c = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c < 0x20) return false;
    if (c == '\\' && !TakeEscape(rest)) return false;
  }
  return false;
}

}  // namespace

bool IsJsonStringMap(std::string_view text) {
  if (!IsValidUtf8(text) || !Take(text, '{')) return false;
  if (!Take(text, '}')) {
    do {
      if (!TakeString(text) || !Take(text, ':') || !TakeString(text)) return false;
    } while (Take(text, ','));
    if (!Take(text, '}')) return false;
  }
  SkipBlanks(text);
  return text.empty();
}

}  // namespace penstock::emulator::s3
