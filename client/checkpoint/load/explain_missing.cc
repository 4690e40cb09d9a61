#include "client/checkpoint/load/explain_missing.h"

#include <utility>

#include "base/missing.h"
#include "client/checkpoint/file_kind.h"

namespace penstock::checkpoint {
namespace {

bool Exists(const LoadContext& context, const BucketName& bucket, const std::string& key) {
  HeadObjectRequest request;
  request.bucket = bucket;
  request.key = ObjectKey(key);
  request.options = context.ranges.call;
  request.customer_key = context.ranges.customer_key;
  return context.store->Call(std::move(request), context.interrupt).ok();
}

}  // namespace

Error ExplainMissing(const LoadContext& context, const BucketName& bucket, const std::string& key,
                     Error error) {
  if (!IsMissingKey(error)) return error;
  const std::string folder = key.empty() || key.ends_with('/') ? key : key + "/";
  if (Exists(context, bucket, folder + ".metadata")) {
    error.message += "; '" + folder +
                     "' is the prefix of a distributed checkpoint; use DistributedCheckpoint::Open";
  } else if (Exists(context, bucket, folder + "model.safetensors.index.json") ||
             Exists(context, bucket, folder + "model.safetensors")) {
    error.message += "; '" + folder +
                     "' is the prefix of safetensors files; use LoadSafetensors with the prefix "
                     "and a slash at its end";
  }
  return error;
}

Error ExplainMissingMetadata(const LoadContext& context, const BucketName& bucket,
                             const std::string& key, Error error) {
  if (!IsMissingKey(error)) return error;
  if (const auto file = CheckpointObject::Open(context, bucket, ObjectKey(key), 64 << 10);
      file.ok() && !key.empty()) {
    FileKind kind = KindOf(file->first());
    if (kind == FileKind::kZip) kind = FileKind::kTorchSave;  // TorchScript is found by that reader
    return file->At(WrongKind("the prefix of a distributed checkpoint", kind),
                    "DistributedCheckpoint");
  }
  return ExplainMissing(context, bucket, key, std::move(error));
}

}  // namespace penstock::checkpoint
