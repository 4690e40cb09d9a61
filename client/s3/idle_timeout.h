// The time limits of one attempt that follow from its operation: which operations the speed floor
// (ClientConfig::low_speed_bytes_per_second) applies to, the idle timeout, and the limit of a
// write.
#ifndef PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_
#define PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "client/s3/operations.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Only answers to reads are held to it. S3 may take long over a write before it answers, and keeps
// the answers to CopyObject and CompleteMultipartUpload open with white space meanwhile.
inline bool HasSpeedFloor(const OperationInfo& info, const ClientConfig& config) {
  return config.low_speed_bytes_per_second != 0 && info.retry_class == RetryClass::kRead;
}

// How long no byte may move: what stands still, or does not begin, is slower than any floor.
inline std::chrono::milliseconds IdleTimeout(const OperationInfo& info,
                                             const ClientConfig& config) {
  return HasSpeedFloor(info, config) ? std::min(config.idle_timeout, config.low_speed_time)
                                     : config.idle_timeout;
}

// The limit of one attempt from its start to its last byte; zero: none. The speed floor bounds
// reads. A write, whose answer S3 may delay by minutes (AWS: "Processing of a
// CompleteMultipartUpload request could take several minutes to finalize"), has 15 minutes and the
// time that the floor gives its body.
inline std::chrono::milliseconds AttemptTimeout(const OperationInfo& info, std::uint64_t body_bytes,
                                                const ClientConfig& config) {
  constexpr std::chrono::minutes kWrite{15};
  const std::uint64_t floor = config.low_speed_bytes_per_second;
  if (config.attempt_timeout.count() != 0 || floor == 0 || info.retry_class == RetryClass::kRead)
    return config.attempt_timeout;
  return kWrite + std::chrono::seconds(body_bytes / floor);
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_
