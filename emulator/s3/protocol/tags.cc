#include "emulator/s3/protocol/tags.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/text/utf8.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxTags = 10;
constexpr std::size_t kMaxBucketTags = 50;

// The C library's tables of Unicode classes. Null if it has none; then all non-ASCII characters are
// accepted.
locale_t UnicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

// \p{Z}: spaces and separators.
bool IsSeparator(char32_t c) {
  return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool IsTagCharacter(char32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(" _.:/=+-@").find(static_cast<char>(c)) != std::string_view::npos;
  }
  const locale_t locale = UnicodeLocale();
  return locale == nullptr || IsSeparator(c) || iswalnum_l(static_cast<wint_t>(c), locale) != 0;
}

// [\p{L}\p{Z}\p{N}_.:/=+\-@] (Amazon S3 User Guide, "Categorizing your objects using tags"). Also
// accepts combining marks of letters.
bool HasTagCharacters(std::string_view text) {
  if (!IsValidUtf8(text)) return false;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    char32_t c = more == 0 ? lead : lead & (0x3Fu >> more);
    for (std::size_t k = 1; k <= more; ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    if (!IsTagCharacter(c)) return false;
    i += more + 1;
  }
  return true;
}

// Recorded against Amazon S3: TagKey is always present, TagValue only if the value is invalid.
Error InvalidTag(std::string message, std::string_view key) {
  return MakeError("InvalidTag", {{"TagKey", std::string(key)}}, std::move(message));
}

Result<void> CheckTag(std::string_view key, std::string_view value) {
  if (key.empty() || CountCharacters(key) > kMaxTagKeyCharacters || !HasTagCharacters(key)) {
    return InvalidTag("The TagKey you have provided is invalid", key);
  }
  if (CountCharacters(value) > kMaxTagValueCharacters || !HasTagCharacters(value)) {
    return MakeError("InvalidTag", {{"TagKey", std::string(key)}, {"TagValue", std::string(value)}},
                     "The TagValue you have provided is invalid");
  }
  return Ok();
}

// Returns a key that an earlier tag has, or null.
const std::string* FindDuplicate(const store::Attributes& tags) {
  for (auto tag = tags.begin(); tag != tags.end(); ++tag) {
    if (std::any_of(tags.begin(), tag,
                    [&](const auto& earlier) { return earlier.first == tag->first; }))
      return &tag->first;
  }
  return nullptr;
}

Result<void> RefuseDuplicate(const store::Attributes& tags) {
  const std::string* key = FindDuplicate(tags);
  return key == nullptr ? Ok() : InvalidTag("Cannot provide multiple Tags with the same key", *key);
}

Result<void> CheckTags(const store::Attributes& tags) {
  if (tags.size() > kMaxTags) {
    return MakeError("BadRequest", {},
                     "Object tags cannot be greater than " + std::to_string(kMaxTags));
  }
  for (const auto& [key, value] : tags) {
    if (key.starts_with("aws:")) return InvalidTag("Your TagKey cannot be prefixed with aws:", key);
    PENSTOCK_TRY(CheckTag(key, value));
  }
  return Ok();
}

}  // namespace

std::size_t CountCharacters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

store::Attributes TagsOf(const Element* tag_set) {
  store::Attributes tags;
  if (tag_set == nullptr) return tags;
  for (const Element& tag : tag_set->children)
    tags.emplace_back(tag.TextOf("Key"), tag.TextOf("Value"));
  return tags;
}

Result<void> CheckBucketTags(const store::Attributes& tags, BucketTagging request) {
  PENSTOCK_TRY(RefuseDuplicate(tags));
  if (tags.size() > kMaxBucketTags)
    return MakeError("BadRequest", {}, "Bucket tag count cannot be greater than 50");
  for (const auto& [key, value] : tags) {
    if (key.starts_with("aws:")) {
      if (request == BucketTagging::kPut)
        return InvalidTag("System tags cannot be added/updated by requester", key);
      // Recorded against Amazon S3 by LocalStack: without TagKey.
      return MakeError(
          "InvalidTag", {},
          "User-defined tag keys can't start with \"aws:\". This prefix is reserved for "
          "system tags. Remove \"aws:\" from your tag keys and try again.");
    }
    PENSTOCK_TRY(CheckTag(key, value));
  }
  return Ok();
}

std::optional<std::string_view> FindTag(const store::Attributes& tags, std::string_view key) {
  for (const auto& [name, value] : tags) {
    if (name == key) return value;
  }
  for (const auto& [name, value] : tags) {
    if (EqualsIgnoreCase(name, key)) return value;
  }
  return std::nullopt;
}

Result<store::Attributes> ParseTagHeader(std::string_view value) {
  const auto malformed = [&] {
    return InvalidArgument(
        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters "
        "without tag name "
        "duplicates.",
        "x-amz-tagging", value);
  };
  store::Attributes tags;
  std::string_view rest = value;
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const std::string_view piece = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (piece.empty()) continue;
    const auto equals = piece.find('=');
    // Recorded against Amazon S3: "k1=v1,k2=v2" is malformed. In a value, '=' is written as %3D.
    if (equals != piece.rfind('=')) return malformed();
    auto key = PercentDecode(piece.substr(0, equals), {.plus_is_space = true});
    auto text = equals == std::string_view::npos
                    ? std::string()
                    : PercentDecode(piece.substr(equals + 1), {.plus_is_space = true});
    if (!key || !text || key->empty() || !IsValidUtf8(*key) || !IsValidUtf8(*text))
      return malformed();
    tags.emplace_back(std::move(*key), std::move(*text));
  }
  if (FindDuplicate(tags) != nullptr) return malformed();
  PENSTOCK_TRY(CheckTags(tags));
  return tags;
}

Result<store::Attributes> ParseTagDocument(std::string_view text) {
  PENSTOCK_ASSIGN(const Element document, ReadBySchema(text, kTaggingSchema));
  store::Attributes tags = TagsOf(document.Find("TagSet"));
  PENSTOCK_TRY(RefuseDuplicate(tags));
  PENSTOCK_TRY(CheckTags(tags));
  return tags;
}

std::string TagDocument(const store::Attributes& tags) {
  XmlWriter xml;
  xml.Open("Tagging", kXmlNamespace);
  xml.Open("TagSet");
  for (const auto& [key, value] : tags) {
    xml.Open("Tag");
    xml.Element("Key", key);
    xml.Element("Value", value);
    xml.Close("Tag");
  }
  xml.Close("TagSet");
  xml.Close("Tagging");
  return xml.Take();
}

}  // namespace penstock::emulator::s3
