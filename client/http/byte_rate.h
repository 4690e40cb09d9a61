// Limits the bytes per second of bodies, over several connections and I/O threads.
#ifndef PENSTOCK_CLIENT_HTTP_BYTE_RATE_H_
#define PENSTOCK_CLIENT_HTTP_BYTE_RATE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "penstock/base/clock.h"

namespace penstock::http {

// Each direction has the whole rate. Bytes are counted after they were transferred, and delay the
// next transfer.
//
// Thread safety: any thread; no locks, so that a forked child can use it.
class ByteRate {
 public:
  enum class Direction { kReceive, kSend };

  // Requires bytes_per_second > 0.
  explicit ByteRate(std::uint64_t bytes_per_second);

  // Returns when the next bytes may be transferred.
  MonotonicTime ReadyAt(Direction direction) const;
  void Add(Direction direction, std::size_t count, MonotonicTime now);
  // Returns the maximum size of one transfer in bytes. It is small, so that connections alternate.
  std::size_t slice() const { return slice_; }

 private:
  const double nanoseconds_per_byte_;
  const std::size_t slice_;
  // Of kReceive and kSend, in nanoseconds of the monotonic clock.
  std::array<std::atomic<std::int64_t>, 2> due_ = {0, 0};
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_BYTE_RATE_H_
