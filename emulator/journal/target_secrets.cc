#include "emulator/journal/target_secrets.h"

#include <algorithm>
#include <array>

#include "base/text/redact.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::journal {
namespace {

constexpr std::string_view kMark = "***";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// A character of the text: literal, or percent-encoded one or more times ("%3D", "%253D").
struct Character {
  char value;
  std::size_t end;  // Start of the next character.
  bool encoded;
};

Character CharacterAt(std::string_view text, std::size_t at) {
  if (text[at] != '%') return {text[at], at + 1, false};
  std::size_t digits = at + 1;
  while (text.substr(digits, 2) == "25") digits += 2;
  if (digits + 1 < text.size() && HexDigit(text[digits]) >= 0 && HexDigit(text[digits + 1]) >= 0) {
    return {static_cast<char>(HexDigit(text[digits]) * 16 + HexDigit(text[digits + 1])), digits + 2,
            true};
  }
  return {'%', digits, digits > at + 1};
}

bool IsNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_';
}

// The end of the current name. Secret names are recognized by their suffix.
class NameTail {
 public:
  void Add(char c) {
    if (size_ == text_.size()) {
      std::copy(text_.begin() + kHalf, text_.end(), text_.begin());
      size_ = kHalf;
    }
    text_[size_++] = c;
  }
  void Clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  // The value of a credential parameter is an access key id and a scope. The journal records both,
  // and neither is secret.
  bool IsSecret() const {
    constexpr std::string_view kCredential = "credential";
    const std::string_view name(text_.data(), size_);
    if (!penstock::internal::NamesSecret(name)) return false;
    return name.size() < kCredential.size() ||
           !s3::EqualsIgnoreCase(name.substr(name.size() - kCredential.size()), kCredential);
  }

 private:
  static constexpr std::size_t kHalf = 64;
  std::array<char, 2 * kHalf> text_;
  std::size_t size_ = 0;
};

// Returns the end of the value that begins at `at`. After an encoded '=', an encoded '&' also ends
// it.
std::size_t EndOfValue(std::string_view text, std::size_t at, bool encoded) {
  while (at < text.size()) {
    const Character c = CharacterAt(text, at);
    const bool ends = c.value == '&' || c.value == ' ' || c.value == '\r' || c.value == '\n';
    if (ends && (encoded || !c.encoded)) return at;
    at = c.end;
  }
  return at;
}

// Copies a text into `scratch` with marks instead of secrets.
class Masking {
 public:
  Masking(std::string_view text, std::string& scratch) : text_(text), scratch_(scratch) {
    scratch_.clear();
  }

  std::string_view Run() {
    MaskUserInfo();
    NameTail name;
    bool ended = false;  // Only blanks and quotes followed the name.
    for (std::size_t at = kept_; at < text_.size();) {
      const Character c = CharacterAt(text_, at);
      at = c.end;
      if (IsNameCharacter(c.value)) {
        if (ended) name.Clear();
        ended = false;
        name.Add(c.value);
      } else if ((c.value == '=' || c.value == ':') && name.IsSecret()) {
        const std::size_t end = EndOfValue(text_, at, c.encoded);
        Mask(at, end);
        at = end;
        name.Clear();
      } else if (c.value == ' ' || c.value == '\t' || c.value == '"' || c.value == '\'') {
        ended = !name.empty();
      } else {
        name.Clear();
        ended = false;
      }
    }
    if (kept_ == 0) return text_;
    return scratch_.append(text_, kept_);
  }

 private:
  void Mask(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    scratch_.append(text_, kept_, begin - kept_).append(kMark);
    kept_ = end;
  }
  // Masks the user information of "http://user:password@host/".
  void MaskUserInfo() {
    const std::size_t scheme = text_.find("://");
    if (scheme == std::string_view::npos) return;
    const std::size_t begin = scheme + 3;
    const std::size_t at =
        text_.substr(begin, text_.find_first_of("/?#", begin) - begin).rfind('@');
    if (at != std::string_view::npos) Mask(begin, begin + at);
  }

  const std::string_view text_;
  std::string& scratch_;
  std::size_t kept_ = 0;  // Bytes of text_ that are already handled.
};

// Fast path, false for most texts: a name with a value needs one of these characters.
bool MayHaveSecret(std::string_view text) {
  const auto has = [text](char c) { return text.find(c) != std::string_view::npos; };
  return has('=') || has('%') || has(':');
}

}  // namespace

std::string_view WithoutSecrets(std::string_view text, std::string& scratch) {
  return MayHaveSecret(text) ? Masking(text, scratch).Run() : text;
}

std::string_view FreeTextWithoutSecrets(std::string_view text, std::string& scratch) {
  if (!MayHaveSecret(text)) return text;
  const std::string redacted = Redact(text);
  const std::string_view masked = Masking(redacted, scratch).Run();
  if (masked.data() == redacted.data()) scratch = redacted;
  return scratch;
}

}  // namespace penstock::emulator::journal
