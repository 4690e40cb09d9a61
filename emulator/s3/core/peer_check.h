// How often a wait on purpose checks whether the client is still connected.
#ifndef PENSTOCK_EMULATOR_S3_CORE_PEER_CHECK_H_
#define PENSTOCK_EMULATOR_S3_CORE_PEER_CHECK_H_

#include <chrono>

namespace penstock::emulator::s3 {

// For waits of handlers (faults) and pauses of responses (http).
inline constexpr std::chrono::milliseconds kPeerCheckInterval{500};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_PEER_CHECK_H_
