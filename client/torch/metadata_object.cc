#include "client/torch/metadata_object.h"

namespace penstock::torch {

using checkpoint::CheckpointObject;
using checkpoint::LoadContext;

Result<CheckpointObject> OpenMetadata(const LoadContext& context, const BucketName& bucket,
                                      const std::string& prefix) {
  return CheckpointObject::Open(context, bucket, ObjectKey(prefix + ".metadata"), 4 << 20);
}

Result<std::string> ReadMetadata(const LoadContext& context, const CheckpointObject& object) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  if (object.size() > kMaxBytes) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "the metadata has " + std::to_string(object.size()) +
                           " bytes, the limit is " + std::to_string(kMaxBytes));
  }
  return object.Read(context, 0, object.size());
}

}  // namespace penstock::torch
