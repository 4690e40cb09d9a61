// The ".metadata" object of a distributed checkpoint.
#ifndef PENSTOCK_CLIENT_TORCH_METADATA_OBJECT_H_
#define PENSTOCK_CLIENT_TORCH_METADATA_OBJECT_H_

#include <string>

#include "client/checkpoint/load/checkpoint_object.h"

namespace penstock::torch {

// Opens prefix + ".metadata" and reads its first bytes.
Result<checkpoint::CheckpointObject> OpenMetadata(const checkpoint::LoadContext& context,
                                                  const BucketName& bucket,
                                                  const std::string& prefix);

// Returns all bytes of the object. Returns kResourceExhausted if it has more than 1 GiB.
Result<std::string> ReadMetadata(const checkpoint::LoadContext& context,
                                 const checkpoint::CheckpointObject& object);

}  // namespace penstock::torch

#endif  // PENSTOCK_CLIENT_TORCH_METADATA_OBJECT_H_
