#include "emulator/faults/documents/regex.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

using Bytes = std::bitset<256>;

constexpr std::size_t kMostSteps = 1'000;
constexpr std::uint64_t kMostRepeats = 200;
// Steps copied while an expression is compiled, which bounds the time. Steps that {0} drops count.
constexpr std::size_t kMostCopied = 10 * kMostSteps;
constexpr int kMaxDepth = 50;

std::size_t Place(char c) { return static_cast<unsigned char>(c); }

Bytes Between(char first, char last) {
  Bytes bytes;
  for (std::size_t c = Place(first); c <= Place(last); ++c) bytes.set(c);
  return bytes;
}

Bytes One(char c) { return Between(c, c); }

// The class of "d" in "\d". nullopt: not a class.
std::optional<Bytes> ClassOf(char c) {
  switch (c) {
    case 'd': return Between('0', '9');
    case 'w': return Between('0', '9') | Between('a', 'z') | Between('A', 'Z') | One('_');
    case 's': return One(' ') | Between('\t', '\r');
    case 'D': return ~*ClassOf('d');
    case 'W': return ~*ClassOf('w');
    case 'S': return ~*ClassOf('s');
    default: return std::nullopt;
  }
}

bool IsLetterOrDigit(char c) { return ClassOf('w')->test(Place(c)) && c != '_'; }

}  // namespace

// Recursive descent parser: each function consumes the construct that it is named after and returns
// its steps.
class RegexParser {
 public:
  explicit RegexParser(std::string_view text) : text_(text) {}

  Result<Regex::Steps> Whole() {
    PENSTOCK_ASSIGN(Steps steps, Choice());
    if (at_ < text_.size()) return InvalidAt("unmatched ')'; write \\) for a literal one");
    steps.push_back({.kind = Kind::kMatch});
    return steps;
  }

 private:
  using Step = Regex::Step;
  using Steps = Regex::Steps;
  using Kind = Regex::Kind;

  Error InvalidAt(const std::string& problem) const {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the regular expression '" + std::string(text_) + "' is invalid at byte " +
                           std::to_string(at_) + ": " + problem);
  }
  bool StartsWith(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  bool Consume(std::string_view what) {
    if (!StartsWith(what)) return false;
    at_ += what.size();
    return true;
  }
  static std::int32_t Length(const Steps& steps) { return static_cast<std::int32_t>(steps.size()); }
  Result<void> Add(Steps& steps, const Steps& more) {
    copied_ += more.size();
    if (steps.size() + more.size() > kMostSteps || copied_ > kMostCopied)
      return InvalidAt("more than 1000 steps including repetitions; shorten it");
    steps.insert(steps.end(), more.begin(), more.end());
    return Ok();
  }

  Result<Steps> Choice() {
    if (++depth_ > kMaxDepth) return InvalidAt("more than 50 nested groups");
    PENSTOCK_ASSIGN(Steps last, Sequence());
    Steps steps;
    std::vector<std::int32_t> ends;  // of all alternatives but the last
    while (Consume("|")) {
      PENSTOCK_TRY(Add(steps, {{.kind = Kind::kSplit, .next = 1, .other = Length(last) + 2}}));
      PENSTOCK_TRY(Add(steps, last));
      ends.push_back(Length(steps));
      PENSTOCK_TRY(Add(steps, {{.kind = Kind::kSplit}}));
      PENSTOCK_ASSIGN(last, Sequence());
    }
    --depth_;
    if (ends.empty()) return last;
    PENSTOCK_TRY(Add(steps, last));
    for (const std::int32_t end : ends) {
      Step& jump = steps[static_cast<std::size_t>(end)];
      jump.next = jump.other = Length(steps) - end;
    }
    return steps;
  }

  Result<Steps> Sequence() {
    Steps steps;
    while (at_ < text_.size() && !StartsWith("|") && !StartsWith(")")) {
      PENSTOCK_ASSIGN(const Steps more, Repeated());
      PENSTOCK_TRY(Add(steps, more));
    }
    return steps;
  }

  Result<Steps> Repeated() {
    PENSTOCK_ASSIGN(Steps steps, Item());
    for (;;) {
      if (Consume("*")) {
        PENSTOCK_ASSIGN(steps, Times(steps, 0, std::nullopt));
      } else if (Consume("+")) {
        PENSTOCK_ASSIGN(steps, Times(steps, 1, std::nullopt));
      } else if (Consume("?")) {
        PENSTOCK_ASSIGN(steps, Times(steps, 0, 1));
      } else if (Consume("{")) {
        PENSTOCK_ASSIGN(steps, Counted(steps));
      } else {
        return steps;
      }
    }
  }

  Result<Steps> Counted(const Steps& steps) {
    const std::size_t end = text_.find('}', at_);
    const std::string_view numbers = text_.substr(at_, end - at_);
    const std::size_t comma = numbers.find(',');
    const auto least = s3::ParseDecimal(numbers.substr(0, comma), kMostRepeats);
    auto most = least;
    if (comma != std::string_view::npos)
      most = s3::ParseDecimal(numbers.substr(comma + 1), kMostRepeats);
    const bool open = comma != std::string_view::npos && comma + 1 == numbers.size();
    if (end == std::string_view::npos || !least || !(open || (most && *most >= *least))) {
      return InvalidAt(
          "expected {3}, {3,} or {3,5} with numbers up to 200; write \\{ for a literal '{'");
    }
    at_ = end + 1;
    return Times(steps, *least, open ? std::nullopt : most);
  }

  Result<Steps> Times(const Steps& steps, std::uint64_t least, std::optional<std::uint64_t> most) {
    Steps all;
    for (std::uint64_t i = 0; i < least; ++i) PENSTOCK_TRY(Add(all, steps));
    if (!most) {
      PENSTOCK_TRY(Add(all, {{.kind = Kind::kSplit, .next = 1, .other = Length(steps) + 2}}));
      PENSTOCK_TRY(Add(all, steps));
      PENSTOCK_TRY(Add(all, {{.kind = Kind::kSplit, .next = -Length(steps) - 1, .other = 1}}));
      return all;
    }
    for (std::uint64_t i = least; i < *most; ++i) {
      PENSTOCK_TRY(Add(all, {{.kind = Kind::kSplit, .next = 1, .other = Length(steps) + 1}}));
      PENSTOCK_TRY(Add(all, steps));
    }
    return all;
  }

  Result<Steps> Item() {
    if (Consume("(")) {
      if (!Consume("?:") && StartsWith("?"))
        return InvalidAt("unsupported group; only ( ) and (?: ) are supported");
      PENSTOCK_ASSIGN(Steps steps, Choice());
      if (!Consume(")")) return InvalidAt("unmatched '('; write \\( for a literal one");
      return steps;
    }
    if (StartsWith("*") || StartsWith("+") || StartsWith("?") || StartsWith("{"))
      return InvalidAt("nothing to repeat; write '\\' before a literal character");
    if (Consume("^")) return Steps{{.kind = Kind::kBegin}};
    if (Consume("$")) return Steps{{.kind = Kind::kEnd}};
    if (Consume(".")) return Steps{{.kind = Kind::kByte, .bytes = ~Bytes()}};
    if (Consume("[")) return Set();
    if (Consume("\\")) {
      PENSTOCK_ASSIGN(const Bytes bytes, Escaped());
      return Steps{{.kind = Kind::kByte, .bytes = bytes}};
    }
    return Steps{{.kind = Kind::kByte, .bytes = One(text_[at_++])}};
  }

  // Parses what follows a '\'.
  Result<Bytes> Escaped() {
    if (at_ == text_.size()) return InvalidAt("nothing follows the '\\'");
    const char c = text_[at_];
    if (auto known = ClassOf(c)) return ++at_, *known;
    constexpr std::string_view kNames = "tnr";
    constexpr std::string_view kSigns = "\t\n\r";
    const std::size_t named = kNames.find(c);
    if (named == std::string_view::npos && IsLetterOrDigit(c)) {
      return InvalidAt(
          "unsupported escape '\\" + std::string(1, c) +
          "'; supported are \\d \\w \\s \\D \\W \\S \\t \\n \\r, and \\ before punctuation");
    }
    ++at_;
    return One(named == std::string_view::npos ? c : kSigns[named]);
  }

  // Parses what follows a '['.
  Result<Steps> Set() {
    const bool others = Consume("^");
    Bytes bytes;
    for (bool first = true; first || !StartsWith("]"); first = false) {
      PENSTOCK_ASSIGN(const Bytes begin, OfSet());
      bytes |= begin;
      if (!StartsWith("-") || text_.substr(at_).starts_with("-]")) continue;
      ++at_;
      PENSTOCK_ASSIGN(const Bytes end, OfSet());
      const std::size_t from = begin._Find_first();
      const std::size_t to = end._Find_first();
      if (begin.count() != 1 || end.count() != 1 || from > to)
        return InvalidAt(
            "a range in [ ] must go from one character to a later one, for example a-z");
      bytes |= Between(static_cast<char>(from), static_cast<char>(to));
    }
    ++at_;
    return Steps{{.kind = Kind::kByte, .bytes = others ? ~bytes : bytes}};
  }

  Result<Bytes> OfSet() {
    if (at_ == text_.size()) return InvalidAt("unmatched '['; write \\[ for a literal one");
    if (Consume("\\")) return Escaped();
    if (StartsWith("[:"))
      return InvalidAt(
          "classes such as [:alpha:] are not supported; write A-Za-z, \\d, \\w or \\s, or \\[ for "
          "a literal '['");
    if (Place(text_[at_]) >= 0x80)
      return InvalidAt(
          "a set matches one byte, and characters beyond ASCII have several; write (ä|ö) for [äö]");
    return One(text_[at_++]);
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t copied_ = 0;
};

// In the order of insertion. Clear takes time proportional to the number of active steps.
class Regex::StepSet {
 public:
  explicit StepSet(std::size_t most) : seen_(most, false) {}
  bool Add(std::size_t place) {
    if (seen_[place]) return false;
    seen_[place] = true;
    reached_.push_back(place);
    return true;
  }
  void Clear() {
    for (const std::size_t place : reached_) seen_[place] = false;
    reached_.clear();
  }
  const std::vector<std::size_t>& reached() const { return reached_; }

 private:
  std::vector<bool> seen_;
  std::vector<std::size_t> reached_;
};

Result<Regex> Regex::Compile(std::string_view expression) {
  Regex regex;
  PENSTOCK_ASSIGN(regex.steps_, RegexParser(expression).Whole());
  return regex;
}

// Adds `begin` and the steps that are reachable from it without consuming a byte.
void Regex::Follow(StepSet& active, std::size_t begin, bool at_begin, bool at_end) const {
  std::vector<std::size_t> left{begin};
  while (!left.empty()) {
    const std::size_t place = left.back();
    left.pop_back();
    if (!active.Add(place)) continue;
    const Step& step = steps_[place];
    const auto to = [place](std::int32_t distance) {
      return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(place) + distance);
    };
    const bool follows_next = step.kind == Kind::kSplit ||
                              (step.kind == Kind::kBegin && at_begin) ||
                              (step.kind == Kind::kEnd && at_end);
    if (follows_next) left.push_back(to(step.next));
    if (step.kind == Kind::kSplit) left.push_back(to(step.other));
  }
}

bool Regex::Found(std::string_view text) const {
  StepSet here(steps_.size());
  StepSet behind(steps_.size());
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool at_end = at == text.size();
    Follow(here, 0, at == 0, at_end);
    for (const std::size_t place : here.reached()) {
      const Step& step = steps_[place];
      if (step.kind == Kind::kMatch) return true;
      if (!at_end && step.kind == Kind::kByte && step.bytes.test(Place(text[at])))
        Follow(behind, place + 1, false, at + 1 == text.size());
    }
    std::swap(here, behind);
    behind.Clear();
  }
  return false;
}

std::string Regex::Literal() const {
  std::string literal;
  if (steps_.front().kind != Kind::kBegin) return literal;
  for (auto step = std::next(steps_.begin()); step->kind == Kind::kByte && step->bytes.count() == 1;
       ++step) {
    literal += static_cast<char>(step->bytes._Find_first());
  }
  return literal;
}

}  // namespace penstock::emulator::faults
