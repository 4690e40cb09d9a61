// One universe of buckets and objects: metadata in SQLite, bytes in blobs.
//
// Knows S3's data model (versions, delete markers, uploads, listing order) but not its wire: no
// HTTP, no XML, no signature. Errors carry S3 codes (NoSuchBucket, NoSuchKey, NoSuchVersion,
// NoSuchUpload, BucketNotEmpty, BucketAlreadyOwnedByYou, BucketAlreadyExists); api/ adds messages
// and elements.
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
  kRelaxed,  // acknowledged means: survives the process
  kStrict,   // acknowledged means: on disk (fsync), survives the machine
};

class MemoryLimit;

struct StoreOptions {
  std::string directory;  // empty: everything in memory, gone with the process
  Durability durability = Durability::kRelaxed;
  std::uint64_t inline_limit_bytes = 32 << 10;  // bodies up to this size live in SQLite
  const Clock* clock = nullptr;                 // null: the system's
  // Of a store in memory: what its objects and rows are charged to. Writes that would exceed it
  // fail with kResourceExhausted (InsufficientStorage) and leave nothing behind; deletions free it.
  // Null: no limit.
  std::shared_ptr<MemoryLimit> memory_limit = nullptr;
  // at most, of reading stored bytes in the background; 0: never
  std::uint64_t scrub_bytes_per_second = 8 << 20;
};

// ordered, names as api/ wrote them
using Attributes = std::vector<std::pair<std::string, std::string>>;

enum class Versioning { kNever, kEnabled, kSuspended };

struct BucketRecord {
  BucketName name;
  std::string owner_id;  // canonical id
  std::string region;
  WallTime created{};
  Versioning versioning = Versioning::kNever;
  Attributes configuration;          // sub-resource name -> stored document
  CachedValue lifecycle_rules = {};  // api/'s, of configuration["lifecycle"]
};
using BucketPtr = std::shared_ptr<const BucketRecord>;

// One part of a finished multipart object; needed for partNumber reads and GetObjectAttributes.
struct PartRecord {
  int number = 0;
  std::uint64_t size = 0;
  ETag etag;
  std::string checksum;  // base64; empty: none
  WallTime last_modified{};
  // The upload declared no checksum algorithm: S3 shows no checksums of its parts. This one is kept
  // for the object's.
  bool checksum_is_internal = false;
};

// One version of one object. Immutable.
struct ObjectRecord {
  ObjectKey key;
  VersionId version_id;  // "null" where the bucket is not versioned
  bool is_latest = true;
  bool is_delete_marker = false;
  std::uint64_t size = 0;
  ETag etag;
  WallTime last_modified{};
  std::string owner_id;
  std::string storage_class;       // "STANDARD"
  std::string checksum_algorithm;  // "CRC64NVME", ...; empty: none
  std::string checksum_type;       // "FULL_OBJECT" or "COMPOSITE"
  std::string checksum;            // base64, COMPOSITE with its -N
  Attributes attributes;           // stored system headers, x-amz-meta-*, SSE settings
  Attributes tags;
  std::vector<PartRecord> parts;  // empty: not a multipart object
  Content content;
};
using ObjectPtr = std::shared_ptr<const ObjectRecord>;

// Decides, inside the writing transaction, whether the change may happen. `current` is the latest
// version, null when there is none (a delete marker is passed as such). An Error refuses the change
// and becomes its result.
using Precondition = std::function<Result<void>(const ObjectRecord* current)>;

// Changes the attributes of a version inside the writing transaction; an Error leaves them as they
// were and becomes the result. It may be asked more than once before the transaction is committed.
using AttributeChange =
    std::function<Result<void>(const ObjectRecord& object, Attributes& attributes)>;

struct PutObject {
  BucketName bucket;
  // key, owner, attributes, checksum, content, size, etag; version, is_latest are the store's.
  // last_modified is the store's unless set.
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
  // Asked likewise about the version that `version_id` names (a delete marker is passed as such;
  // null: there is none). Not asked without one: then nothing that has an id of its own is removed.
  Precondition removal = {};
};
struct DeleteOutcome {
  bool existed = false;
  bool created_marker = false;  // a delete marker now hides the key
  bool removed_marker = false;  // the version removed was a marker
  // of the marker created or the version removed; empty when never versioned
  VersionId version_id;
};

// Gives an object that has no versions another key, in place of what has that key.
struct RenameObject {
  BucketName bucket;
  ObjectKey source;
  ObjectKey target;
  Precondition source_precondition;  // asked about the source, which is there
  Precondition target_precondition;  // asked about what would be replaced; null: nothing
  // Of a request that may come again: done once, and the same request is answered as it was.
  // `request` is what has to be the same. Remembered with the commit, for the latest 10,000. Empty:
  // no token.
  std::string token;
  std::string request;
};

struct ListObjects {
  BucketName bucket;
  std::string prefix;
  std::string delimiter;  // empty: no folding
  // exclusive; when it lies inside a common prefix that whole group is skipped
  std::string start_after;
  int max_keys = 1000;  // 0 to 1000; keys and common prefixes count alike
};
// One line of a listing: what S3 shows of a version without reading it. Views live as long as the
// page.
struct ListEntry {
  std::string_view key;  // or the common prefix, which then is all there is
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
  TextArena text;  // what the entries' views point into
  bool truncated = false;
  std::string next;  // start_after of the next page: last key or common prefix
};

// A directory bucket's listing: of objects as above, but backwards, which no reader may mistake for
// S3's order, and with folders in which there are only open uploads. Versions and delete markers
// are not looked for.
struct ListDirectory {
  BucketName bucket;
  std::string prefix;
  bool fold = false;   // at the next '/' behind the prefix
  std::string before;  // exclusive; empty: from the end. `next` of the page before.
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
  TextArena text;  // what the entries' views point into
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
  // Names the version that was current at the key when the upload began; empty: none, or a delete
  // marker.
  std::string current_at_create;
  std::string initiator;  // ARN of the user who began it; empty: the root of the owner's account
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

// A part as the caller saw it when it made the record of the whole.
struct JoinedPart {
  int number = 0;
  ETag etag;
};
struct CompleteUpload {
  BucketName bucket;
  ObjectKey key;
  UploadId upload_id;
  ObjectRecord record;  // as for PutObject; its parts and content are taken from `parts`
  // ascending; InvalidPart when one is gone or no longer has that ETag
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

// What uploads that are neither complete nor aborted mean for the deletion of their bucket.
enum class OpenUploads { kGoWithIt, kBlockIt };

// Thread safety: safe from any thread. Readers do not wait for writers. Every write is atomic and,
// once it returned, visible to every later read; what it promises after a crash is `durability`'s.
class Store {
 public:
  // kDataLoss naming the file when the database is corrupt; kResourceExhausted when the disk is
  // full; kInvalidArgument when the directory cannot be used or another process holds it.
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  virtual ~Store() = default;

  // Buckets.
  // kResourceExhausted (TooManyBuckets) when its owner has `max_per_owner` already.
  virtual Result<void> CreateBucket(BucketRecord bucket, std::size_t max_per_owner) = 0;
  Result<void> CreateBucket(BucketRecord bucket) {
    return CreateBucket(std::move(bucket), SIZE_MAX);
  }
  virtual Result<BucketPtr> FindBucket(const BucketName& name) = 0;
  // open uploads do not block it; objects, versions do
  virtual Result<void> DeleteBucket(const BucketName& name) = 0;
  virtual Result<void> DeleteBucket(const BucketName& name, OpenUploads open_uploads) = 0;
  virtual Result<std::vector<BucketPtr>> ListBuckets() = 0;  // by name
  virtual Result<void> SetVersioning(const BucketName& name, Versioning versioning) = 0;
  // Stores or (nullopt) removes one configuration document.
  virtual Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                        std::optional<std::string> document) = 0;

  // Objects. Find without a version gives the latest version, which may be a delete marker.
  virtual Result<ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                                       const std::optional<VersionId>& version = std::nullopt) = 0;
  virtual Result<PutOutcome> Put(PutObject request) = 0;
  virtual Result<DeleteOutcome> Delete(DeleteObject request) = 0;
  // The same without waiting for the commit: `later` is told of it. What the request refers to, and
  // the store, must live until then.
  virtual void Put(PutObject request, Async<PutOutcome> later) = 0;
  virtual void Delete(DeleteObject request, Async<DeleteOutcome> later) = 0;
  // The same for each of them in order, in one commit. Every request has its own outcome; a refused
  // one changes nothing.
  virtual std::vector<Result<DeleteOutcome>> Delete(std::vector<DeleteObject> requests) = 0;
  // NoSuchKey: the source is not there. IdempotencyParameterMismatch: the token came with another
  // request.
  virtual Result<void> Rename(RenameObject request) = 0;
  virtual Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                               const std::optional<VersionId>& version, Attributes tags) = 0;
  // Of a version that exists and is no delete marker; last_modified stays.
  virtual Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                        const std::optional<VersionId>& version,
                                        const AttributeChange& change) = 0;
  // Sets or (nullopt) removes one attribute, likewise.
  virtual Result<void> SetAttribute(const BucketName& bucket, const ObjectKey& key,
                                    const std::optional<VersionId>& version,
                                    const std::string& name, std::optional<std::string> value) = 0;
  virtual Result<ListPage> List(const ListObjects& query) = 0;
  virtual Result<VersionPage> List(const ListVersions& query) = 0;
  virtual Result<ListPage> List(const ListDirectory& query) = 0;

  // Multipart uploads.
  // id and initiated are the store's
  virtual Result<UploadPtr> CreateUpload(UploadRecord upload) = 0;
  virtual Result<UploadPtr> FindUpload(const BucketName& bucket, const ObjectKey& key,
                                       const UploadId& id) = 0;
  virtual Result<void> Put(PutPart request) = 0;  // replaces a part of the same number
  virtual void Put(PutPart request, Async<void> later) = 0;
  // Parts with number > marker, ascending, at most `limit`.
  virtual Result<std::vector<StoredPart>> ListParts(const BucketName& bucket, const ObjectKey& key,
                                                    const UploadId& id, int marker, int limit) = 0;
  virtual Result<PutOutcome> Complete(CompleteUpload request) = 0;
  // The object an earlier Complete of this upload made, if that is remembered: S3 answers a
  // repeated Complete with it. Without its content; else kNotFound (NoSuchUpload).
  virtual Result<ObjectPtr> FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                          const UploadId& id) = 0;
  virtual Result<void> AbortUpload(const BucketName& bucket, const ObjectKey& key,
                                   const UploadId& id) = 0;
  virtual Result<UploadPage> List(const ListUploads& query) = 0;

  // A place for new bytes. `size_hint`: expected bytes, 0 when unknown.
  virtual Result<std::unique_ptr<BlobWriter>> NewBlob(std::uint64_t size_hint) = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_STORE_H_
