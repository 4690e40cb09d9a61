// Detects slow responses: fewer bytes per second than required, on average over some time.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_SPEED_FLOOR_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_SPEED_FLOOR_H_

#include <cstdint>
#include <string>

#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Without a floor it does not read the clock. Not thread-safe.
class SpeedFloor {
 public:
  SpeedFloor() = default;  // No floor.
  // `clock` must outlive this object.
  SpeedFloor(const ClientConfig& config, const Clock& clock)
      : floor_(config.low_speed_bytes_per_second), time_(config.low_speed_time), clock_(&clock) {}

  // Starts a response.
  void Begin() {
    if (floor_ == 0) return;
    since_ = clock_->Monotonic();
    bytes_ = 0;
  }

  // Counts received bytes. Returns kTimeout if the average rate is below the floor.
  Result<void> Add(std::size_t count) {
    if (floor_ == 0) return Ok();
    bytes_ += count;
    const MonotonicTime now = clock_->Monotonic();
    if (now - since_ < time_) return Ok();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    if (static_cast<double>(bytes_) < seconds * static_cast<double>(floor_)) {
      return Error::Make(ErrorKind::kTimeout, "the response delivered " + std::to_string(bytes_) +
                                                  " bytes in " + std::to_string(time_.count()) +
                                                  " ms, less than " + std::to_string(floor_) +
                                                  " bytes per second")
          .About("low_speed_bytes_per_second");
    }
    since_ = now;
    bytes_ = 0;
    return Ok();
  }

 private:
  std::uint64_t floor_ = 0;  // Bytes per second; 0: none.
  std::chrono::milliseconds time_{};
  const Clock* clock_ = nullptr;
  MonotonicTime since_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_SPEED_FLOOR_H_
