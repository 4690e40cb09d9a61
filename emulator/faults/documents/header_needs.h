// Which headers a request must have to fulfil a condition at all, told without looking for any of
// them.
#ifndef PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_NEEDS_H_
#define PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_NEEDS_H_

#include <cstdint>
#include <string_view>

#include "emulator/faults/condition.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Names of headers in one word, a Bloom filter of one hash: it may say that a name is there that is
// not, never the contrary.
class HeaderNameSet {
 public:
  HeaderNameSet() = default;
  static HeaderNameSet Of(const s3::RequestHead& head);
  // Every name may be there.
  static HeaderNameSet All();

  void Add(std::string_view name) { bits_ |= BitOf(name); }
  bool empty() const { return bits_ == 0; }
  bool HasAll(HeaderNameSet others) const { return (others.bits_ & ~bits_) == 0; }
  bool HasAny(HeaderNameSet others) const { return (others.bits_ & bits_) != 0; }

 private:
  // Of a name in any case: length, first and last byte tell the names apart that requests have.
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
  HeaderNameSet any;  // at least one of them; empty: none is asked for

  // False: no request with these headers fulfils the condition.
  bool MetBy(HeaderNameSet headers) const {
    return headers.HasAll(all) && (any.empty() || headers.HasAny(any));
  }
};

HeaderNeeds NeedsOf(const Condition& condition);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_DOCUMENTS_HEADER_NEEDS_H_
