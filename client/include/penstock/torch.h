// penstock::torch: objects as libtorch tensors, prefixes as torch::data datasets, checkpoints at
// s3:// addresses.
//
// Speaks ObjectStore, so it works over Client and over testing::MemoryObjectStore alike. For C++
// users; Python has its own package. Inside namespace penstock, libtorch's own namespace is written
// ::torch.
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

#include "penstock/transfer.h"

namespace penstock::torch {

// One object. `data`: its bytes, shape [size], dtype uint8, device CPU, contiguous; the tensor owns
// its storage, into which the bytes were downloaded without another copy. `target`: the object's
// key.
using ObjectExample = ::torch::data::Example<::torch::Tensor, std::string>;

// libtorch's datasets return values, so an Error travels as an exception there. DataLoader wraps it
// in a WorkerException when workers are used.
class DatasetError : public std::runtime_error {
 public:
  explicit DatasetError(Error error)
      : std::runtime_error(error.ToString()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

struct DatasetOptions {
  DownloadOptions download;       // of each object
  int max_parallel_objects = 16;  // downloads in flight at once
  // of PrefixStreamDataset: stop fetching ahead beyond that; one object always
  std::uint64_t look_ahead_bytes = 256ull << 20;
};

// ---- Map
// ------------------------------------------------------------------------------------------------------

// The objects under a prefix by index, in the order of their keys. The listing is taken once, at
// Create.
//
// Copies share the listing and the store. Thread safety: safe from any thread.
class ObjectDataset : public ::torch::data::datasets::Dataset<ObjectDataset, ObjectExample> {
 public:
  // `uri`: "s3://bucket/prefix"; "s3://bucket" is the whole bucket.
  static Result<ObjectDataset> Create(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                      DatasetOptions options = {}, const Interrupt& interrupt = {});

  // Throws DatasetError when the object cannot be read, std::out_of_range beyond size().
  ObjectExample get(std::size_t index) override;
  // The same for many, downloaded in parallel.
  std::vector<ObjectExample> get_batch(c10::ArrayRef<std::size_t> indices) override;
  std::optional<std::size_t> size() const override;

  // 0 <= index < size().
  const ObjectSummary& object(std::size_t index) const { return objects_->at(index); }

 private:
  ObjectDataset() = default;
  std::shared_ptr<ObjectStore> store_;
  BucketName bucket_;
  // shared by copies: DataLoader makes one per worker
  std::shared_ptr<const std::vector<ObjectSummary>> objects_;
  DatasetOptions options_;
};

// ---- Stream
// ---------------------------------------------------------------------------------------------------

// Which objects are ours: object i of the listing belongs to rank i % world_size, there to worker
// (i / world_size) % workers. All shards together see every object once.
struct Shard {
  std::uint64_t rank = 0;
  std::uint64_t world_size = 1;
  std::uint64_t worker = 0;
  std::uint64_t workers = 1;

  bool Owns(std::uint64_t index) const {
    return index % world_size == rank && index / world_size % workers == worker;
  }
};

// The objects under a prefix as a stream, in the order of their keys, fetched ahead while the
// reader works. Each epoch lists anew. An epoch ends with an empty batch (nullopt).
//
// After a DatasetError every further batch throws it until reset(). Movable. Thread safety: safe
// from any thread, so it may be shared by a DataLoader's workers, which then see disjoint objects.
class PrefixStreamDataset
    : public ::torch::data::datasets::StatefulDataset<PrefixStreamDataset,
                                                      std::vector<ObjectExample>> {
 public:
  // kInvalidArgument for a bad URI or a shard outside its world. No network.
  static Result<PrefixStreamDataset> Create(std::shared_ptr<ObjectStore> store,
                                            std::string_view uri, Shard shard = {},
                                            DatasetOptions options = {});
  PrefixStreamDataset(PrefixStreamDataset&&) noexcept;
  PrefixStreamDataset& operator=(PrefixStreamDataset&&) noexcept;
  // Cancels what is in flight and waits for it.
  ~PrefixStreamDataset() override;

  // The next `count` objects, fewer at the end, nullopt after it. Throws DatasetError.
  std::optional<std::vector<ObjectExample>> get_batch(std::size_t count) override;
  std::optional<std::size_t> size() const override { return std::nullopt; }

  // Starts an epoch: from the first object, or, once after load(), from where the saved one stood.
  void reset() override;
  // The position in the epoch: how many objects of this shard were handed out ("position", int64,
  // shape []).
  void save(::torch::serialize::OutputArchive& archive) const override;
  void load(::torch::serialize::InputArchive& archive) override;

 private:
  struct Impl;
  explicit PrefixStreamDataset(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ---- Checkpoints
// ----------------------------------------------------------------------------------------------

// Serializes what `fill` puts into the archive and streams it to "s3://bucket/key", part by part:
// memory stays bounded by the upload's buffers. The object appears whole when this succeeds, and
// not at all when it fails or the process dies. An exception of `fill` or of libtorch becomes a
// kInternal error.
Result<UploadResponse> SaveCheckpoint(
    std::shared_ptr<ObjectStore> store, std::string_view uri,
    const std::function<void(::torch::serialize::OutputArchive&)>& fill, UploadOptions options = {},
    const Interrupt& interrupt = {});

// The same for an archive already filled.
Result<UploadResponse> SaveCheckpoint(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                      ::torch::serialize::OutputArchive& archive,
                                      UploadOptions options = {}, const Interrupt& interrupt = {});

// Model and optimizer under the names "model" and "optimizer".
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
  DownloadOptions download;
  std::optional<::torch::Device> device;  // where the tensors go; unset: where they were saved from
};

// Reads a checkpoint written by SaveCheckpoint or torch::save. Downloads in parallel into one
// buffer of the object's size, from which libtorch copies each tensor into storage of its own; the
// buffer is gone on return. kDataLoss when the object is not an archive.
Result<::torch::serialize::InputArchive> LoadCheckpoint(ObjectStore& store, std::string_view uri,
                                                        LoadOptions options = {},
                                                        const Interrupt& interrupt = {});

}  // namespace penstock::torch

#endif  // PENSTOCK_TORCH_H_
