// The headers that a request needs to match a condition, tested without searching for them.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_HEADER_NEEDS_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_HEADER_NEEDS_H_

#include <cstdint>
#include <string_view>

#include "emulator/faults/rules/condition.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// A set of header names in one word: a Bloom filter with one hash. It may report a name that is
// absent, but never misses a name.
class HeaderNameSet {
 public:
  HeaderNameSet() = default;
  static HeaderNameSet Of(const s3::RequestHead& head);
  // The set that may contain every name.
  static HeaderNameSet All();

  void Add(std::string_view name) { bits_ |= BitOf(name); }
  bool empty() const { return bits_ == 0; }
  bool HasAll(HeaderNameSet others) const { return (others.bits_ & ~bits_) == 0; }
  bool HasAny(HeaderNameSet others) const { return (others.bits_ & bits_) != 0; }

 private:
  // Case-insensitive. Length, first and last byte distinguish the names that occur in requests.
  static std::uint64_t BitOf(std::string_view name) {
    if (name.empty()) return 0;
    const auto folded = [](char c) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(c) | 0x20U);
    };
    return std::uint64_t{1} << ((name.size() * 7 + folded(name.front()) * 3 +
                                 folded(name.back()) * 5) %
                                64);
  }

  std::uint64_t bits_ = 0;
};

struct HeaderNeeds {
  HeaderNameSet all;
  HeaderNameSet any;  // At least one of them. Empty: none required.

  // False: no request with these headers matches the condition.
  bool MetBy(HeaderNameSet headers) const {
    return headers.HasAll(all) && (any.empty() || headers.HasAny(any));
  }
};

HeaderNeeds NeedsOf(const Condition& condition);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_HEADER_NEEDS_H_
