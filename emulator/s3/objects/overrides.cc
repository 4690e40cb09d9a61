#include "emulator/s3/objects/overrides.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text/utf8.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

struct Override {
  std::string_view parameter;
  std::string_view header;
};
constexpr Override kOverrides[] = {
    {"response-content-type", "Content-Type"},
    {"response-content-language", "Content-Language"},
    {"response-expires", "Expires"},
    {"response-cache-control", "Cache-Control"},
    {"response-content-disposition", "Content-Disposition"},
    {"response-content-encoding", "Content-Encoding"},
};

// Header values are ISO-8859-1. Converts UTF-8 to it, or returns nullopt if that is not possible.
std::optional<std::string> ToLatin1(std::string_view text) {
  if (IsAscii(text)) return std::string(text);
  if (!IsValidUtf8(text)) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out += text[i];
    } else if (byte <= 0xC3) {
      out += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace

Result<store::Attributes> ReadOverrides(const Call& call) {
  store::Attributes overrides;
  if (call.exchange.target.query.empty()) return overrides;
  for (const Override& entry : kOverrides) {
    const auto value = call.Query(entry.parameter);
    if (!value) continue;
    auto latin1 = ToLatin1(*value);
    if (!latin1 || HasControl(*value)) {
      return InvalidArgument("Header value cannot be represented using ISO-8859-1.",
                             entry.parameter, *value);
    }
    overrides.emplace_back(entry.header, std::move(*latin1));
  }
  return overrides;
}

Result<void> RefuseAnonymousOverrides(const Call& call) {
  if (!call.exchange.identity.anonymous()) return Ok();
  for (const Override& entry : kOverrides) {
    if (call.Query(entry.parameter)) {
      return InvalidRequest(
          "Request specific response headers cannot be used for anonymous GET requests.");
    }
  }
  return Ok();
}

}  // namespace penstock::emulator::s3
