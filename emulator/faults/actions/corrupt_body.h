// Corrupts or truncates response bodies.
#ifndef PENSTOCK_EMULATOR_FAULTS_ACTIONS_CORRUPT_BODY_H_
#define PENSTOCK_EMULATOR_FAULTS_ACTIONS_CORRUPT_BODY_H_

#include <cstdint>

#include "emulator/faults/rules/action.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"

namespace penstock::emulator::faults {

// Corrupts the body from byte `offset` on. Returns false if the body is shorter, cannot be read, or
// would not change (zeroing zeros, swapping equal halves); nothing is changed then. The stored
// object and other responses do not change. `before`: the previous version, for kStaleVersion;
// null: none.
bool Corrupt(s3::Response& response, std::uint64_t offset, const CorruptAction& action,
             const store::ObjectRecord* before = nullptr);

// Truncates the body to `size` bytes; it must be longer.
void TruncateBody(s3::Response& response, std::uint64_t size);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_ACTIONS_CORRUPT_BODY_H_
