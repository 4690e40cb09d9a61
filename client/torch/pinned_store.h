// A store through which all reads of an object have one version.
#ifndef PENSTOCK_CLIENT_TORCH_PINNED_STORE_H_
#define PENSTOCK_CLIENT_TORCH_PINNED_STORE_H_

#include <memory>

#include "penstock/object_store.h"

namespace penstock::torch {

// Returns a view of `store`. The first successful GetObject of an object determines its ETag.
// Later ones without a condition have that ETag as `if_match`, so that they fail with
// kPreconditionFailed if the object was replaced. Range readers pin for themselves only.
//
// Thread safety: may be used from any thread.
std::shared_ptr<ObjectStore> PinVersions(std::shared_ptr<ObjectStore> store);

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_PINNED_STORE_H_
