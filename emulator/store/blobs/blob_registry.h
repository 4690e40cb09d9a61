// Which blobs are alive in this process, and what becomes of their bytes when nobody needs them any
// more.
//
// The database counts how many records refer to a blob; the registry knows how many readers hold
// it. Bytes go when both are zero. Knows nothing of records.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REGISTRY_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "emulator/store/blobs/block_checksums.h"
#include "emulator/store/blobs/content.h"
#include "emulator/store/blobs/file_remover.h"
#include "emulator/store/memory_limit.h"
#include "emulator/store/sqlite/spare_memory.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

class BlobRegistry;

// A blob with its number in the database. Tells the registry when it goes.
class StoredBlob : public Blob {
 public:
  StoredBlob(std::shared_ptr<BlobRegistry> registry, std::int64_t id, bool is_inline,
             std::string block_checksums = {})
      : registry_(std::move(registry)),
        id_(id),
        is_inline_(is_inline),
        block_checksums_(std::move(block_checksums)) {}
  ~StoredBlob() override;
  StoredBlob(const StoredBlob&) = delete;
  StoredBlob& operator=(const StoredBlob&) = delete;

  std::int64_t id() const { return id_; }
  BlobRegistry* registry() const { return registry_.get(); }
  // True: the database holds the bytes (or, in memory mode, nobody else does), not a file of the
  // blob's own.
  bool IsInline() const { return is_inline_; }
  // Packed (block_checksums.h); empty: none are known.
  const std::string& block_checksums() const { return block_checksums_; }
  // False: somebody unlinked the file between the database lookup and our open.
  virtual bool IsLinked() const { return true; }

 private:
  const std::shared_ptr<BlobRegistry>
      registry_;  // outlives the store while a response still sends the blob
  const std::int64_t id_;
  const bool is_inline_;
  const std::string block_checksums_;
};
using StoredBlobPtr = std::shared_ptr<const StoredBlob>;

// Thread safety: any thread.
class BlobRegistry {
 public:
  // `directory` holds blobs/; empty: memory mode, where the registry itself keeps referenced blobs
  // alive. `memory_limit`: of blobs in memory; null: none.
  BlobRegistry(std::string directory, std::int64_t first_id,
               std::shared_ptr<MemoryLimit> memory_limit = nullptr)
      : directory_(std::move(directory)),
        next_id_(first_id),
        memory_limit_(std::move(memory_limit)) {}

  bool in_memory() const { return directory_.empty(); }
  const std::string& directory() const { return directory_; }
  std::int64_t NextId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // blobs/xx/<16 hex digits>; xx are the last two, so that consecutive blobs spread over the
  // folders.
  std::string PathOf(std::int64_t id) const;

  // The living blob of that number, or null.
  StoredBlobPtr Find(std::int64_t id);
  // A new blob that no record refers to yet: unless Referenced follows, its bytes go with the last
  // pointer.
  void AddPending(const StoredBlobPtr& blob);
  // A blob just loaded for a record. Returns the one to use: another thread may have been faster.
  // Null: its bytes are being removed, so the record that named it is out of date; look again.
  StoredBlobPtr AddLoaded(const StoredBlobPtr& blob);

  // After the commit that made records refer to it (again).
  void Referenced(const StoredBlobPtr& blob);
  // After the commit that removed the last reference. `has_file`: its bytes are in a file of its
  // own.
  void Released(std::int64_t id, bool has_file);
  // Waits until the files that nobody needs any more are gone, and their place is free.
  void FlushRemovals() { remover_.Flush(); }
  VerifiedBlobs& verified() { return verified_; }
  // For blobs in memory.
  SpareMemory& spare_memory() { return spare_memory_; }
  MemoryLimit* memory_limit() const { return memory_limit_.get(); }
  // When the store goes: memory mode no longer keeps blobs alive, which would keep this registry
  // alive in turn. Blobs that readers still hold go with their last pointer.
  void LetGo();

 private:
  friend class StoredBlob;
  struct Entry {
    const StoredBlob* live = nullptr;
    std::weak_ptr<const StoredBlob> weak;
    StoredBlobPtr keep;  // memory mode: while referenced
    bool referenced = false;
    bool removing = false;  // its file is being unlinked, outside the lock
  };
  void Gone(const StoredBlob* blob);
  void RemoveFile(std::int64_t id) noexcept;

  const std::string directory_;
  std::atomic<std::int64_t> next_id_;
  const std::shared_ptr<MemoryLimit> memory_limit_;  // outlives the charges of all below
  Mutex mutex_;
  std::unordered_map<std::int64_t, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
  SpareMemory spare_memory_;
  VerifiedBlobs verified_;
  FileRemover remover_;  // last: its thread uses everything above
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REGISTRY_H_
