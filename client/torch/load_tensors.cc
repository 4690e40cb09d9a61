// Loads files of torch.save and safetensors into tensors.
#include "penstock/torch_checkpoint.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "base/missing.h"
#include "client/checkpoint/file_kind.h"
#include "client/checkpoint/load/explain_missing.h"
#include "client/checkpoint/load/safetensors_file.h"
#include "client/checkpoint/load/state_file.h"
#include "client/torch/tensor_bytes.h"

namespace penstock::torch {
namespace {

using checkpoint::LoadContext;
using checkpoint::SafetensorsFile;
using checkpoint::SafetensorsTensor;
using checkpoint::SavedTensor;
using checkpoint::StateFile;

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr std::uint64_t kMaxIndexBytes = 100'000'000;

Result<at::ScalarType> RequireDtype(const std::string& tensor, const std::string& name) {
  if (const auto dtype = DtypeOf(name)) return *dtype;
  return Error::Make(ErrorKind::kUnsupported, "'" + tensor + "' has the dtype " + name +
                                                  ", which this version of libtorch lacks");
}

Result<StateDict> ReadState(const LoadContext& context, const S3Uri& place,
                            const LoadTensorsOptions& options) {
  auto opened = StateFile::Open(context, place.bucket, ObjectKey(place.path), options.filter);
  if (!opened.ok()) return ExplainMissing(context, place.bucket, place.path, opened.error());
  StateDict state;
  std::map<std::string, at::Tensor> storages;  // by key
  std::vector<checkpoint::StorageRead> reads;
  for (const SavedTensor& tensor : opened->state().tensors) {
    PENSTOCK_TRY(RequireDtype(tensor.name, tensor.tensor.dtype));
    auto [storage, added] = storages.try_emplace(tensor.tensor.storage_key);
    if (!added) continue;
    storage->second = EmptyStorage(tensor.tensor.storage_bytes);
    reads.push_back({tensor.tensor.storage_key, BytesOf(storage->second)});
  }
  PENSTOCK_TRY(opened->Read(context, reads));
  for (auto& [key, storage] : storages) storage = storage.to(options.device);
  for (const SavedTensor& tensor : opened->state().tensors) {
    state.tensors[tensor.name] =
        ViewOf(storages[tensor.tensor.storage_key], *DtypeOf(tensor.tensor.dtype),
               tensor.tensor.storage_offset, tensor.tensor.sizes, tensor.tensor.strides);
  }
  for (const auto& [name, value] : opened->state().values) state.values[name] = value;
  return state;
}

// Reads the wanted tensors of one file. `wanted`: null for all.
Result<void> ReadFile(const LoadContext& context, const BucketName& bucket, const std::string& key,
                      const LoadTensorsOptions& options, const NameFilter& wanted,
                      Tensors& tensors) {
  auto opened = SafetensorsFile::Open(context, bucket, ObjectKey(key));
  if (!opened.ok()) return ExplainMissing(context, bucket, key, opened.error());
  std::vector<checkpoint::SafetensorsRead> reads;
  std::vector<std::pair<std::string, at::Tensor>> made;
  const std::vector<SafetensorsTensor>& all = opened->header().tensors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SafetensorsTensor& tensor = all[i];
    if ((wanted && !wanted(tensor.name)) || (options.filter && !options.filter(tensor.name)))
      continue;
    PENSTOCK_ASSIGN(const at::ScalarType dtype, RequireDtype(tensor.name, tensor.dtype));
    made.emplace_back(tensor.name, at::empty(tensor.sizes, at::TensorOptions().dtype(dtype)));
    reads.push_back({i, BytesOf(made.back().second)});
  }
  PENSTOCK_TRY(opened->Read(context, reads));
  for (auto& [name, tensor] : made) tensors[name] = tensor.to(options.device);
  return Ok();
}

// Reads the files that an index names. Each tensor comes from the file that the index states.
Result<Tensors> ReadIndexed(const LoadContext& context, const S3Uri& place,
                            const checkpoint::CheckpointObject& index,
                            const LoadTensorsOptions& options) {
  if (index.size() > kMaxIndexBytes) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "the index has " + std::to_string(index.size()) + " bytes, the limit is " +
                           std::to_string(kMaxIndexBytes));
  }
  PENSTOCK_ASSIGN(const std::string text, index.Read(context, 0, index.size()));
  auto entries = checkpoint::ReadSafetensorsIndex(text);
  if (!entries.ok()) return index.At(std::move(entries).error(), "LoadSafetensors");
  std::map<std::string, std::vector<std::string>> names;  // by file
  for (auto& [name, file] : *entries) {
    if (!options.filter || options.filter(name)) names[file].push_back(name);
  }
  const std::string folder = place.path.substr(0, place.path.rfind('/') + 1);
  Tensors tensors;
  for (auto& [file, listed] : names) {
    std::vector<std::string>& wanted = listed;  // clang 14 captures no structured bindings
    std::sort(wanted.begin(), wanted.end());
    const std::size_t before = tensors.size();
    PENSTOCK_TRY(ReadFile(
        context, place.bucket, folder + file, options,
        [&wanted](std::string_view name) {
          return std::binary_search(wanted.begin(), wanted.end(), name);
        },
        tensors));
    if (tensors.size() - before != wanted.size()) {
      return index.At(Error::Make(ErrorKind::kDataLoss,
                                  "the file '" + file + "' lacks tensors that the index names"),
                      "LoadSafetensors");
    }
  }
  return tensors;
}

Result<Tensors> ReadSafetensors(const LoadContext& context, S3Uri place,
                                const LoadTensorsOptions& options) {
  if (place.path.empty() || place.path.ends_with('/')) {
    const std::string folder = place.path;
    place.path = folder + std::string(kIndexName);
    auto index =
        checkpoint::CheckpointObject::Open(context, place.bucket, ObjectKey(place.path), 64 << 10);
    if (index.ok()) return ReadIndexed(context, place, *index, options);
    if (!IsMissingKey(index.error())) return std::move(index).error();
    place.path = folder + "model.safetensors";
  } else if (place.path.ends_with(".json")) {
    auto index =
        checkpoint::CheckpointObject::Open(context, place.bucket, ObjectKey(place.path), 64 << 10);
    if (!index.ok()) return std::move(index).error();
    return ReadIndexed(context, place, *index, options);
  }
  Tensors tensors;
  PENSTOCK_TRY(ReadFile(context, place.bucket, place.path, options, {}, tensors));
  return tensors;
}

}  // namespace

Result<StateDict> LoadStateDict(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                const LoadTensorsOptions& options, const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  const LoadContext context{std::move(store), options.ranges, interrupt};
  return Guarded("LoadStateDict", place, [&] { return ReadState(context, place, options); });
}

Result<Tensors> LoadSafetensors(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                const LoadTensorsOptions& options, const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseS3Uri(uri));
  const LoadContext context{std::move(store), options.ranges, interrupt};
  return Guarded("LoadSafetensors", place,
                 [&] { return ReadSafetensors(context, place, options); });
}

}  // namespace penstock::torch
