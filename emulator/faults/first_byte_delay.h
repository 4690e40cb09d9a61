// A filter that delays responses, like the time to first byte of a distant or busy S3 endpoint.
#ifndef PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_
#define PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_

#include <chrono>
#include <memory>

#include "emulator/s3/core/filter_chain.h"

namespace penstock::emulator::faults {

// Delays the responses of GET and HEAD by `delay`, counted from when they were produced. Zero: no
// delay. Other methods are not delayed.
std::unique_ptr<s3::Filter> MakeFirstByteDelay(std::chrono::milliseconds delay);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_
