// Tells when an answer trickles: fewer bytes a second than wanted, on average over some time.
#ifndef PENSTOCK_CLIENT_S3_SPEED_FLOOR_H_
#define PENSTOCK_CLIENT_S3_SPEED_FLOOR_H_

#include <cstdint>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Without a floor nobody looks at the clock. One thread at a time.
class SpeedFloor {
 public:
  SpeedFloor() = default;  // none
  // `clock` outlives this.
  SpeedFloor(const ClientConfig& config, const Clock& clock)
      : floor_(config.low_speed_bytes_per_second), time_(config.low_speed_time), clock_(&clock) {}

  // An answer begins.
  void Begin() {
    if (floor_ == 0) return;
    since_ = clock_->Monotonic();
    bytes_ = 0;
  }

  // kTimeout when these bytes come too slowly after the ones before.
  Result<void> Add(std::size_t count) {
    if (floor_ == 0) return Ok();
    bytes_ += count;
    const MonotonicTime now = clock_->Monotonic();
    if (now - since_ < time_) return Ok();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (static_cast<double>(bytes_) < seconds * static_cast<double>(floor_)) {
      return Error::Make(ErrorKind::kTimeout, "the answer brought " + std::to_string(bytes_) +
                                                  " bytes in " + std::to_string(time_.count()) +
                                                  " ms, less than " + std::to_string(floor_) +
                                                  " a second")
          .About("low_speed_bytes_per_second");
    }
    since_ = now;
    bytes_ = 0;
    return Ok();
  }

 private:
  std::uint64_t floor_ = 0;  // bytes a second; 0: none
  std::chrono::milliseconds time_{};
  const Clock* clock_ = nullptr;
  MonotonicTime since_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_SPEED_FLOOR_H_
