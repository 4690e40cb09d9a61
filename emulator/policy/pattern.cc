#include "emulator/policy/pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"

namespace penstock::emulator::policy {
namespace {

// Codes above those of bytes.
constexpr char16_t kAnyCharacters = 0x100;
constexpr char16_t kAnyCharacter = 0x101;

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Returns the position after the character at `at`.
std::size_t AfterCharacter(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && IsContinuation(text[at])) ++at;
  return at;
}

using Code = std::u16string_view;
constexpr std::size_t kNoMatch = std::string_view::npos;

void Lower(std::u16string& code) {
  for (char16_t& each : code) {
    if (each <= 0xff) each = static_cast<unsigned char>(AsciiLower(static_cast<char>(each)));
  }
}

// Returns the position after the part, which matches at `at`, or kNoMatch. A part has no '*'.
std::size_t MatchPart(Code part, std::string_view text, std::size_t at) {
  for (const char16_t each : part) {
    if (at == text.size()) return kNoMatch;
    if (each != kAnyCharacter && each != static_cast<unsigned char>(text[at])) return kNoMatch;
    at = each == kAnyCharacter ? AfterCharacter(text, at) : at + 1;
  }
  return at;
}

// Finds a part with '?' by a search with one bit for each of its characters (Shift-And: R.
// Baeza-Yates and G. Gonnet, "A new approach to text searching", 1992).
class PartSearch {
 public:
  explicit PartSearch(Code part) : words_((part.size() + 63) / 64), part_(part) {
    steps_.resize(256 * words_);
    any_.resize(words_);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << (i % 64);
      (part[i] == kAnyCharacter ? any_[i / 64] : steps_[part[i] * words_ + i / 64]) |= bit;
    }
  }

  // Returns the end of the first match from `at`, or, with `at_end`, of the one that ends with the
  // text. kNoMatch: there is none.
  std::size_t Find(std::string_view text, std::size_t at, bool at_end) const {
    std::vector<std::uint64_t> state(words_);
    const std::uint64_t last = std::uint64_t{1} << ((part_.size() - 1) % 64);
    for (; at < text.size(); ++at) {
      Step(text[at], state);
      const bool ends =
          at + 1 == text.size() || !IsContinuation(text[at + 1]) || part_.back() != kAnyCharacter;
      if ((state.back() & last) != 0 && ends && (!at_end || at + 1 == text.size())) return at + 1;
    }
    return kNoMatch;
  }

 private:
  // A bit is set if the part matches up to its character, and ends at the current byte.
  void Step(char byte, std::vector<std::uint64_t>& state) const {
    const bool continues = IsContinuation(byte);
    const std::size_t steps = static_cast<unsigned char>(byte) * words_;
    std::uint64_t carry = 1;  // A match can begin at each byte.
    for (std::size_t i = 0; i < words_; ++i) {
      // '?' takes all bytes of its character.
      const std::uint64_t stays = continues ? state[i] & any_[i] : 0;
      const std::uint64_t moves = state[i] & ~stays;
      state[i] = (((moves << 1) | carry) & (steps_[steps + i] | any_[i])) | stays;
      carry = moves >> 63;
    }
  }

  std::size_t words_;
  Code part_;
  std::vector<std::uint64_t> steps_;  // For each byte, the characters of the part that are it.
  std::vector<std::uint64_t> any_;    // The characters that are '?'.
};

// Returns the end of a match of the part, as PartSearch::Find.
std::size_t FindPart(Code part, std::string_view text, std::size_t at, bool at_end) {
  if (part.empty()) return at_end ? text.size() : at;
  if (part.size() > text.size() - at) return kNoMatch;
  if (part.find(kAnyCharacter) != Code::npos) return PartSearch(part).Find(text, at, at_end);
  if (at_end) return MatchPart(part, text, text.size() - part.size());
  std::string bytes;
  for (const char16_t each : part) bytes += static_cast<char>(each);
  // Unlike std::string_view::find, it takes linear time.
  const void* const found =
      ::memmem(text.data() + at, text.size() - at, bytes.data(), bytes.size());
  if (found == nullptr) return kNoMatch;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + bytes.size();
}

// The first part matches at the beginning, the last one at the end, and each other one at the first
// place where it does.
bool MatchesCode(Code code, std::string_view text) {
  std::size_t star = code.find(kAnyCharacters);
  std::size_t at = MatchPart(code.substr(0, star), text, 0);
  if (star == Code::npos) return at == text.size();
  while (at != kNoMatch && star != Code::npos) {
    code.remove_prefix(star + 1);
    star = code.find(kAnyCharacters);
    at = FindPart(code.substr(0, star), text, at, star == Code::npos);
  }
  return at != kNoMatch;
}

bool MatchesCode(Code code, std::string_view text, bool ignore_case) {
  if (!ignore_case) return MatchesCode(code, text);
  std::u16string lower(code);
  Lower(lower);
  return MatchesCode(lower, AsciiLower(text));
}

void AppendBytes(std::string_view bytes, std::u16string& code) {
  for (const char byte : bytes) code += static_cast<unsigned char>(byte);
}

// Splits "aws:username, 'nobody'" into the key and the default.
std::pair<std::string_view, std::optional<std::string>> SplitVariable(std::string_view inside) {
  const auto comma = inside.find(',');
  if (comma == std::string_view::npos) return {TrimBlanks(inside), std::nullopt};
  std::string_view value = TrimBlanks(inside.substr(comma + 1));
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'')
    value = value.substr(1, value.size() - 2);
  return {TrimBlanks(inside.substr(0, comma)), std::string(value)};
}

}  // namespace

std::string ContextKey(std::string_view name) {
  const std::size_t slash = std::min(name.find('/'), name.size());
  return AsciiLower(name.substr(0, slash)) + std::string(name.substr(slash));
}

Pattern::Pattern(std::string_view text, Wildcards wildcards, Variables variables) : text_(text) {
  while (!text.empty()) {
    const std::size_t next =
        variables == Variables::kYes ? text.find("${") : std::string_view::npos;
    AddText(text.substr(0, next), wildcards);
    if (next == std::string_view::npos) break;
    text.remove_prefix(next);
    const std::size_t size = AddVariable(text);
    if (size == 0) AddText(text.substr(0, 2), wildcards);  // Without '}': two characters.
    text.remove_prefix(size == 0 ? 2 : size);
  }
}

void Pattern::AddText(std::string_view text, Wildcards wildcards) {
  if (text.empty()) return;
  if (pieces_.empty() || pieces_.back().kind != Kind::kLiteral)
    pieces_.push_back({Kind::kLiteral, {}, {}, {}});
  for (const char byte : text) {
    const bool is_wildcard = wildcards == Wildcards::kYes && (byte == '*' || byte == '?');
    plain_ = plain_ && !is_wildcard;
    if (plain_) ++prefix_;
    pieces_.back().code += !is_wildcard  ? static_cast<unsigned char>(byte)
                           : byte == '*' ? kAnyCharacters
                                         : kAnyCharacter;
  }
}

std::size_t Pattern::AddVariable(std::string_view text) {
  const auto end = text.find('}');
  if (end == std::string_view::npos) return 0;
  plain_ = false;
  const std::string_view inside = text.substr(2, end - 2);
  if (inside == "*" || inside == "?" || inside == "$") {
    AddText(inside, Wildcards::kNo);
  } else {
    auto [key, otherwise] = SplitVariable(inside);
    pieces_.push_back({Kind::kVariable, {}, ContextKey(key), std::move(otherwise)});
  }
  return end + 1;
}

std::optional<std::u16string> Pattern::CodeFor(const Context& context, std::size_t most) const {
  std::u16string code;
  std::size_t stars = 0;
  for (const Piece& piece : pieces_) {
    // A request chooses the values, so the result could be large. All but a '*' is at least a byte.
    if (code.size() - stars > most) return std::nullopt;
    if (piece.kind == Kind::kLiteral) {
      code += piece.code;
      stars += std::count(piece.code.begin(), piece.code.end(), kAnyCharacters);
      continue;
    }
    // A key with several values cannot be a variable (IAM User Guide, "Multivalued context keys").
    const auto values = context.Find(piece.key);
    const bool has_value = values && values->size() == 1;
    if (!has_value && !piece.otherwise) return std::nullopt;
    AppendBytes(has_value ? values->front() : *piece.otherwise, code);
  }
  return code;
}

bool Pattern::Matches(std::string_view value, const Context& context, Case letters) const {
  const bool ignore_case = letters == Case::kIgnored;
  if (plain_) return ignore_case ? EqualsIgnoreCase(text_, value) : text_ == value;
  if (!ignore_case && !value.starts_with(std::string_view(text_).substr(0, prefix_))) return false;
  if (pieces_.size() == 1 && pieces_.front().kind == Kind::kLiteral)
    return MatchesCode(pieces_.front().code, value, ignore_case);
  const auto code = CodeFor(context, value.size());
  return code && MatchesCode(*code, value, ignore_case);
}

bool Pattern::MatchesArn(std::string_view arn, const Context& context) const {
  const auto parts = SplitArn(arn);
  const auto code = CodeFor(context, arn.size());
  if (!parts || !code) return false;
  Code rest = *code;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const std::size_t colon = i + 1 < parts->size() ? rest.find(u':') : rest.size();
    if (colon == Code::npos || !MatchesCode(rest.substr(0, colon), (*parts)[i])) return false;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return true;
}

std::optional<std::vector<std::string_view>> SplitArn(std::string_view arn) {
  std::vector<std::string_view> parts;
  for (int i = 0; i < 5; ++i) {
    const auto colon = arn.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    parts.push_back(arn.substr(0, colon));
    arn.remove_prefix(colon + 1);
  }
  parts.push_back(arn);
  return parts;
}

}  // namespace penstock::emulator::policy
