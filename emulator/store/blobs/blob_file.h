// Blobs in files, for stores with a directory. A file is written in tmp/, synced in strict mode and
// renamed to its final path. Small blobs stay in memory and are stored in the database.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_FILE_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_FILE_H_

#include <atomic>
#include <functional>
#include <memory>

#include "emulator/store/blobs/blob_registry.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::store {

// A complete file, read by descriptor, or mapped into memory if all descriptor permissions of the
// process are taken.
class FileBlob final : public StoredBlob {
 public:
  // Takes over an open file. kResourceExhausted if it can neither be kept open nor mapped.
  static Result<StoredBlobPtr> Adopt(std::shared_ptr<BlobRegistry> registry, std::int64_t id,
                                     Descriptor file, std::uint64_t size,
                                     std::string block_checksums = {});
  // Opens the file of `id`. Null: it does not exist. kDataLoss if it is shorter than `size`.
  static Result<StoredBlobPtr> Open(const std::shared_ptr<BlobRegistry>& registry, std::int64_t id,
                                    std::uint64_t size, std::string block_checksums = {});

  ~FileBlob() override;
  std::uint64_t size() const override { return size_; }
  std::optional<ByteView> Memory() const override;
  int FileDescriptor() const override { return file_.get(); }
  bool IsLinked() const override;
  Result<std::uint64_t> Checked(ByteRange range) const override;
  Result<void> Reverify(ByteRange range) const override;

 private:
  FileBlob(std::shared_ptr<BlobRegistry> registry, std::int64_t id, std::uint64_t size,
           std::string block_checksums);
  // Reads one block and compares it with its checksum. If they differ, no block of the file counts
  // as verified any more.
  Result<void> VerifyBlock(std::uint64_t block) const;
  Result<std::uint32_t> HashBytes(ByteRange range) const;

  const std::uint64_t size_;
  Descriptor file_;
  DescriptorShare share_;
  const std::byte* mapped_ = nullptr;
  const std::shared_ptr<BlockBits> unverified_;  // null: nothing is left to verify
  mutable std::atomic<bool> damaged_{false};     // true: blocks are verified at every read
};

// Creates blobs/ and tmp/ in `directory`. kInvalidArgument if the directory cannot be used.
Result<void> PrepareBlobDirectory(const std::string& directory, Durability durability);

struct SweepOptions {
  // First number of this run. Files with this or a later number are in use and are kept.
  std::int64_t first_id = 0;
  std::function<Result<bool>(std::int64_t id)> is_known;
  const std::atomic<bool>* stop = nullptr;  // true: return early
};
// Deletes the leftovers of a crash: temporary files of earlier runs, and blob files that no
// record refers to. May run concurrently with all other operations.
Result<void> SweepBlobDirectory(const std::string& directory, const SweepOptions& options);

// Calls `visit` with the number and path of every blob file.
Result<void> VisitBlobFiles(
    const std::string& directory,
    const std::function<Result<void>(std::int64_t id, const std::string& path)>& visit);

struct FileBlobOptions {
  std::uint64_t inline_limit_bytes = 0;
  Durability durability = Durability::kRelaxed;
};
std::unique_ptr<BlobWriter> NewFileBlobWriter(std::shared_ptr<BlobRegistry> registry,
                                              FileBlobOptions options, std::uint64_t size_hint);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_FILE_H_
