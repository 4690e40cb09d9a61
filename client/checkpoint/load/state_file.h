// A file of torch.save on S3: its values, and its storages into memory.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_STATE_FILE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_STATE_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/pickle/state_pickle.h"

namespace penstock::checkpoint {

// A storage to read: the record "data/<key>" into memory of exactly its size.
struct StorageRead {
  std::string key;
  MutableByteView memory;
};

// Movable.
class StateFile {
 public:
  // Reads the directory and the pickle. Returns kUnsupported, with the function that reads it, for
  // a file of another format.
  static Result<StateFile> Open(const LoadContext& context, BucketName bucket, ObjectKey key,
                                const NameFilter& filter);
  ~StateFile();
  StateFile(StateFile&&) noexcept;

  // Tensors are within their storages.
  const SavedState& state() const;

  // Reads storages of state() and compares their CRC-32s. Ranges are joined; storages that are not
  // listed are not fetched. Returns kDataLoss for a storage with another CRC-32. A storage is not
  // compared only if it was saved without a CRC-32 (IsSavedWithoutCrc), as in loads of distributed
  // checkpoints.
  Result<void> Read(const LoadContext& context, const std::vector<StorageRead>& storages) const;

 private:
  struct Impl;
  explicit StateFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Reads a whole file in memory, for example an item of a distributed checkpoint, and verifies its
// CRC-32s. `storage` of a tensor is a view into `archive`.
struct StateInMemory {
  SavedState state;
  std::vector<std::string_view> storages;  // One per tensor of `state`.
};
Result<StateInMemory> ReadStateArchive(std::string_view archive, const NameFilter& filter,
                                       std::string_view prefix);

// Whether the elements of a tensor are within its storage of `storage_bytes` bytes, and of a known
// dtype. Otherwise kDataLoss or kUnsupported.
Result<void> CheckStorage(const SavedTensor& tensor, std::uint64_t storage_bytes);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_STATE_FILE_H_
