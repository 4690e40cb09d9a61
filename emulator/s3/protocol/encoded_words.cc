#include "emulator/s3/protocol/encoded_words.h"

#include <algorithm>
#include <optional>

#include "base/encoding.h"
#include "base/text/utf8.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kBegin = "=?";
constexpr std::string_view kEnd = "?=";

// Decodes the "Q" encoding of RFC 2047: '_' is a space, '=XX' a byte. Converts it to
// percent-encoding, which has the same form.
std::optional<std::string> DecodeQ(std::string_view text) {
  std::string percent;
  for (const char c : text) {
    if (c == '%') {
      percent += "%25";
    } else {
      percent += c == '=' ? '%' : c == '_' ? ' ' : c;
    }
  }
  return PercentDecode(percent, {});
}

struct Word {
  std::size_t bytes = 0;  // Size of the encoded word.
  std::string text;
};

// Parses the encoded word "=?charset?B|Q?text?=" at the start of `value`. Returns nullopt if there
// is none.
std::optional<Word> WordAt(std::string_view value) {
  if (!value.starts_with(kBegin)) return std::nullopt;
  const auto charset_end = value.find('?', kBegin.size());
  if (charset_end == std::string_view::npos || charset_end + 3 > value.size() ||
      value[charset_end + 2] != '?') {
    return std::nullopt;
  }
  const auto begin = charset_end + 3;
  const auto end = value.find(kEnd, begin);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = value.substr(begin, end - begin);
  std::optional<std::string> decoded;
  switch (value[charset_end + 1]) {
    case 'B':
    case 'b': decoded = Base64Decode(text); break;
    case 'Q':
    case 'q': decoded = DecodeQ(text); break;
    default: break;
  }
  if (!decoded) return std::nullopt;
  return Word{end + kEnd.size(), std::move(*decoded)};
}

// Replaces every encoded word with its text. Returns nullopt if there is none. White space between
// two encoded words is removed (RFC 2047, section 6.2).
std::optional<std::string> DecodeWords(std::string_view value) {
  std::string out;
  std::size_t after_word = std::string::npos;  // Where in `out` the last word ended.
  for (std::size_t at = 0; at < value.size();) {
    const auto word = WordAt(value.substr(at));
    if (!word) {
      out += value[at++];
      continue;
    }
    if (after_word != std::string::npos &&
        TrimBlanks(std::string_view(out).substr(after_word)).empty())
      out.resize(after_word);
    out += word->text;
    after_word = out.size();
    at += word->bytes;
  }
  return after_word == std::string::npos ? std::nullopt
                                         : std::optional<std::string>(std::move(out));
}

std::string Latin1ToUtf8(std::string_view latin1) {
  std::string utf8;
  for (const char c : latin1) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      utf8 += c;
    } else {
      utf8 += static_cast<char>(0xC0 | byte >> 6);
      utf8 += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return utf8;
}

}  // namespace

std::string Base64Word(std::string_view utf8) {
  return "=?UTF-8?B?" + Base64Encode(AsBytes(utf8)) + "?=";
}

std::string NormaliseMetadataValue(std::string_view value) {
  if (!IsAscii(value)) return Base64Word(Latin1ToUtf8(value));
  if (value.find(kBegin) == std::string_view::npos) return std::string(value);
  auto decoded = DecodeWords(value);
  if (!decoded || !IsAscii(*decoded)) return std::string(value);
  // A decoded line break would split the response header.
  return HasControlCharacter(*decoded) ? Base64Word(*decoded) : std::move(*decoded);
}

std::string EncodeMetadataText(std::string_view utf8) {
  const auto plain = [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; };
  const auto plain_count = std::count_if(utf8.begin(), utf8.end(), plain);
  if (static_cast<std::size_t>(plain_count) == utf8.size()) return std::string(utf8);
  if (IsAscii(utf8)) return Base64Word(utf8);  // Control characters.
  // Counts non-ASCII characters, not their bytes.
  const auto other_count = std::count_if(utf8.begin(), utf8.end(), [&](char c) {
    return !plain(c) && (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  if (plain_count <= other_count) return Base64Word(utf8);
  std::string word = "=?UTF-8?Q?";
  for (const char c : utf8) {
    const bool literal = plain(c) && std::string_view("\t=_?\"#$&'(),:;<>@[\\]^`{|}~").find(c) ==
                                         std::string_view::npos;
    if (c == ' ') {
      word += '_';
    } else if (literal) {
      word += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      word.append({'=', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return word + "?=";
}

std::size_t DecodedBytes(std::string_view stored) {
  if (stored.find(kBegin) == std::string_view::npos) return stored.size();
  const auto decoded = DecodeWords(stored);
  return decoded ? decoded->size() : stored.size();
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7F; });
}

Latin1Text Utf8ToLatin1(std::string_view utf8) {
  if (IsAscii(utf8)) return {std::string(utf8)};
  Latin1Text latin1;
  const std::string repaired = ReplaceIllFormedUtf8(utf8);
  for (std::size_t at = 0; at < repaired.size(); ++at) {
    const auto byte = static_cast<unsigned char>(repaired[at]);
    if (byte < 0x80) {
      latin1.text += repaired[at];
    } else if (byte <= 0xC3) {
      const auto next = static_cast<unsigned char>(repaired[++at]);
      latin1.text += static_cast<char>((byte & 0x03) << 6 | (next & 0x3F));
    } else {
      latin1.exact = false;
      latin1.text += ' ';
      at += byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    }
  }
  return latin1;
}

}  // namespace penstock::emulator::s3
