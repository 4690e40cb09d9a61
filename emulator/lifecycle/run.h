// One lifecycle run over the buckets of a store.
#ifndef PENSTOCK_EMULATOR_LIFECYCLE_RUN_H_
#define PENSTOCK_EMULATOR_LIFECYCLE_RUN_H_

#include <functional>
#include <string>

#include "emulator/lifecycle/account.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::lifecycle {

enum class RunMode {
  kApply,
  kPreview,  // Changes nothing. The account has what a run at `now` would do.
};

struct RunOptions {
  WallTime now{};
  std::string bucket;  // Empty: every bucket.
  RunMode mode = RunMode::kApply;
  // Whether to end early; called between two pages of 1000 versions.
  std::function<bool()> cancelled;
  const s3::OwnerDirectory* owners = nullptr;  // For events to EventBridge. Null: unknown accounts.
};

// Examines the buckets that have lifecycle rules or restored objects, page by page, so that
// requests run between the pages. Adds to `account` what the run did, also before an error or a
// cancellation; a later run does the rest. Returns kNotFound (NoSuchBucket) for an unknown bucket,
// kCancelled after a cancellation, and the errors of reads of the store.
Result<void> Run(store::Store& store, const RunOptions& options, Account& account);

}  // namespace penstock::emulator::lifecycle

#endif  // PENSTOCK_EMULATOR_LIFECYCLE_RUN_H_
