// What a speed floor (ClientConfig::low_speed_bytes_per_second) holds for, and how long a request may be silent with one.
#ifndef PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_
#define PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_

#include <algorithm>
#include <chrono>

#include "client/s3/operations.h"
#include "penstock/client.h"

namespace penstock::s3 {

// Only answers to reads are held to it. S3 may take long over a write before it answers, and keeps the answers to CopyObject
// and CompleteMultipartUpload open with white space meanwhile.
inline bool HasSpeedFloor(const OperationInfo& info, const ClientConfig& config) {
  return config.low_speed_bytes_per_second != 0 && info.retry_class == RetryClass::kRead;
}

// How long no byte may move: what stands still, or does not begin, is slower than any floor.
inline std::chrono::milliseconds IdleTimeout(const OperationInfo& info, const ClientConfig& config) {
  return HasSpeedFloor(info, config) ? std::min(config.idle_timeout, config.low_speed_time) : config.idle_timeout;
}

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_IDLE_TIMEOUT_H_
