// penstock::torch: objects as libtorch tensors, prefixes as torch::data datasets, checkpoints at
// s3:// URIs.
//
// Uses ObjectStore, so it works with Client and with testing::MemoryObjectStore. For C++ programs;
// Python has its own package. Inside namespace penstock, libtorch's namespace needs a leading "::".
#ifndef PENSTOCK_TORCH_H_
#define PENSTOCK_TORCH_H_

#include <torch/data/datasets/base.h>
#include <torch/data/datasets/stateful.h>
#include <torch/data/example.h>
#include <torch/serialize/archive.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/transfer.h"

namespace PENSTOCK_EXPORT penstock {
namespace torch {

// One object. `data`: its bytes as a contiguous CPU tensor of shape [size] and dtype uint8. The
// tensor owns its storage, into which the bytes were downloaded directly. `target`: the object's
// key.
using ObjectExample = ::torch::data::Example<::torch::Tensor, std::string>;

// libtorch's datasets return values, so errors are thrown. With workers, DataLoader wraps the
// exception in a WorkerException.
class DatasetError : public std::runtime_error {
 public:
  explicit DatasetError(Error error)
      : std::runtime_error(error.ToString()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

struct DatasetOptions {
  DownloadOptions download = {};  // Of each object.
  int max_parallel_objects = 16;  // Concurrent downloads.
  // PrefixStreamDataset prefetches at most this many bytes, but always one object.
  std::uint64_t look_ahead_bytes = 256ull << 20;
};

// ---- Map ----

// The objects under a prefix by index, in key order. Create lists them once.
//
// Copies share the listing and the store. Thread safety: may be used from any thread.
class ObjectDataset : public ::torch::data::datasets::Dataset<ObjectDataset, ObjectExample> {
 public:
  // `uri`: "s3://bucket/prefix"; "s3://bucket" is the whole bucket.
  static Result<ObjectDataset> Create(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                      DatasetOptions options = {}, const Interrupt& interrupt = {});

  // Throws DatasetError if the object cannot be read, std::out_of_range if index >= size().
  ObjectExample get(std::size_t index) override;
  // Same for several objects, downloaded in parallel.
  std::vector<ObjectExample> get_batch(c10::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override;

  // Requires 0 <= index < size().
  const ObjectSummary& object(std::size_t index) const { return objects_->at(index); }

 private:
  ObjectDataset() = default;
  std::shared_ptr<ObjectStore> store_;
  BucketName bucket_;
  // Shared by copies: DataLoader copies the dataset for each worker.
  std::shared_ptr<const std::vector<ObjectSummary>> objects_;
  DatasetOptions options_;
};

// ---- Stream ----

// A share of the objects. Object i of the listing belongs to rank i % world_size, and within the
// rank to worker (i / world_size) % workers. All shards together contain every object exactly once.
struct Shard {
  std::uint64_t rank = 0;
  std::uint64_t world_size = 1;
  std::uint64_t worker = 0;
  std::uint64_t workers = 1;

  bool Owns(std::uint64_t index) const {
    return index % world_size == rank && index / world_size % workers == worker;
  }
};

// The objects under a prefix as a stream in key order, prefetched in the background. Each epoch
// lists the prefix again and ends with an empty batch (nullopt).
//
// After a DatasetError every further batch throws it until reset(). Movable. Thread safety: may be
// used from any thread. Workers of a DataLoader that share it receive disjoint objects.
class PrefixStreamDataset
    : public ::torch::data::datasets::StatefulDataset<PrefixStreamDataset,
                                                      std::vector<ObjectExample>> {
 public:
  // Returns kInvalidArgument for a malformed URI or an invalid shard. Sends nothing.
  static Result<PrefixStreamDataset> Create(std::shared_ptr<ObjectStore> store,
                                            std::string_view uri, Shard shard = {},
                                            DatasetOptions options = {});
  PrefixStreamDataset(PrefixStreamDataset&&) noexcept;
  PrefixStreamDataset& operator=(PrefixStreamDataset&&) noexcept;
  // Cancels downloads in flight and waits for them.
  ~PrefixStreamDataset() override;

  // Returns the next `count` objects, fewer at the end, nullopt after the end. Throws DatasetError.
  std::optional<std::vector<ObjectExample>> get_batch(std::size_t count) override;
  std::optional<std::size_t> size() const override { return std::nullopt; }

  // Starts an epoch at the first object. The first call after load() starts at the saved position.
  void reset() override;
  // Saves the position in the epoch: the number of objects of this shard returned so far
  // ("position", int64, shape []). load throws DatasetError for anything else.
  void save(::torch::serialize::OutputArchive& archive) const override;
  void load(::torch::serialize::InputArchive& archive) override;

 private:
  struct Impl;
  explicit PrefixStreamDataset(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ---- Checkpoints ----

// Serializes the archive that `fill` writes and streams it to "s3://bucket/key" part by part.
// Memory stays bounded by the buffers of the upload. The object appears complete on success, and
// not at all on failure or if the process dies. An exception of `fill` or of libtorch becomes a
// kInternal error.
Result<UploadResponse> SaveCheckpoint(
    std::shared_ptr<ObjectStore> store, std::string_view uri,
    const std::function<void(::torch::serialize::OutputArchive&)>& fill, UploadOptions options = {},
    const Interrupt& interrupt = {});

// Same for an archive that is already filled.
Result<UploadResponse> SaveCheckpoint(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                      ::torch::serialize::OutputArchive& archive,
                                      UploadOptions options = {}, const Interrupt& interrupt = {});

// Saves model and optimizer under the names "model" and "optimizer".
template <class Module, class Optimizer>
Result<UploadResponse> SaveTraining(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                    const Module& model, const Optimizer& optimizer,
                                    UploadOptions options = {}, const Interrupt& interrupt = {}) {
  return SaveCheckpoint(
      std::move(store), uri,
      [&](::torch::serialize::OutputArchive& archive) {
        ::torch::serialize::OutputArchive part(archive.compilation_unit());
        model.save(part);
        archive.write("model", part);
        part = ::torch::serialize::OutputArchive(archive.compilation_unit());
        optimizer.save(part);
        archive.write("optimizer", part);
      },
      std::move(options), interrupt);
}

struct LoadOptions {
  DownloadOptions download = {};
  // Device of the tensors. Unset: the device they were saved from.
  std::optional<::torch::Device> device = {};
};

// Reads a checkpoint written by SaveCheckpoint or torch::save. Downloads in parallel into one
// buffer of the object's size; libtorch copies each tensor into its own storage, and the buffer is
// freed on return. Returns kDataLoss for no archive, kUnsupported for a file of another format.
Result<::torch::serialize::InputArchive> LoadCheckpoint(ObjectStore& store, std::string_view uri,
                                                        LoadOptions options = {},
                                                        const Interrupt& interrupt = {});

}  // namespace torch
}  // namespace penstock

#endif  // PENSTOCK_TORCH_H_
