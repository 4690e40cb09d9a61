#include "emulator/faults/rules/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "penstock/base/check.h"

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

std::size_t ItemCount(std::string_view glob) {
  std::size_t items = 0;
  for (std::size_t at = 0; at < glob.size(); at += ItemLength(glob, at)) ++items;
  return items;
}

// Returns the position of the first star that is not escaped, or npos.
std::size_t FindStar(std::string_view glob) {
  for (std::size_t at = 0; at < glob.size(); at += ItemLength(glob, at)) {
    if (glob[at] == '*') return at;
  }
  return std::string_view::npos;
}

// Whether `name` starts with a match of `segment`, a part of a glob without stars.
bool StartsWith(std::string_view name, std::string_view segment) {
  std::size_t n = 0;
  for (std::size_t at = 0; at < segment.size(); at += ItemLength(segment, at)) {
    if (n == name.size() || !ItemMatches(segment, at, name[n++])) return false;
  }
  return true;
}

// Finds the end of the first match of a segment in a name, with the Shift-And algorithm: a byte
// takes one step for each 64 items.
class SegmentSearch {
 public:
  explicit SegmentSearch(std::string_view segment)
      : items_(ItemCount(segment)), words_((items_ + kBits - 1) / kBits) {
    PENSTOCK_CHECK(words_ <= kMaxWords);
    std::fill_n(accepted_.begin(), (kBytes + 1) * words_, 0);
    std::size_t item = 0;
    for (std::size_t at = 0; at < segment.size(); at += ItemLength(segment, at)) {
      const std::size_t length = ItemLength(segment, at);
      const bool any = length == 1 && segment[at] == '?';
      const auto byte = static_cast<unsigned char>(segment[at + length - 1]);
      MaskOf(any ? kBytes : byte)[item / kBits] |= std::uint64_t{1} << (item % kBits);
      ++item;
    }
  }

  // Returns npos if there is no match.
  std::size_t FindEnd(std::string_view name) {
    if (items_ == 0) return 0;
    // Bit I: the first I + 1 items match the bytes that end here.
    std::array<std::uint64_t, kMaxWords> matched{};
    const std::uint64_t* const any = MaskOf(kBytes);
    for (std::size_t n = 0; n < name.size(); ++n) {
      const std::uint64_t* const mask = MaskOf(static_cast<unsigned char>(name[n]));
      std::uint64_t carry = 1;
      for (std::size_t word = 0; word < words_; ++word) {
        const std::uint64_t shifted = (matched[word] << 1) | carry;
        carry = matched[word] >> (kBits - 1);
        matched[word] = shifted & (mask[word] | any[word]);
      }
      if ((matched[words_ - 1] >> ((items_ - 1) % kBits) & 1) != 0) return n + 1;
    }
    return std::string_view::npos;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t kBytes = 256;
  static constexpr std::size_t kMaxWords = Pattern::kLongestGlob / kBits;

  std::uint64_t* MaskOf(std::size_t byte) { return &accepted_[byte * words_]; }

  const std::size_t items_;
  const std::size_t words_;
  // For each byte, and at the end for every byte, the items that accept it. On the stack: patterns
  // are charged by their text.
  std::array<std::uint64_t, (kBytes + 1) * kMaxWords> accepted_;
};

// Each segment between stars takes the first match, which leaves most for the others.
bool GlobMatches(std::string_view glob, std::string_view name) {
  std::size_t star = FindStar(glob);
  std::string_view segment = glob.substr(0, star);
  if (!StartsWith(name, segment)) return false;
  name.remove_prefix(ItemCount(segment));
  if (star == std::string_view::npos) return name.empty();
  for (;;) {
    glob.remove_prefix(star + 1);
    star = FindStar(glob);
    segment = glob.substr(0, star);
    if (star == std::string_view::npos) break;
    const std::size_t end = SegmentSearch(segment).FindEnd(name);
    if (end == std::string_view::npos) return false;
    name.remove_prefix(end);
  }
  const std::size_t last = ItemCount(segment);
  return last <= name.size() && StartsWith(name.substr(name.size() - last), segment);
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

Result<Pattern> Pattern::OfGlob(std::string glob) {
  if (glob.size() <= kLongestGlob) return Pattern(std::move(glob));
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the glob has " + std::to_string(glob.size()) + " bytes, and the limit is " +
                         std::to_string(kLongestGlob) +
                         "; shorten it, or use prefix, exactly or regex");
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
