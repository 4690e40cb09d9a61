#include "client/http/connect/address_circuit_breaker.h"

#include <algorithm>

namespace penstock::http {
namespace {

std::int64_t Nanoseconds(MonotonicTime time) { return time.time_since_epoch().count(); }

}  // namespace

AddressCircuitBreaker& AddressCircuitBreaker::PerProcess() {
  static constinit AddressCircuitBreaker circuit;
  return circuit;
}

std::uint64_t AddressCircuitBreaker::KeyOf(const PeerAddress& address) {
  std::uint64_t key = 0xcbf29ce484222325u ^ address.port;
  for (const std::uint8_t byte : address.ip) key = (key ^ byte) * 0x100000001b3u;
  return key | 1;
}

bool AddressCircuitBreaker::Avoids(const PeerAddress& address, MonotonicTime now) {
  const std::uint64_t key = KeyOf(address);
  Entry& entry = EntryOf(key);
  if (entry.key.load(std::memory_order_acquire) != key) return false;
  std::int64_t until = entry.until_ns.load(std::memory_order_relaxed);
  if (Nanoseconds(now) < until) return true;
  return !entry.until_ns.compare_exchange_strong(until, Nanoseconds(now + kProbe),
                                                 std::memory_order_relaxed);
}

void AddressCircuitBreaker::OnFailure(const PeerAddress& address, MonotonicTime now) {
  const std::uint64_t key = KeyOf(address);
  Entry& entry = EntryOf(key);
  if (entry.key.exchange(key, std::memory_order_acq_rel) != key)
    entry.failures.store(0, std::memory_order_relaxed);
  const int failures = std::min(entry.failures.fetch_add(1, std::memory_order_relaxed), 10);
  const auto time = std::min<std::chrono::seconds>(kFirst * (1 << failures), kLongest);
  entry.until_ns.store(Nanoseconds(now + time), std::memory_order_relaxed);
}

void AddressCircuitBreaker::OnSuccess(const PeerAddress& address) {
  std::uint64_t key = KeyOf(address);
  EntryOf(key).key.compare_exchange_strong(key, 0, std::memory_order_acq_rel);
}

}  // namespace penstock::http
