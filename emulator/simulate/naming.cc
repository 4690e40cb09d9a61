#include "emulator/simulate/naming.h"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::emulator::simulate {
namespace {

constexpr std::uint32_t kLongestPrefix = 1'024;
constexpr std::uint32_t kMaxPrefixes = 1'000'000;

constexpr std::array<std::pair<Strategy, std::string_view>, 4> kNames{
    {{Strategy::kDefault, "default"},
     {Strategy::kBinary, "binary"},
     {Strategy::kHex, "hex"},
     {Strategy::kRoundRobin, "round-robin"}}};

// Writes `number` with its digits reversed, padded with trailing zeros.
std::string Reversed(std::uint32_t number, std::uint32_t base, std::size_t length) {
  std::string text;
  for (; number > 0; number /= base) text += "0123456789abcdef"[number % base];
  text.resize(std::max(length, text.size()), '0');
  return text;
}

// The number of digits of the numbers from 0 to `count` - 1.
std::size_t Digits(std::uint32_t count, std::uint32_t base) {
  std::size_t digits = 1;
  for (std::uint64_t reach = base; reach < count; reach *= base) ++digits;
  return digits;
}

}  // namespace

std::string_view StrategyName(Strategy strategy) {
  const auto* const found = std::find_if(kNames.begin(), kNames.end(),
                                         [=](const auto& row) { return row.first == strategy; });
  return found->second;
}

Result<Strategy> FindStrategy(std::string_view name) {
  std::string known;
  for (const auto& [strategy, candidate] : kNames) {
    if (candidate == name) return strategy;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  return Error::Make(ErrorKind::kInvalidArgument, "unknown prefix strategy '" + std::string(name) +
                                                      "': expected one of " + known);
}

Result<void> CheckNaming(const Naming& naming) {
  if (naming.strategy == Strategy::kRoundRobin && naming.user_prefixes.empty()) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the strategy round-robin has no prefixes; add at least one");
  }
  if (naming.min_prefix_length < 1 || naming.min_prefix_length > kLongestPrefix) {
    return Error::Make(ErrorKind::kInvalidArgument, "min_prefix_length must be 1 to " +
                                                        std::to_string(kLongestPrefix) + ", not " +
                                                        std::to_string(naming.min_prefix_length));
  }
  if (naming.prefix_count && (*naming.prefix_count < 1 || *naming.prefix_count > kMaxPrefixes)) {
    return Error::Make(ErrorKind::kInvalidArgument, "prefix_count must be 1 to " +
                                                        std::to_string(kMaxPrefixes) + ", not " +
                                                        std::to_string(*naming.prefix_count));
  }
  for (std::size_t i = 0; i < naming.user_prefixes.size(); ++i) {
    const std::size_t bytes = naming.user_prefixes[i].size();
    if (bytes <= kLongestPrefix) continue;
    return Error::Make(ErrorKind::kInvalidArgument,
                       "prefixes[" + std::to_string(i) + "] has " + std::to_string(bytes) +
                           " bytes, and the limit is " + std::to_string(kLongestPrefix) +
                           ": use a shorter prefix");
  }
  return Ok();
}

std::vector<std::string> Prefixes(const Naming& naming, std::uint32_t ranks) {
  if (naming.strategy == Strategy::kDefault) return {};
  if (naming.strategy == Strategy::kRoundRobin) return naming.user_prefixes;
  const std::uint32_t base = naming.strategy == Strategy::kBinary ? 2 : 16;
  const std::uint32_t count = naming.prefix_count.value_or(std::max<std::uint32_t>(1, ranks));
  const std::size_t length = std::max<std::size_t>(naming.min_prefix_length, Digits(count, base));
  const std::uint32_t used = std::min(count, std::max<std::uint32_t>(1, ranks));
  std::vector<std::string> prefixes;
  prefixes.reserve(used);
  for (std::uint32_t i = 0; i < used; ++i) prefixes.push_back(Reversed(i, base, length));
  return prefixes;
}

std::string FileKey(const Naming& naming, const std::vector<std::string>& prefixes,
                    std::string_view path, std::uint32_t rank, std::uint32_t file) {
  std::string key(path);
  if (!key.empty()) key += '/';
  if (!prefixes.empty()) {
    key += prefixes[rank % prefixes.size()] + '/';
    if (naming.epoch) key += "epoch_" + std::to_string(*naming.epoch) + '/';
  }
  return key + "__" + std::to_string(rank) + '_' + std::to_string(file) + ".distcp";
}

}  // namespace penstock::emulator::simulate
