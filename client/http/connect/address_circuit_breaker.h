// Remembers addresses that refused a connection or did not respond. They are skipped for a while if
// a host has other addresses, then tried again.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_ADDRESS_CIRCUIT_BREAKER_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_ADDRESS_CIRCUIT_BREAKER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "client/http/peer_address.h"
#include "penstock/base/clock.h"

namespace penstock::http {

// A fixed-size table without locks. If two addresses collide, the later failure is kept.
//
// Thread safety: safe from any thread, also in a forked child, which keeps the state at the fork.
class AddressCircuitBreaker {
 public:
  // Initial time to skip an address. Doubles with every failure in a row, up to kLongest.
  static constexpr std::chrono::seconds kFirst{1};
  static constexpr std::chrono::seconds kLongest{60};
  // Retry interval: one connection at a time probes the address.
  static constexpr std::chrono::seconds kProbe{10};

  static AddressCircuitBreaker& PerProcess();

  // Returns whether to skip the address. When its time is over, the first caller gets false and
  // probes the address. Other callers get true until that connection has succeeded or failed, or
  // kProbe has passed.
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

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_ADDRESS_CIRCUIT_BREAKER_H_
