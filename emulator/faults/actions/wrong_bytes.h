// Bodies of answers made wrong: other bytes, or fewer.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_WRONG_BYTES_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_WRONG_BYTES_H_

#include <cstdint>

#include "emulator/faults/action.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"

namespace penstock::emulator::faults {

// Changes the body from byte `offset` on. False: it does not reach so far, cannot be read, or has
// these bytes already (zero of zeros, equal halves); nothing was changed. The object stays as it
// is, and so does what other answers send of it. `before`: the version before, for kStaleVersion;
// null: there is none.
bool Corrupt(s3::Response& response, std::uint64_t offset, const CorruptAction& action,
             const store::ObjectRecord* before = nullptr);

// Leaves the first `size` bytes of the body; there are more.
void CutBody(s3::Response& response, std::uint64_t size);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_WRONG_BYTES_H_
