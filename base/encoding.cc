#include "base/encoding.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr char kBase64Alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 0xFF;

using DecodeTable = std::array<std::uint8_t, 256>;

constexpr DecodeTable MakeHexTable() {
  DecodeTable table{};
  table.fill(kInvalid);
  for (int digit = 0; digit < 10; ++digit)
    table[static_cast<std::size_t>('0' + digit)] = static_cast<std::uint8_t>(digit);
  for (int digit = 10; digit < 16; ++digit) {
    table[static_cast<std::size_t>('a' + digit - 10)] = static_cast<std::uint8_t>(digit);
    table[static_cast<std::size_t>('A' + digit - 10)] = static_cast<std::uint8_t>(digit);
  }
  return table;
}

constexpr DecodeTable MakeBase64Table() {
  DecodeTable table{};
  table.fill(kInvalid);
  for (std::uint8_t value = 0; value < 64; ++value)
    table[static_cast<std::uint8_t>(kBase64Alphabet[value])] = value;
  return table;
}

constexpr std::array<std::array<char, 2>, 256> MakeHexPairs() {
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t byte = 0; byte < pairs.size(); ++byte)
    pairs[byte] = {kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  return pairs;
}

constexpr std::array<std::array<char, 2>, 256> kHexPairs = MakeHexPairs();
constexpr DecodeTable kHexValues = MakeHexTable();
constexpr DecodeTable kBase64Values = MakeBase64Table();

std::uint8_t HexValue(char c) { return kHexValues[static_cast<std::uint8_t>(c)]; }
std::uint32_t Base64Value(char c) { return kBase64Values[static_cast<std::uint8_t>(c)]; }
std::uint32_t AsNumber(std::byte b) { return std::to_integer<std::uint32_t>(b); }

// Encodes the last one or two bytes of a text whose length is not a multiple of three.
void EncodeBase64Tail(ByteView tail, char* to) {
  const std::uint32_t group =
      AsNumber(tail[0]) << 16 | (tail.size() > 1 ? AsNumber(tail[1]) << 8 : 0);
  to[0] = kBase64Alphabet[group >> 18];
  to[1] = kBase64Alphabet[group >> 12 & 63];
  to[2] = tail.size() > 1 ? kBase64Alphabet[group >> 6 & 63] : '=';
  to[3] = '=';
}

}  // namespace

std::string HexEncode(ByteView bytes) {
  std::string text(bytes.size() * 2, '\0');
  char* to = text.data();
  for (const std::byte b : bytes) {
    const std::array<char, 2>& digits = kHexPairs[AsNumber(b)];
    to[0] = digits[0];
    to[1] = digits[1];
    to += 2;
  }
  return text;
}

std::optional<std::string> HexDecode(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes(text.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint8_t high = HexValue(text[2 * i]);
    const std::uint8_t low = HexValue(text[2 * i + 1]);
    if (high == kInvalid || low == kInvalid) return std::nullopt;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string Base64Encode(ByteView bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  char* to = text.data();
  while (bytes.size() >= 3) {
    const std::uint32_t group =
        AsNumber(bytes[0]) << 16 | AsNumber(bytes[1]) << 8 | AsNumber(bytes[2]);
    to[0] = kBase64Alphabet[group >> 18];
    to[1] = kBase64Alphabet[group >> 12 & 63];
    to[2] = kBase64Alphabet[group >> 6 & 63];
    to[3] = kBase64Alphabet[group & 63];
    to += 4;
    bytes = bytes.subspan(3);
  }
  if (!bytes.empty()) EncodeBase64Tail(bytes, to);
  return text;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes(text.size() / 4 * 3 - padding, '\0');

  std::uint32_t group = 0;
  std::uint32_t invalid = 0;
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size() - padding; ++i) {
    const std::uint32_t value = Base64Value(text[i]);
    invalid |= value & 0x80;  // only kInvalid has this bit
    group = group << 6 | (value & 63);
    if (i % 4 == 3) {
      bytes[written++] = static_cast<char>(group >> 16);
      bytes[written++] = static_cast<char>(group >> 8);
      bytes[written++] = static_cast<char>(group);
      group = 0;
    }
  }
  if (invalid != 0) return std::nullopt;

  // A short last group has 4 or 2 unused bits. They must be zero: otherwise one value would have
  // several encodings.
  if (padding == 1) {
    if ((group & 3) != 0) return std::nullopt;
    bytes[written++] = static_cast<char>(group >> 10);
    bytes[written++] = static_cast<char>(group >> 2);
  } else if (padding == 2) {
    if ((group & 15) != 0) return std::nullopt;
    bytes[written++] = static_cast<char>(group >> 4);
  }
  return bytes;
}

}  // namespace penstock
