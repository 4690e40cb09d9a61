// Records the events of requests and of lifecycle runs with the changes that cause them.
#ifndef PENSTOCK_EMULATOR_EVENTS_NOTIFYING_STORE_H_
#define PENSTOCK_EMULATOR_EVENTS_NOTIFYING_STORE_H_

#include <memory>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/filter_chain.h"
#include "emulator/store/store.h"

namespace penstock::emulator::events {

// Gives the operations on a bucket with a notification configuration a store that adds the events
// to their writes. Requests to other buckets keep their store.
std::unique_ptr<s3::Filter> MakeNotifier();

// The events of a lifecycle run. `name`: "LifecycleTransition". Empty: the bucket has no rules. For
// deletions without the kind: "LifecycleExpiration:" is completed by what the deletion did.
// `owners`: for the account of EventBridge; may be null.
store::EventMaker LifecycleEvents(const store::BucketRecord& bucket, std::string_view name,
                                  const s3::OwnerDirectory* owners);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_NOTIFYING_STORE_H_
