// The Handler that holds answers back: the time a far or busy S3 takes to its first byte.
#ifndef PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_
#define PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_

#include <chrono>
#include <memory>

#include "emulator/api/exchange.h"

namespace penstock::emulator::faults {

// Answers of GET and HEAD leave `delay` after they were made, however many are held back at a time; zero: at once. Other
// methods are not delayed. Where the wire cannot wait for an answer, the thread that handles the request does.
// Destroying it gives what it still holds. `next` outlives the handler.
std::unique_ptr<api::Handler> MakeFirstByteDelay(std::chrono::milliseconds delay, api::Handler& next);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FIRST_BYTE_DELAY_H_
