// Addresses that refused a connection or did not answer: passed over for a while where a host has
// others, then tried again.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_ADDRESS_CIRCUIT_BREAKER_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_ADDRESS_CIRCUIT_BREAKER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "client/http/direct/peer_address.h"
#include "penstock/base/clock.h"

namespace penstock::http {

// A table of fixed size without locks; of two addresses that collide the later failure is
// remembered.
//
// Thread safety: safe from any thread, also in a forked child, which goes on with what was known at
// the fork.
class AddressCircuitBreaker {
 public:
  static constexpr std::chrono::seconds kFirst{
      1};  // passed over for so long, doubled with every failure in a row,
  static constexpr std::chrono::seconds kLongest{60};  // up to this
  static constexpr std::chrono::seconds kProbe{10};    // meanwhile one connection tries it

  static AddressCircuitBreaker& PerProcess();

  // Whether to pass the address over. Once its time is up the first who asks is told no, and the
  // others yes until that one has connected, has failed, or kProbe is over.
  bool Avoids(const PeerAddress& address, MonotonicTime now);
  void OnFailure(const PeerAddress& address, MonotonicTime now);
  void OnSuccess(const PeerAddress& address);

 private:
  struct Entry {
    std::atomic<std::uint64_t> key{0};  // 0: none
    std::atomic<std::int64_t> until_ns{0};
    std::atomic<int> failures{0};
  };
  static std::uint64_t KeyOf(const PeerAddress& address);
  Entry& EntryOf(std::uint64_t key) { return entries_[key % entries_.size()]; }

  std::array<Entry, 256> entries_;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_ADDRESS_CIRCUIT_BREAKER_H_
