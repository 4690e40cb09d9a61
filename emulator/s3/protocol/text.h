// Text rules of the S3 protocol on the server side: case, numbers, percent-encoding.
//
// The emulator does not share this code with the client, so that one can test the other.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace penstock::emulator::s3 {

using penstock::EqualsIgnoreCase;
using penstock::TrimBlanks;
// Ignores the case of ASCII letters only.
bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix);

// Parses decimal digits without sign or blanks. Returns nullopt if `text` is empty, malformed or
// over `limit`.
std::optional<std::uint64_t> ParseDecimal(std::string_view text, std::uint64_t limit = UINT64_MAX);

struct DecodeOptions {
  bool plus_is_space = false;
};
// Returns nullopt if a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecode(std::string_view text, DecodeOptions options);

// The encoding of `encoding-type=url`, measured on Amazon S3: space becomes '+'; A-Z a-z 0-9 * - .
// _ / are kept; other bytes become %XX.
std::string ListingEncode(std::string_view text);
void AppendListingEncoded(std::string& out, std::string_view text);

// Keeps the unreserved characters of RFC 3986 and '/'; encodes other bytes as %XX. For paths
// in error messages.
std::string PathEncode(std::string_view text);

// Keeps the unreserved characters of RFC 3986; encodes other bytes as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_
