#include "emulator/policy/condition.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/ascii.h"
#include "base/dates.h"
#include "base/encoding.h"

namespace penstock::emulator::policy {
namespace {

using Test = ConditionOperator::Test;
using Set = ConditionOperator::Set;

struct OperatorRow {
  std::string_view name;  // In lower case.
  Test test;
  bool negated;
};

constexpr OperatorRow kOperators[] = {
    {"stringequals", Test::kStringEquals, false},
    {"stringnotequals", Test::kStringEquals, true},
    {"stringequalsignorecase", Test::kStringEqualsIgnoreCase, false},
    {"stringnotequalsignorecase", Test::kStringEqualsIgnoreCase, true},
    {"stringlike", Test::kStringLike, false},
    {"stringnotlike", Test::kStringLike, true},
    {"numericequals", Test::kNumericEquals, false},
    {"numericnotequals", Test::kNumericEquals, true},
    {"numericlessthan", Test::kNumericLessThan, false},
    {"numericlessthanequals", Test::kNumericLessThanEquals, false},
    {"numericgreaterthan", Test::kNumericGreaterThan, false},
    {"numericgreaterthanequals", Test::kNumericGreaterThanEquals, false},
    {"dateequals", Test::kDateEquals, false},
    {"datenotequals", Test::kDateEquals, true},
    {"datelessthan", Test::kDateLessThan, false},
    {"datelessthanequals", Test::kDateLessThanEquals, false},
    {"dategreaterthan", Test::kDateGreaterThan, false},
    {"dategreaterthanequals", Test::kDateGreaterThanEquals, false},
    {"bool", Test::kBool, false},
    {"binaryequals", Test::kBinaryEquals, false},
    {"ipaddress", Test::kIpAddress, false},
    {"notipaddress", Test::kIpAddress, true},
    {"arnequals", Test::kArnLike, false},
    {"arnlike", Test::kArnLike, false},
    {"arnnotequals", Test::kArnLike, true},
    {"arnnotlike", Test::kArnLike, true},
};

bool TakePrefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.erase(0, prefix.size());
  return true;
}

std::optional<double> Number(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// Seconds since 1970: of a number, of a date, or of a date and a time (ISO 8601).
std::optional<double> Date(std::string_view text) {
  if (const auto number = Number(text)) return number;
  std::string full(text);
  if (text.size() == 10) full += "T00:00:00Z";
  if (text.size() == 17 && full.back() == 'Z') full.insert(16, ":00");  // Without seconds.
  const auto date = ParseCalendarTime(full);
  if (!date) return std::nullopt;
  return static_cast<double>(date->time_since_epoch().count()) / 1000;
}

struct Address {
  std::array<unsigned char, 16> bytes{};
  unsigned bits = 0;  // 32 or 128.
};

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string name(text);
  Address address;
  if (::inet_pton(AF_INET, name.c_str(), address.bytes.data()) == 1) {
    address.bits = 32;
  } else if (::inet_pton(AF_INET6, name.c_str(), address.bytes.data()) == 1) {
    address.bits = 128;
  } else {
    return std::nullopt;
  }
  return address;
}

// A range's address, and the number of its bits that must be equal.
std::optional<std::pair<Address, unsigned>> ParseRange(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return std::pair(*address, address->bits);
  const auto bits = Number(text.substr(slash + 1));
  if (!bits || *bits < 0 || *bits > address->bits || std::floor(*bits) != *bits)
    return std::nullopt;
  return std::pair(*address, static_cast<unsigned>(*bits));
}

bool IsInRange(std::string_view value, std::string_view range_text) {
  const auto address = ParseAddress(value);
  const auto range = ParseRange(range_text);
  if (!address || !range || address->bits != range->first.bits) return false;
  const unsigned whole = range->second / 8;
  const unsigned rest = range->second % 8;
  if (std::memcmp(address->bytes.data(), range->first.bytes.data(), whole) != 0) return false;
  if (rest == 0) return true;
  const unsigned mask = 0xffu << (8 - rest) & 0xffu;
  return ((address->bytes[whole] ^ range->first.bytes[whole]) & mask) == 0;
}

template <typename Parse, typename Compare>
bool Compared(std::string_view value, std::string_view limit, Parse parse, Compare compare) {
  const std::optional<double> a = parse(value);
  const std::optional<double> b = parse(limit);
  return a && b && compare(*a, *b);
}

// Variables are replaced in strings and ARNs only.
bool MatchesValue(Test test, const Pattern& wanted, const std::string& value,
                  const Context& context) {
  const std::string& text = wanted.text();
  switch (test) {
    case Test::kStringEquals:
    case Test::kStringLike: return wanted.Matches(value, context);
    case Test::kStringEqualsIgnoreCase:
      return wanted.Matches(value, context, Pattern::Case::kIgnored);
    case Test::kNumericEquals: return Compared(value, text, Number, std::equal_to<>());
    case Test::kNumericLessThan: return Compared(value, text, Number, std::less<>());
    case Test::kNumericLessThanEquals: return Compared(value, text, Number, std::less_equal<>());
    case Test::kNumericGreaterThan: return Compared(value, text, Number, std::greater<>());
    case Test::kNumericGreaterThanEquals:
      return Compared(value, text, Number, std::greater_equal<>());
    case Test::kDateEquals: return Compared(value, text, Date, std::equal_to<>());
    case Test::kDateLessThan: return Compared(value, text, Date, std::less<>());
    case Test::kDateLessThanEquals: return Compared(value, text, Date, std::less_equal<>());
    case Test::kDateGreaterThan: return Compared(value, text, Date, std::greater<>());
    case Test::kDateGreaterThanEquals: return Compared(value, text, Date, std::greater_equal<>());
    case Test::kBool: return EqualsIgnoreCase(value, text);
    case Test::kBinaryEquals: return value == text;
    case Test::kIpAddress: return IsInRange(value, text);
    case Test::kArnLike: return wanted.MatchesArn(value, context);
    case Test::kNull: break;
  }
  return false;
}

}  // namespace

std::optional<ConditionOperator> FindConditionOperator(std::string_view name) {
  std::string text = AsciiLower(name);
  ConditionOperator found;
  if (text == "null") return found;
  if (TakePrefix(text, "forallvalues:")) {
    found.set = Set::kForAllValues;
  } else if (TakePrefix(text, "foranyvalue:")) {
    found.set = Set::kForAnyValue;
  }
  constexpr std::string_view kIfExists = "ifexists";
  if (text.ends_with(kIfExists)) {
    found.if_exists = true;
    text.resize(text.size() - kIfExists.size());
  }
  const auto* const row = std::find_if(std::begin(kOperators), std::end(kOperators),
                                       [&](const OperatorRow& each) { return each.name == text; });
  if (row == std::end(kOperators)) return std::nullopt;
  found.test = row->test;
  found.negated = row->negated;
  return found;
}

std::string ConditionValueProblem(const ConditionOperator& op, std::string_view value) {
  const std::string quoted = "invalid value \"" + std::string(value) + "\": ";
  if (op.test == Test::kIpAddress && !ParseRange(value))
    return quoted + "expected an IP address or a range such as \"203.0.113.0/24\"";
  if ((op.test == Test::kBool || op.test == Test::kNull) && !EqualsIgnoreCase(value, "true") &&
      !EqualsIgnoreCase(value, "false"))
    return quoted + "expected true or false";
  if (op.test >= Test::kNumericEquals && op.test <= Test::kNumericGreaterThanEquals &&
      !Number(value))
    return quoted + "expected a number";
  if (op.test >= Test::kDateEquals && op.test <= Test::kDateGreaterThanEquals && !Date(value))
    return quoted + "expected a date of ISO 8601 or seconds since 1970";
  if (op.test == Test::kBinaryEquals && !Base64Decode(value)) return quoted + "expected Base64";
  return {};
}

bool Holds(const Condition& condition, const Context& context) {
  const ConditionOperator& op = condition.op;
  const std::optional<Context::Values> found = context.Find(condition.key);
  const bool exists = found && !found->empty();
  if (op.test == Test::kNull) {
    return std::any_of(condition.values.begin(), condition.values.end(),
                       [exists](const Pattern& wanted) {
                         return EqualsIgnoreCase(wanted.text(), "true") != exists;
                       });
  }
  if (!exists) {
    if (op.if_exists || op.set == Set::kForAllValues) return true;
    return op.negated && op.set == Set::kNone;
  }
  const auto matches = [&](const std::string& value) {
    return std::any_of(
        condition.values.begin(), condition.values.end(),
        [&](const Pattern& wanted) { return MatchesValue(op.test, wanted, value, context); });
  };
  const auto satisfies = [&](const std::string& value) { return matches(value) != op.negated; };
  if (op.set == Set::kForAllValues || (op.set == Set::kNone && op.negated))
    return std::all_of(found->begin(), found->end(), satisfies);
  return std::any_of(found->begin(), found->end(), satisfies);
}

}  // namespace penstock::emulator::policy
