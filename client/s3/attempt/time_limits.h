// Time limits of one attempt by operation: whether the speed floor
// (ClientConfig::low_speed_bytes_per_second) applies, the idle timeout, and the limit of a write.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_TIME_LIMITS_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_TIME_LIMITS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "client/s3/model/operations.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Only responses to reads must keep the floor. The response to a write is short, and S3 may need
// minutes for a copy or CompleteMultipartUpload.
inline bool HasSpeedFloor(const OperationInfo& info, const ClientConfig& config) {
  return config.low_speed_bytes_per_second != 0 && info.reads();
}

// Returns the time after which an attempt without any transferred byte fails: a stalled response is
// below any speed floor.
inline std::chrono::milliseconds IdleTimeout(const OperationInfo& info,
                                             const ClientConfig& config) {
  return HasSpeedFloor(info, config) ? std::min(config.idle_timeout, config.low_speed_time)
                                     : config.idle_timeout;
}

// Returns the limit of one attempt from its start to its last byte; zero: none. The speed floor
// bounds reads. A write has one minute plus the time for its body at the speed floor. Copies and
// CompleteMultipartUpload have 15 minutes: "Processing of a CompleteMultipartUpload request could
// take several minutes to finalize" (Amazon S3 API Reference, CompleteMultipartUpload).
inline std::chrono::milliseconds AttemptTimeout(const OperationInfo& info, std::uint64_t body_bytes,
                                                const ClientConfig& config) {
  const std::uint64_t floor = config.low_speed_bytes_per_second;
  if (config.attempt_timeout.count() != 0 || floor == 0 || info.reads())
    return config.attempt_timeout;
  return std::chrono::minutes(info.may_take_minutes() ? 15 : 1) +
         std::chrono::seconds(body_bytes / floor);
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_TIME_LIMITS_H_
