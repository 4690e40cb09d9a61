// Small text rules of the S3 wire as a server sees it: case, numbers, percent-encodings, UTF-8.
//
// Written from spec/protocol.md for the emulator alone; the client has its own (architecture §3).
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::emulator::s3 {

// ASCII only; other bytes compare as they are.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
bool StartsWithIgnoreCase(std::string_view text, std::string_view prefix);

// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);

// Decimal digits only, no sign, no blanks; nullopt when empty, malformed or over `limit`.
std::optional<std::uint64_t> ParseDecimal(std::string_view text, std::uint64_t limit = UINT64_MAX);

struct DecodeOptions {
  bool plus_is_space = false;
};
// nullopt when a '%' is not followed by two hex digits.
std::optional<std::string> PercentDecode(std::string_view text, DecodeOptions options);

// The encoding of `encoding-type=url` (spec §2.3, measured): space is '+', A-Z a-z 0-9 * - . _ /
// stay, the rest %XX.
std::string ListingEncode(std::string_view text);
void AppendListingEncoded(std::string& out, std::string_view text);

// RFC 3986 unreserved and '/' stay, the rest %XX: for Location URLs.
std::string PathEncode(std::string_view text);

// RFC 3986 unreserved stay, the rest %XX.
std::string PercentEncode(std::string_view text);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_TEXT_H_
