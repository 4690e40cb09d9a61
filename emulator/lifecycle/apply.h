// Applies planned actions to the store. Every action of a lifecycle run is applied here, and
// nowhere else.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_APPLY_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_APPLY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/lifecycle/action.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::lifecycle {

enum class OutcomeKind : std::uint8_t {
  kApplied,
  // The version or upload was changed or deleted since the action was planned. It is unchanged.
  kChanged,
  kLocked,  // Object Lock protects the version.
  kFailed,
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kApplied;
  std::string error;  // Of a failure.
};

// Applies the actions of one bucket in commits of bounded size. Each commit is atomic and durable
// like that of a request. Its transaction compares every version with the plan, so that a newer
// write is never deleted. Sets the kind of an action to what happened: a bucket may have got
// versions since the plan. Returns the outcomes in the order of the actions. `owners`: as in
// RunOptions.
std::vector<Outcome> Apply(store::Store& store, const store::BucketPtr& bucket, WallTime now,
                           std::span<Action> actions, const s3::OwnerDirectory* owners = nullptr);

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_APPLY_H_
