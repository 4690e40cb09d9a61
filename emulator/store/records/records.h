// The records of a store (buckets, versions, parts, uploads) and the requests and results of its
// operations.
#ifndef PENSTOCK_EMULATOR_STORE_RECORDS_RECORDS_H_
#define PENSTOCK_EMULATOR_STORE_RECORDS_RECORDS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/store/blobs/content.h"
#include "emulator/store/records/cached_value.h"
#include "emulator/store/records/text_arena.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

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
  CachedValue access = {};           // policy, ACL and their settings, parsed by emulator/s3
  CachedValue notifications = {};    // parsed from configuration["notification"] (emulator/events)
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

// A message about a change, for a destination that the bucket's configuration names.
struct Event {
  std::string destination;
  std::string message;
};
struct StoredEvent {
  std::uint64_t number = 0;  // from 1, in the order of the changes
  bool delivered = false;    // a sink has acknowledged it
  Event event;
};

// A change of one version, for the events that it causes.
struct VersionChange {
  const BucketRecord& bucket;
  const ObjectRecord& version;  // of a removed version only its key, id and marker are known
  bool created_marker = false;
  std::int64_t sequence = 0;  // greater than that of every earlier change
  WallTime time{};
};
// Returns the events of a change. They are stored in the transaction of the change. Called inside
// it, possibly more than once before it commits. Empty: the change causes no events.
using EventMaker = std::function<std::vector<Event>(const VersionChange& change)>;

struct PutObject {
  BucketName bucket;
  // The caller sets key, owner, attributes, checksum, content, size and ETag. The store sets
  // version and is_latest, and last_modified unless the caller has set it.
  ObjectRecord record;
  Precondition precondition;
  EventMaker events = {};
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
  EventMaker events = {};  // not called if nothing was deleted
};
struct DeleteOutcome {
  bool existed = false;
  bool created_marker = false;  // a delete marker now hides the key
  bool removed_marker = false;  // the version removed was a marker
  // Of the created marker or the removed version. Empty if the bucket was never versioned.
  VersionId version_id;
};

// Moves a version to another storage class. Its other properties are unchanged.
struct StorageClassChange {
  BucketName bucket;
  ObjectKey key;
  VersionId version_id;
  std::string storage_class;
  Precondition condition;  // called with the version, which exists and is not a delete marker
  EventMaker events = {};
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
  // ARN of the user or session, or canonical id of the account. Empty: the root of the owner's.
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
  EventMaker events = {};
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

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_RECORDS_RECORDS_H_
