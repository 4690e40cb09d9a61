#include "emulator/api/strict.h"

#include <string>

#include "emulator/api/errors.h"
#include "emulator/api/operations.h"
#include "emulator/api/text.h"

namespace penstock::emulator::api {
namespace {

constexpr std::string_view kPrefix = "x-amz-";

// Without their "x-amz-". Those every request may carry first.
constexpr std::string_view kHeaders[] = {
    "date", "content-sha256", "security-token", "user-agent", "checksum-mode",
    // Integrity. Every checksum-* passes here: checksum_claims.cc knows their names.
    "sdk-checksum-algorithm", "checksum-algorithm", "checksum-type", "trailer", "decoded-content-length",
    // Who asks and who pays.
    "expected-bucket-owner", "source-expected-bucket-owner", "request-payer", "api-version",
    // What is stored. Values are checked where they are read.
    "acl", "storage-class", "server-side-encryption", "server-side-encryption-bucket-key-enabled", "tagging",
    "website-redirect-location",
    // Copies.
    "copy-source", "copy-source-range", "copy-source-if-match", "copy-source-if-none-match",
    "copy-source-if-modified-since", "copy-source-if-unmodified-since", "metadata-directive", "tagging-directive",
    // Single operations.
    "mp-object-size", "object-attributes", "max-parts", "part-number-marker", "optional-object-attributes",
    "object-ownership", "bucket-object-lock-enabled"};

// Query authentication's own parameters (spec §2.14), without their "X-Amz-".
constexpr std::string_view kPresign[] = {"algorithm", "credential", "expires", "signedheaders", "signature"};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  for (const std::string_view known : names) {
    if (known.size() == name.size() && EqualsIgnoreCase(known, name)) return true;
  }
  return false;
}

bool IsKnownHeader(std::string_view name) {
  const std::string_view rest = name.substr(kPrefix.size());
  return Contains(kHeaders, rest) || StartsWithIgnoreCase(rest, "meta-") || StartsWithIgnoreCase(rest, "checksum-");
}

}  // namespace

Result<void> RefuseUnknown(const RequestHead& request, const Target& target, bool presigned) {
  for (const HeaderView& header : request.headers) {
    if (StartsWithIgnoreCase(header.name, kPrefix) && !IsKnownHeader(header.name)) {
      return NotImplementedHeader(header.name);
    }
  }
  for (const QueryParameter& parameter : target.query) {
    if (presigned && StartsWithIgnoreCase(parameter.name, kPrefix)) {
      const std::string_view rest = std::string_view(parameter.name).substr(kPrefix.size());
      if (!Contains(kPresign, rest) && !IsKnownHeader(parameter.name)) return NotImplementedHeader(parameter.name);
    } else if (parameter.value.empty() && !IsKnownParameter(parameter.name)) {
      return NotImplemented("The sub-resource '" + parameter.name +
                            "' is not implemented; remove it from the query string");
    }
  }
  return Ok();
}

}  // namespace penstock::emulator::api
