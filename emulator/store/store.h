// The storage of one namespace: metadata in SQLite, object data in blobs.
//
// The store implements S3's data model: versions, delete markers, uploads and listing order. It
// knows nothing of HTTP, XML or signatures. Errors carry S3 codes (NoSuchBucket, NoSuchKey,
// NoSuchVersion, NoSuchUpload, BucketNotEmpty, BucketAlreadyOwnedByYou, BucketAlreadyExists).
// emulator/s3 adds their messages and elements.
#ifndef PENSTOCK_EMULATOR_STORE_STORE_H_
#define PENSTOCK_EMULATOR_STORE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/store/commits/later.h"
#include "emulator/store/records/records.h"
#include "emulator/store/system/descriptor.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

class ChangeSignal;
class MemoryLimit;

struct StoreOptions {
  std::string directory;  // empty: in-memory store, lost when the process ends
  Durability durability = Durability::kRelaxed;
  std::uint64_t inline_limit_bytes = 32 << 10;  // bodies up to this size are stored in SQLite
  const Clock* clock = nullptr;                 // null: the system clock
  // For a store in memory: the limit that its objects and rows are charged to. A write that
  // would exceed it fails with kResourceExhausted (InsufficientStorage) and changes nothing.
  // Deletions free memory. Null: no limit.
  std::shared_ptr<MemoryLimit> memory_limit = nullptr;
  // Maximum rate of background reads that verify stored data. 0: no verification.
  std::uint64_t scrub_bytes_per_second = 8 << 20;
  // Notified after a commit with events. Null: the store has its own.
  std::shared_ptr<ChangeSignal> event_signal = nullptr;
};

// Whether uploads that are neither complete nor aborted are deleted with their bucket or block its
// deletion.
enum class OpenUploads { kGoWithIt, kBlockIt };

// Thread safety: any thread. Readers do not wait for writers. Every write is atomic and, once it
// has returned, visible to every later read. `durability` decides whether it survives a crash.
class Store {
 public:
  // Errors: kDataLoss, naming the file, if the database is corrupt; kResourceExhausted if the disk
  // is full; kInvalidArgument if the directory cannot be used or another process has locked it.
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  virtual ~Store() = default;

  // Buckets.
  // kResourceExhausted (TooManyBuckets) if the owner already has `max_per_owner` buckets.
  virtual Result<void> CreateBucket(BucketRecord bucket, std::size_t max_per_owner) = 0;
  Result<void> CreateBucket(BucketRecord bucket) {
    return CreateBucket(std::move(bucket), SIZE_MAX);
  }
  virtual Result<BucketPtr> FindBucket(const BucketName& name) = 0;
  // Objects and versions block the deletion; open uploads do not.
  virtual Result<void> DeleteBucket(const BucketName& name) = 0;
  virtual Result<void> DeleteBucket(const BucketName& name, OpenUploads open_uploads) = 0;
  virtual Result<std::vector<BucketPtr>> ListBuckets() = 0;  // ordered by name
  virtual Result<void> SetVersioning(const BucketName& name, Versioning versioning) = 0;
  // Stores one configuration document, or removes it (nullopt), and `events` with it.
  virtual Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                        std::optional<std::string> document,
                                        std::vector<Event> events) = 0;
  Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                std::optional<std::string> document) {
    return SetConfiguration(name, sub_resource, std::move(document), {});
  }

  // Objects. Without a version, Find returns the latest version, which may be a delete marker.
  virtual Result<ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                                       const std::optional<VersionId>& version = std::nullopt) = 0;
  virtual Result<PutOutcome> Put(PutObject request) = 0;
  virtual Result<DeleteOutcome> Delete(DeleteObject request) = 0;
  // Asynchronous forms: return before the commit and report the result through `later`. The store,
  // and everything that the request refers to, must outlive the write.
  virtual void Put(PutObject request, Async<PutOutcome> later) = 0;
  virtual void Delete(DeleteObject request, Async<DeleteOutcome> later) = 0;
  // Runs the deletions in order, in one commit. Every request has its own outcome; a rejected
  // request changes nothing.
  virtual std::vector<Result<DeleteOutcome>> Delete(std::vector<DeleteObject> requests) = 0;
  // NoSuchKey if the source does not exist. IdempotencyParameterMismatch if the token was used
  // with another request.
  virtual Result<void> Rename(RenameObject request) = 0;
  virtual Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                               const std::optional<VersionId>& version, Attributes tags,
                               const EventMaker& events) = 0;
  Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                       const std::optional<VersionId>& version, Attributes tags) {
    return SetTags(bucket, key, version, std::move(tags), {});
  }
  // Changes a version that exists and is not a delete marker. last_modified is unchanged.
  virtual Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                        const std::optional<VersionId>& version,
                                        const AttributeChange& change,
                                        const EventMaker& events) = 0;
  Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                const std::optional<VersionId>& version,
                                const AttributeChange& change) {
    return ChangeAttributes(bucket, key, version, change, {});
  }
  // Sets one attribute, or removes it (nullopt), under the same conditions.
  Result<void> SetAttribute(const BucketName& bucket, const ObjectKey& key,
                            const std::optional<VersionId>& version, const std::string& name,
                            std::optional<std::string> value);
  // Runs the changes in order, in one commit. Every change has its own outcome, with the errors of
  // ChangeAttributes; a rejected change changes nothing.
  virtual std::vector<Result<void>> ChangeStorageClass(std::vector<StorageClassChange> changes) = 0;
  virtual Result<ListPage> List(const ListObjects& query) = 0;
  virtual Result<VersionPage> List(const ListVersions& query) = 0;
  virtual Result<ListPage> List(const ListDirectory& query) = 0;

  // Multipart uploads.
  // The store sets id and initiated.
  virtual Result<UploadPtr> CreateUpload(UploadRecord upload) = 0;
  virtual Result<UploadPtr> FindUpload(const BucketName& bucket, const ObjectKey& key,
                                       const UploadId& id) = 0;
  virtual Result<void> Put(PutPart request) = 0;  // replaces a part of the same number
  virtual void Put(PutPart request, Async<void> later) = 0;
  // Parts with number > marker, ascending, at most `limit`.
  virtual Result<std::vector<StoredPart>> ListParts(const BucketName& bucket, const ObjectKey& key,
                                                    const UploadId& id, int marker, int limit) = 0;
  virtual Result<PutOutcome> Complete(CompleteUpload request) = 0;
  // The object that an earlier Complete of this upload made, without its content: S3 responds to a
  // repeated Complete with it. kNotFound (NoSuchUpload) if the store no longer remembers it.
  virtual Result<ObjectPtr> FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                          const UploadId& id) = 0;
  virtual Result<void> AbortUpload(const BucketName& bucket, const ObjectKey& key,
                                   const UploadId& id) = 0;
  virtual Result<UploadPage> List(const ListUploads& query) = 0;

  // Events, in the order of the changes. The newest kMostEvents (tables/event_rows.h) are kept
  // until they are removed. At most `limit` events with a number above `after`.
  virtual Result<std::vector<StoredEvent>> ListEvents(std::uint64_t after, int limit) = 0;
  // The same without those that MarkDelivered was called for.
  virtual Result<std::vector<StoredEvent>> ListUndelivered(std::uint64_t after, int limit) = 0;
  // Unknown numbers are ignored.
  virtual Result<void> MarkDelivered(const std::vector<std::uint64_t>& numbers) = 0;
  // Removes the events up to the number `last`. Numbers are not used again.
  virtual Result<void> RemoveEvents(std::uint64_t last) = 0;

  // Returns a writer for a new blob. `size_hint`: expected size in bytes; 0: unknown.
  virtual Result<std::unique_ptr<BlobWriter>> NewBlob(std::uint64_t size_hint) = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_STORE_H_
