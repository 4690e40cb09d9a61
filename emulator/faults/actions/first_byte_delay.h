// The Handler that holds answers back: the time a far or busy S3 takes to its first byte.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_FIRST_BYTE_DELAY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_FIRST_BYTE_DELAY_H_

#include <chrono>
#include <memory>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Has the wire hold answers of GET and HEAD back for `delay`, from when they were made; zero: not
// at all. Other methods are not delayed. `next` outlives the handler.
std::unique_ptr<s3::Handler> MakeFirstByteDelay(std::chrono::milliseconds delay, s3::Handler& next);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_FIRST_BYTE_DELAY_H_
