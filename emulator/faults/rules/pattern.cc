#include "emulator/faults/rules/pattern.h"

#include <re2/re2.h>

namespace penstock::emulator::faults {
namespace {

std::string Escaped(std::string_view name) {
  std::string glob;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

// Length of the pattern item at `at`. An escaped byte takes two.
std::size_t ItemLength(std::string_view glob, std::size_t at) {
  return glob[at] == '\\' && at + 1 < glob.size() ? 2 : 1;
}

bool ItemMatches(std::string_view glob, std::size_t at, char c) {
  if (ItemLength(glob, at) == 2) return glob[at + 1] == c;
  return glob[at] == '?' || glob[at] == c;
}

// Backtracks only to the latest star, which is sufficient: earlier stars cannot match more.
bool GlobMatches(std::string_view glob, std::string_view name) {
  std::size_t g = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = n;
    } else if (g < glob.size() && ItemMatches(glob, g, name[n])) {
      g += ItemLength(glob, g);
      ++n;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

// RE2's StringPiece is Abseil's string_view in new releases. Abseil can be built with a string_view
// of its own, to which std::string_view does not convert.
re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

re2::RE2::Options RegexOptions() {
  re2::RE2::Options options;
  // Limits the compiled expression, and therefore the time per byte of a name.
  options.set_max_mem(256 << 10);
  options.set_dot_nl(true);
  options.set_never_capture(true);
  options.set_log_errors(false);
  return options;
}

}  // namespace

Pattern::Pattern(std::string glob) : glob_(std::move(glob)) {
  std::size_t at = 0;
  while (at < glob_.size() && glob_[at] != '*' && glob_[at] != '?') {
    const std::size_t length = ItemLength(glob_, at);
    literal_ += glob_[at + length - 1];
    at += length;
  }
  only_literal_ = at == glob_.size();
  prefix_ = at + 1 == glob_.size() && glob_[at] == '*';
}

Pattern Pattern::Prefix(std::string_view prefix) { return Pattern(Escaped(prefix) + "*"); }

Pattern Pattern::Exactly(std::string_view name) { return Pattern(Escaped(name)); }

Result<Pattern> Pattern::OfRegex(std::string_view expression) {
  auto regex = std::make_shared<const re2::RE2>(Piece(expression), RegexOptions());
  if (!regex->ok()) {
    const bool too_large = regex->error_code() == re2::RE2::ErrorPatternTooLarge;
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the regular expression '" + std::string(expression) + "' is invalid: " +
                           (too_large ? "it needs more than 256 KiB; shorten it or its repetitions"
                                      : regex->error()));
  }
  Pattern pattern("*");
  pattern.prefix_ = false;
  pattern.regex_ = std::move(regex);
  return pattern;
}

bool Pattern::Matches(std::string_view name) const {
  if (only_literal_) return name == literal_;
  if (!name.starts_with(literal_)) return false;
  return prefix_ ||
         (regex_ ? re2::RE2::PartialMatch(Piece(name), *regex_) : GlobMatches(glob_, name));
}

}  // namespace penstock::emulator::faults
