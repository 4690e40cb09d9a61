#include "emulator/s3/objects/overrides.h"

#include <string>
#include <utility>

#include "emulator/s3/protocol/encoded_words.h"
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

}  // namespace

Result<store::Attributes> ReadOverrides(const Call& call) {
  store::Attributes overrides;
  if (call.exchange.target.query.empty()) return overrides;
  for (const Override& entry : kOverrides) {
    const auto value = call.Query(entry.parameter);
    if (!value) continue;
    Latin1Text latin1 = Utf8ToLatin1(*value);
    if (!latin1.exact || HasControlCharacter(*value) || value->find('\t') != std::string::npos) {
      return InvalidArgument("Header value cannot be represented using ISO-8859-1.",
                             entry.parameter, *value);
    }
    overrides.emplace_back(entry.header, std::move(latin1.text));
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
