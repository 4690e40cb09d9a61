// Strings of policies: literals, wildcards and policy variables.
#ifndef PENSTOCK_EMULATOR_POLICY_PATTERN_H_
#define PENSTOCK_EMULATOR_POLICY_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::emulator::policy {

// The condition keys of a request. A key's name is in lower case; the key of a tag, after the first
// '/', is as the policy has it. Keys of a request are looked up when a policy names them.
class Context {
 public:
  using Values = std::vector<std::string>;
  virtual ~Context() = default;
  // Returns nullopt if the request does not have the key.
  virtual std::optional<Values> Find(std::string_view key) const = 0;
};

// Returns `name` in the form in which Context receives it.
std::string ContextKey(std::string_view name);

// A text of a policy. '*' matches any characters, '?' one character (of UTF-8), and "${key}" the
// value of a condition key, with an optional default: "${aws:username, 'nobody'}". "${*}", "${?}"
// and "${$}" are the characters themselves (IAM User Guide, "IAM policy elements: Variables and
// tags").
class Pattern {
 public:
  enum class Wildcards : std::uint8_t { kNo, kYes };
  enum class Variables : std::uint8_t { kNo, kYes };
  enum class Case : std::uint8_t { kMatters, kIgnored };

  Pattern(std::string_view text, Wildcards wildcards, Variables variables);

  // True if the pattern matches all of `value`. A variable without a value matches nothing.
  bool Matches(std::string_view value, const Context& context, Case letters = Case::kMatters) const;
  // The same for an ARN. Each of the six parts is compared on its own, so that a '*' does not match
  // a colon between them.
  bool MatchesArn(std::string_view arn, const Context& context) const;
  const std::string& text() const { return text_; }

 private:
  enum class Kind : std::uint8_t { kLiteral, kVariable };
  struct Piece {
    Kind kind;
    std::u16string code;                   // Of a literal: bytes and wildcards.
    std::string key;                       // Of a variable.
    std::optional<std::string> otherwise;  // The default of a variable.
  };
  void AddText(std::string_view text, Wildcards wildcards);
  // Returns the number of bytes of the variable at the beginning of `text`; 0: there is none.
  std::size_t AddVariable(std::string_view text);
  // Replaces the variables by their values. Returns nullopt if one has none, or if only a text with
  // more than `most` bytes could match.
  std::optional<std::u16string> CodeFor(const Context& context, std::size_t most) const;

  std::string text_;
  std::vector<Piece> pieces_;  // Neighbouring literals are joined.
  bool plain_ = true;          // Neither wildcards nor variables: equal to `text_`.
  // Bytes of `text_` before the first wildcard or variable. Most patterns that do not match differ
  // there.
  std::size_t prefix_ = 0;
};

// Splits an ARN into its six parts; nullopt for a text with fewer colons.
std::optional<std::vector<std::string_view>> SplitArn(std::string_view arn);

}  // namespace penstock::emulator::policy

#endif  // PENSTOCK_EMULATOR_POLICY_PATTERN_H_
