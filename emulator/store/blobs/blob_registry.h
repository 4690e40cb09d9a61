// Tracks the blobs that are in use in this process, and deletes the bytes of unused ones.
//
// The database counts the records that refer to a blob. The registry knows whether readers hold
// it. The bytes are deleted when there are neither records nor readers. The registry is independent
// of records.
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
#include "emulator/store/blobs/spare_memory.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

class BlobRegistry;

// A blob with its number in the database. Notifies the registry when it is destroyed.
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
  // True: the bytes are in the database (in memory mode: only in this blob), not in a file of
  // their own.
  bool IsInline() const { return is_inline_; }
  // Packed (block_checksums.h); empty: unknown.
  const std::string& block_checksums() const { return block_checksums_; }
  // False: the file was unlinked between the database lookup and the open.
  virtual bool IsLinked() const { return true; }

 private:
  // Outlives the store while a response still sends the blob.
  const std::shared_ptr<BlobRegistry> registry_;
  const std::int64_t id_;
  const bool is_inline_;
  const std::string block_checksums_;
};
using StoredBlobPtr = std::shared_ptr<const StoredBlob>;

// Thread safety: any thread.
class BlobRegistry {
 public:
  // `directory` contains blobs/. Empty: memory mode, in which the registry itself keeps referenced
  // blobs alive. `memory_limit`: for blobs in memory; null: no limit.
  BlobRegistry(std::string directory, std::int64_t first_id,
               std::shared_ptr<MemoryLimit> memory_limit = nullptr)
      : directory_(std::move(directory)),
        next_id_(first_id),
        memory_limit_(std::move(memory_limit)) {}

  bool in_memory() const { return directory_.empty(); }
  const std::string& directory() const { return directory_; }
  std::int64_t NextId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // blobs/xx/<16 hex digits>. xx are the last two digits, so that consecutive blobs spread over the
  // directories.
  std::string PathOf(std::int64_t id) const;

  // The open blob with this number, or null.
  StoredBlobPtr Find(std::int64_t id);
  // Adds a new blob that no record refers to yet. Unless Referenced follows, its bytes are deleted
  // with the last pointer.
  void AddPending(const StoredBlobPtr& blob);
  // Adds a blob that was just loaded for a record. Returns the blob to use, because another thread
  // may have loaded it first. Null: its bytes are being deleted, so the record is out of date and
  // must be read again.
  StoredBlobPtr AddLoaded(const StoredBlobPtr& blob);

  // Call after the commit that made records refer to the blob, possibly again.
  void Referenced(const StoredBlobPtr& blob);
  // Call after the commit that removed the last reference. `has_file`: the bytes are in a file of
  // their own.
  void Released(std::int64_t id, bool has_file);
  // Waits until all unused files are deleted and their space is free.
  void FlushRemovals() { remover_.Flush(); }
  VerifiedBlobs& verified() { return verified_; }
  // For blobs in memory.
  SpareMemory& spare_memory() { return spare_memory_; }
  MemoryLimit* memory_limit() const { return memory_limit_.get(); }
  // Call when the store is destroyed. In memory mode it drops the registry's references to blobs,
  // which would otherwise keep the registry alive. Blobs that readers still hold are freed with
  // their last pointer.
  void DropReferences();

 private:
  friend class StoredBlob;
  struct Entry {
    const StoredBlob* live = nullptr;
    std::weak_ptr<const StoredBlob> weak;
    StoredBlobPtr keep;  // memory mode: set while referenced
    bool referenced = false;
    bool removing = false;  // its file is being unlinked, outside the lock
  };
  void OnDestroyed(const StoredBlob* blob);
  void RemoveFile(std::int64_t id) noexcept;

  const std::string directory_;
  std::atomic<std::int64_t> next_id_;
  const std::shared_ptr<MemoryLimit> memory_limit_;  // outlives the charges of the members below
  Mutex mutex_;
  std::unordered_map<std::int64_t, Entry> entries_ PENSTOCK_GUARDED_BY(mutex_);
  SpareMemory spare_memory_;
  VerifiedBlobs verified_;
  FileRemover remover_;  // last: its thread uses everything above
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_BLOB_REGISTRY_H_
