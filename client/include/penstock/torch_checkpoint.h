// penstock::torch: tensors in and out of the files that Python programs write: torch.save,
// safetensors, and distributed checkpoints (torch.distributed.checkpoint, DCP).
//
// Nothing of a file is executed: pickles are read as data, as by torch.load(weights_only=True).
// Loads fetch only what is wanted, join near ranges, pin each object to one ETag, and verify the
// CRC-32s of zip records. Saves are published whole or not at all.
//
// All functions block; on an I/O thread they return kInvalidArgument. A failed load leaves the
// tensors of the caller undefined. Exceptions of libtorch become kInternal errors.
#ifndef PENSTOCK_TORCH_CHECKPOINT_H_
#define PENSTOCK_TORCH_CHECKPOINT_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/checkpoint.h"
#include "penstock/range_reader.h"
#include "penstock/transfer.h"

namespace PENSTOCK_EXPORT penstock {
namespace torch {

// Tensors by name. at::Tensor is torch::Tensor.
using Tensors = std::map<std::string, at::Tensor>;

// Tensors, and the plain values beside them.
struct StateDict {
  Tensors tensors;
  std::map<std::string, SavedValue> values;
};

struct LoadTensorsOptions {
  NameFilter filter = {};          // Null: all names.
  c10::Device device = at::kCPU;   // Of the tensors.
  RangeReaderOptions ranges = {};  // Also the deadline and the SSE-C key of every request.
};

// ---- torch.save ----

// Reads a file of torch.save(state_dict), as torch 1.6 and later write it. Names of nested dicts
// are joined by "."; a tensor alone has the name "". Tensors that shared a storage share it again,
// and keep their strides. They do not require gradients.
//
// A value that is neither a tensor nor plain is kUnsupported and named with its class, unless the
// filter rejects its name.
Result<StateDict> LoadStateDict(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                const LoadTensorsOptions& options = {},
                                const Interrupt& interrupt = {});

// Writes a dict of tensors and values that LoadStateDict and torch.load(weights_only=True) read.
// Names are keys and are not split. Storages are written once and whole, as by torch.save. Returns
// kInvalidArgument for sparse, quantized and meta tensors.
Result<UploadResponse> SaveStateDict(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                     const StateDict& state, UploadOptions options = {},
                                     const Interrupt& interrupt = {});

// ---- safetensors ----

// Reads a file, or all files that "….safetensors.index.json" names. `uri` may also be the prefix of
// "model.safetensors.index.json" or "model.safetensors", with a slash at its end.
Result<Tensors> LoadSafetensors(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                const LoadTensorsOptions& options = {},
                                const Interrupt& interrupt = {});

// Writes one file. Each tensor is written separately and contiguously, also if several share a
// storage. `metadata` is the file's "__metadata__".
Result<UploadResponse> SaveSafetensors(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                       const Tensors& tensors,
                                       const std::map<std::string, std::string>& metadata = {},
                                       UploadOptions options = {}, const Interrupt& interrupt = {});

// ---- Distributed checkpoints ----

// A tensor of a checkpoint, of any number of chunks.
struct StoredTensor {
  std::string name;
  std::string dtype;  // "bfloat16"
  std::vector<std::int64_t> sizes;
};

// Elements [offsets, offsets + tensor.sizes()) of a stored tensor to load into `tensor`. No
// offsets: the tensor's start. The tensor has any strides, dtype and device; plain CPU tensors of
// the stored dtype are filled in place, others through memory of their size.
struct TensorTarget {
  std::string name = {};
  std::vector<std::int64_t> offsets = {};
  at::Tensor tensor = {};
};

struct LoadIntoOptions {
  // Whether all bytes of tensors of which a part is wanted are compared with checksums. Reads whole
  // tensors where the checkpoint has no checksum of the wanted rows alone.
  bool verify_all = false;
};

// A checkpoint written by torch.distributed.checkpoint or SaveDistributed, by any number of ranks.
//
// Movable. Thread safety: const members may be called from any thread.
class DistributedCheckpoint {
 public:
  // Reads the ".metadata" below "s3://bucket/prefix".
  static Result<DistributedCheckpoint> Open(std::shared_ptr<ObjectStore> store,
                                            std::string_view uri, RangeReaderOptions ranges = {},
                                            const Interrupt& interrupt = {});
  DistributedCheckpoint(DistributedCheckpoint&&) noexcept;
  DistributedCheckpoint& operator=(DistributedCheckpoint&&) noexcept;
  ~DistributedCheckpoint();

  // In the order of the metadata.
  const std::vector<StoredTensor>& tensors() const;

  // Fills tensors of the caller, from any sharding into any boxes. Returns kNotFound for a name
  // that the checkpoint lacks.
  Result<void> LoadInto(const std::vector<TensorTarget>& targets,
                        const LoadIntoOptions& options = {}, const Interrupt& interrupt = {}) const;
  // Loads whole tensors, and the plain values. `options.ranges` is not used.
  Result<StateDict> Load(const LoadTensorsOptions& options = {},
                         const Interrupt& interrupt = {}) const;

 private:
  struct Impl;
  explicit DistributedCheckpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Writes a checkpoint of one rank that torch.distributed.checkpoint reads: one object with all
// items, and then ".metadata", which publishes it. A checkpoint that exists is replaced by that
// request; objects that only the older one named are then deleted. If another program replaced it
// meanwhile, returns kPreconditionFailed.
Result<void> SaveDistributed(std::shared_ptr<ObjectStore> store, std::string_view uri,
                             const StateDict& state, UploadOptions options = {},
                             const Interrupt& interrupt = {});

}  // namespace torch
}  // namespace penstock

#endif  // PENSTOCK_TORCH_CHECKPOINT_H_
