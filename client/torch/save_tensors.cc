// Saves tensors as files of torch.save and safetensors.
#include "penstock/torch_checkpoint.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <utility>

#include "base/crc/crc.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/state_pickle.h"
#include "client/checkpoint/safetensors.h"
#include "client/checkpoint/zip_writer.h"
#include "client/torch/tensor_bytes.h"

namespace penstock::torch {
namespace {

using checkpoint::SafetensorsHeader;
using checkpoint::SavedState;
using checkpoint::ZipWriter;

// The storages of some tensors, each once, in CPU memory.
class Storages {
 public:
  // Describes a tensor, and adds its storage. Returns kInvalidArgument, as torch.save does, if
  // another tensor has the storage with another dtype: torch.load creates a storage once, with the
  // dtype of the first.
  Result<PickledTensor> Add(const std::string& name, const at::Tensor& tensor) {
    PickledTensor described{
        NameOf(tensor.scalar_type()), tensor.sizes().vec(), tensor.strides().vec(),
        tensor.storage_offset(),      KeyOf(tensor),        tensor.storage().nbytes()};
    const std::string dtype = StorageDtype(described);
    const auto [found, added] = dtypes_.try_emplace(described.storage_key, dtype);
    if (found->second == dtype) return described;
    return Error::Make(ErrorKind::kInvalidArgument,
                       "'" + name + "' has the dtype " + dtype +
                           ", and another tensor with the same storage " + found->second +
                           "; a file of torch.save cannot contain both: clone one of them");
  }
  const std::vector<at::Tensor>& all() const { return all_; }

 private:
  std::string KeyOf(const at::Tensor& tensor) {
    const auto [found, added] =
        keys_.try_emplace(tensor.storage().unsafeGetStorageImpl(), all_.size());
    if (added) {
      const auto bytes = static_cast<std::int64_t>(tensor.storage().nbytes());
      all_.push_back(ViewOf(tensor, at::kByte, 0, {bytes}, {1}).cpu());
    }
    return std::to_string(found->second);
  }
  // Of the storage in the pickle. Dtypes without a storage class have an untyped one, of bytes.
  static std::string StorageDtype(const PickledTensor& tensor) {
    const checkpoint::DtypeInfo* const dtype = checkpoint::FindDtype(tensor.dtype);
    const bool typed = dtype != nullptr && !dtype->storage.empty() &&
                       tensor.storage_bytes % dtype->item_bytes == 0;
    return typed ? tensor.dtype : "uint8";
  }

  std::map<const void*, std::size_t> keys_;
  std::map<std::string, std::string> dtypes_;  // by key
  std::vector<at::Tensor> all_;
};

Result<SavedState> Describe(const StateDict& state, Storages& storages) {
  SavedState saved;
  for (const auto& [name, tensor] : state.tensors) {
    // Of conjugated tensors, the values are copied. Others keep their storage, also on a device.
    const bool lazy = tensor.defined() && (tensor.is_conj() || tensor.is_neg());
    at::Tensor plain = tensor;
    if (lazy || !tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized() ||
        tensor.is_meta()) {
      PENSTOCK_ASSIGN(plain, PlainTensor(name, tensor));
    }
    plain = plain.detach();
    PENSTOCK_ASSIGN(PickledTensor described, storages.Add(name, plain));
    saved.tensors.push_back({name, std::move(described)});
  }
  for (const auto& [name, value] : state.values) saved.values.emplace_back(name, value);
  return saved;
}

Result<UploadResponse> WriteState(std::shared_ptr<ObjectStore> store, const S3Uri& place,
                                  const StateDict& state, UploadOptions options,
                                  const Interrupt& interrupt) {
  Storages storages;  // outlives the writer, which borrows its memory
  PENSTOCK_ASSIGN(const SavedState saved, Describe(state, storages));
  PENSTOCK_ASSIGN(const std::string pickle, checkpoint::WriteStatePickle(saved));
  const std::unique_ptr<ObjectWriter> writer = ObjectWriter::Create(
      std::move(store), place.bucket, ObjectKey(place.path), std::move(options));
  ZipWriter zip;
  PENSTOCK_TRY(writer->Write(AsBytes(BeginArchive(zip, pickle)), interrupt));
  for (std::size_t i = 0; i < storages.all().size(); ++i) {
    const ByteView bytes = BytesOf(storages.all()[i]);
    const std::string head = zip.Begin("data/" + std::to_string(i), bytes.size());
    PENSTOCK_TRY(writer->Write(AsBytes(head), interrupt));
    PENSTOCK_TRY(writer->WriteNoCopy(bytes, interrupt));
    PENSTOCK_TRY(writer->Write(AsBytes(zip.End(Crc32(bytes))), interrupt));
  }
  PENSTOCK_TRY(writer->Write(AsBytes(EndArchive(zip)), interrupt));
  return writer->Finish(interrupt);
}

Result<UploadResponse> WriteSafetensors(std::shared_ptr<ObjectStore> store, const S3Uri& place,
                                        const Tensors& tensors,
                                        const std::map<std::string, std::string>& metadata,
                                        UploadOptions options, const Interrupt& interrupt) {
  SafetensorsHeader header{{}, metadata};
  for (const auto& [name, tensor] : tensors) {
    const auto dtype = tensor.defined() ? NameOf(tensor.scalar_type()) : std::string("undefined");
    const auto sizes = tensor.defined() ? tensor.sizes().vec() : std::vector<std::int64_t>();
    header.tensors.push_back({name, dtype, sizes});
  }
  PENSTOCK_ASSIGN(const std::string head, WriteSafetensorsHeader(header));
  const std::unique_ptr<ObjectWriter> writer = ObjectWriter::Create(
      std::move(store), place.bucket, ObjectKey(place.path), std::move(options));
  PENSTOCK_TRY(writer->Write(AsBytes(head), interrupt));
  for (const auto& described : header.tensors) {
    const at::Tensor& tensor = tensors.at(described.name);
    PENSTOCK_ASSIGN(const at::Tensor plain, PlainTensor(described.name, tensor));
    const at::Tensor dense = plain.contiguous();
    // Memory of the caller is borrowed; that of a copy ends with this iteration.
    const ByteView bytes = BytesOf(dense);
    const bool borrowed = dense.is_alias_of(tensor);
    PENSTOCK_TRY(borrowed ? writer->WriteNoCopy(bytes, interrupt)
                          : writer->Write(bytes, interrupt));
  }
  return writer->Finish(interrupt);
}

}  // namespace

Result<UploadResponse> SaveStateDict(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                     const StateDict& state, UploadOptions options,
                                     const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  return Guarded("SaveStateDict", place, [&] {
    return WriteState(std::move(store), place, state, std::move(options), interrupt);
  });
}

Result<UploadResponse> SaveSafetensors(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                       const Tensors& tensors,
                                       const std::map<std::string, std::string>& metadata,
                                       UploadOptions options, const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  return Guarded("SaveSafetensors", place, [&] {
    return WriteSafetensors(std::move(store), place, tensors, metadata, std::move(options),
                            interrupt);
  });
}

}  // namespace penstock::torch
