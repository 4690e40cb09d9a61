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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/store/blobs/content.h"
#include "emulator/store/cached_value.h"
#include "emulator/store/later.h"
#include "emulator/store/tables/text_arena.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

enum class Durability {
  kRelaxed,  // acknowledged writes survive the end of the process
  kStrict,   // acknowledged writes are on disk (fsync) and survive a power failure
};

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
};

// Name and value, in the order and spelling that emulator/s3 passed.
using Attributes = std::vector<std::pair<std::string, std::string>>;

enum class Versioning { kNever, kEnabled, kSuspended };

struct BucketRecord {
  BucketName name;
  std::string owner_id;  // canonical id
  std::string region;
  WallTime created{};
  Versioning versioning = Versioning::kNever;
  Attributes configuration;          // sub-resource name -> stored document
  CachedValue lifecycle_rules = {};  // parsed from configuration["lifecycle"] by emulator/s3
};
using BucketPtr = std::shared_ptr<const BucketRecord>;

// One part of a completed multipart object, for reads by partNumber and for GetObjectAttributes.
struct PartRecord {
  int number = 0;
  std::uint64_t size = 0;
  ETag etag;
  std::string checksum;  // base64; empty: none
  WallTime last_modified{};
  // True when the upload declared no checksum algorithm. S3 then shows no part checksums; this one
  // is kept to compute the checksum of the object.
  bool checksum_is_internal = false;
};

// One version of one object. Immutable.
struct ObjectRecord {
  ObjectKey key;
  VersionId version_id;  // "null" if the bucket is not versioned
  bool is_latest = true;
  bool is_delete_marker = false;
  std::uint64_t size = 0;
  ETag etag;
  WallTime last_modified{};
  std::string owner_id;
  std::string storage_class;       // "STANDARD"
  std::string checksum_algorithm;  // "CRC64NVME", ...; empty: none
  std::string checksum_type;       // "FULL_OBJECT" or "COMPOSITE"
  std::string checksum;            // base64, with the suffix -N if COMPOSITE
  Attributes attributes;           // stored system headers, x-amz-meta-*, SSE settings
  Attributes tags;
  std::vector<PartRecord> parts;  // empty: not a multipart object
  Content content;
};
using ObjectPtr = std::shared_ptr<const ObjectRecord>;

// Decides inside the write transaction whether a change is allowed. `current` is the latest
// version, which may be a delete marker; null: there is none. A returned Error rejects the change
// and becomes its result.
using Precondition = std::function<Result<void>(const ObjectRecord* current)>;

// Changes the attributes of a version inside the write transaction. A returned Error leaves them
// unchanged and becomes the result. It can be called more than once before the transaction commits.
using AttributeChange =
    std::function<Result<void>(const ObjectRecord& object, Attributes& attributes)>;

struct PutObject {
  BucketName bucket;
  // The caller sets key, owner, attributes, checksum, content, size and ETag. The store sets
  // version and is_latest, and last_modified unless the caller has set it.
  ObjectRecord record;
  Precondition precondition;
};
struct PutOutcome {
  ObjectPtr object;
  Versioning versioning = Versioning::kNever;
};

struct DeleteObject {
  BucketName bucket;
  ObjectKey key;
  std::optional<VersionId> version_id;
  Precondition precondition;
  // Called with the version that `version_id` names, which may be a delete marker; null: it does
  // not exist. Not called when `version_id` is unset, because then no version with an id of its own
  // is removed.
  Precondition removal = {};
};
struct DeleteOutcome {
  bool existed = false;
  bool created_marker = false;  // a delete marker now hides the key
  bool removed_marker = false;  // the version removed was a marker
  // Of the created marker or the removed version. Empty if the bucket was never versioned.
  VersionId version_id;
};

// Moves an unversioned object to another key and replaces the object at that key.
struct RenameObject {
  BucketName bucket;
  ObjectKey source;
  ObjectKey target;
  Precondition source_precondition;  // called with the source, which exists
  Precondition target_precondition;  // called with the object to be replaced; null: none
  // Idempotency token; empty: none. A repeated request with this token and the same `request` text
  // succeeds without renaming again. The latest 10,000 tokens are stored with the commit.
  std::string token;
  std::string request;
};

struct ListObjects {
  BucketName bucket;
  std::string prefix;
  std::string delimiter;  // empty: no common prefixes
  // Exclusive. If it is inside a common prefix, the whole group is skipped.
  std::string start_after;
  int max_keys = 1000;  // 0 to 1000; keys and common prefixes count equally
};
// One entry of a listing: the fields of a version that S3 lists. The views are valid as long as the
// page.
struct ListEntry {
  std::string_view key;  // or the common prefix, for which no other field is set
  bool is_common_prefix = false;
  bool is_latest = true;
  bool is_delete_marker = false;
  std::uint64_t size = 0;
  WallTime last_modified{};
  std::string_view version_id;
  std::string_view etag;
  std::string_view owner_id;
  std::string_view storage_class;
  std::string_view checksum_algorithm;
  std::string_view checksum_type;
};
// Keys in unsigned byte order, merged with common prefixes.
struct ListPage {
  std::vector<ListEntry> entries;
  TextArena text;  // the memory behind the views of `entries`
  bool truncated = false;
  std::string next;  // start_after of the next page: last key or common prefix
};

// Lists the objects of a directory bucket in reverse key order. S3 does not list directory buckets
// in key order, and the reverse order keeps clients from relying on it. Folders that contain only
// open uploads are listed too. Versions and delete markers are not considered.
struct ListDirectory {
  BucketName bucket;
  std::string prefix;
  bool fold = false;   // groups keys at the next '/' after the prefix
  std::string before;  // exclusive; `next` of the previous page; empty: from the end
  int max_keys = 1000;
};

struct ListVersions {
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string key_marker;
  std::optional<VersionId> version_id_marker;
  int max_keys = 1000;
};
struct VersionPage {
  std::vector<ListEntry> entries;
  TextArena text;  // the memory behind the views of `entries`
  bool truncated = false;
  std::string next_key_marker;
  std::optional<VersionId> next_version_id_marker;  // unset after a common prefix
};

struct UploadRecord {
  BucketName bucket;
  ObjectKey key;
  UploadId id;
  std::string owner_id;
  WallTime initiated{};
  std::string storage_class;
  std::string checksum_algorithm;
  std::string checksum_type;
  Attributes attributes;
  Attributes tags;
  // Identifies the version that was current at the key when the upload was created. Empty: there
  // was none, or it was a delete marker.
  std::string current_at_create;
  // ARN of the user who created the upload. Empty: the root user of the owner's account.
  std::string initiator;
};
using UploadPtr = std::shared_ptr<const UploadRecord>;

struct PutPart {
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  PartRecord part;
  Content content;
};
struct StoredPart {
  PartRecord part;
  Content content;
};

// A part as the caller read it when it built the record of the complete object.
struct JoinedPart {
  int number = 0;
  ETag etag;
};
struct CompleteUpload {
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  ObjectRecord record;  // as for PutObject; its parts and content are taken from `parts`
  // Ascending by number. A part that is missing or has another ETag fails with InvalidPart.
  std::vector<JoinedPart> parts;
  Precondition precondition;
};

struct ListUploads {
  BucketName bucket;
  std::string prefix;
  std::string delimiter;
  std::string key_marker;
  std::string upload_id_marker;
  int max_uploads = 1000;
};
struct UploadListEntry {
  UploadPtr upload;  // null: a common prefix
  std::string common_prefix;
};
struct UploadPage {
  std::vector<UploadListEntry> entries;
  bool truncated = false;
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
  // Stores one configuration document, or removes it (nullopt).
  virtual Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                        std::optional<std::string> document) = 0;

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
                               const std::optional<VersionId>& version, Attributes tags) = 0;
  // Changes a version that exists and is not a delete marker. last_modified is unchanged.
  virtual Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                        const std::optional<VersionId>& version,
                                        const AttributeChange& change) = 0;
  // Sets one attribute, or removes it (nullopt), under the same conditions.
  virtual Result<void> SetAttribute(const BucketName& bucket, const ObjectKey& key,
                                    const std::optional<VersionId>& version,
                                    const std::string& name, std::optional<std::string> value) = 0;
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
  // The object that an earlier Complete of this upload made, without its content: S3 answers a
  // repeated Complete with it. kNotFound (NoSuchUpload) if the store no longer remembers it.
  virtual Result<ObjectPtr> FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                          const UploadId& id) = 0;
  virtual Result<void> AbortUpload(const BucketName& bucket, const ObjectKey& key,
                                   const UploadId& id) = 0;
  virtual Result<UploadPage> List(const ListUploads& query) = 0;

  // Returns a writer for a new blob. `size_hint`: expected size in bytes; 0: unknown.
  virtual Result<std::unique_ptr<BlobWriter>> NewBlob(std::uint64_t size_hint) = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_STORE_H_
