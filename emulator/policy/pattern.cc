#include "emulator/policy/pattern.h"

#include <algorithm>
#include <cstddef>

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

bool IsSame(char16_t code, char byte, bool ignore_case) {
  const auto code_byte = static_cast<char>(static_cast<unsigned char>(code));
  if (code > 0xff) return false;
  return code_byte == byte || (ignore_case && AsciiLower(code_byte) == AsciiLower(byte));
}

bool MatchesCode(std::u16string_view code, std::string_view text, bool ignore_case) {
  std::size_t c = 0;
  std::size_t t = 0;
  // After a mismatch, the last '*' matches one byte more. Earlier ones need not change.
  std::size_t after_star = std::u16string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    if (c < code.size() && code[c] == kAnyCharacters) {
      after_star = ++c;
      retry = t;
    } else if (c < code.size() && code[c] == kAnyCharacter) {
      ++c;
      t = AfterCharacter(text, t);
    } else if (c < code.size() && IsSame(code[c], text[t], ignore_case)) {
      ++c;
      ++t;
    } else if (after_star != std::u16string_view::npos) {
      c = after_star;
      t = ++retry;
    } else {
      return false;
    }
  }
  return code.find_first_not_of(kAnyCharacters, c) == std::u16string_view::npos;
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

std::optional<std::u16string> Pattern::Code(const Context& context) const {
  std::u16string code;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kLiteral) {
      code += piece.code;
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
  if (pieces_.size() == 1 && pieces_.front().kind == Kind::kLiteral)
    return MatchesCode(pieces_.front().code, value, ignore_case);
  const auto code = Code(context);
  return code && MatchesCode(*code, value, ignore_case);
}

std::optional<std::string> Pattern::Expand(const Context& context) const {
  if (plain_) return text_;
  const auto code = Code(context);
  if (!code) return std::nullopt;
  std::string text;
  for (const char16_t each : *code) {
    text += each == kAnyCharacters  ? '*'
            : each == kAnyCharacter ? '?'
                                    : static_cast<char>(static_cast<unsigned char>(each));
  }
  return text;
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
