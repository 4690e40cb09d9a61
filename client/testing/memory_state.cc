// Buckets and whole objects of the in-memory store.
#include "client/testing/memory_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "penstock/bucket_kind.h"

namespace penstock::testing {
namespace {

constexpr std::uint64_t kMaxObjectOrPartBytes = 5ull << 30;

Error NoSuchKey(const ObjectKey& key) {
  Error error =
      S3Error(ErrorKind::kNotFound, 404, "NoSuchKey", "The specified key does not exist.");
  error.details.emplace_back("Key", key.value);
  return error;
}

Error PreconditionFailed(std::string condition) {
  Error error = S3Error(ErrorKind::kPreconditionFailed, 412, "PreconditionFailed",
                        "At least one of the pre-conditions you specified did not hold");
  error.details.emplace_back("Condition", std::move(condition));
  return error;
}

// Returns the bytes that a GET delivers. Ranges that cannot be satisfied are InvalidRange, as in
// S3.
Result<ByteRange> ResolveRange(const std::optional<RangeRequest>& range, std::uint64_t size) {
  if (!range) return ByteRange{0, size};
  const auto invalid = [size] {
    Error error = S3Error(ErrorKind::kInvalidArgument, 416, "InvalidRange",
                          "The requested range is not satisfiable");
    error.details.emplace_back("ActualObjectSize", std::to_string(size));
    return error;
  };
  if (range->suffix) {
    if (*range->suffix == 0 || size == 0) return invalid();
    return ByteRange{size - std::min(size, *range->suffix), size};
  }
  const std::uint64_t begin = range->begin.value_or(0);
  const std::uint64_t end = std::min(size, range->end.value_or(size));
  if (begin >= size) return invalid();
  if (end <= begin)
    return ByteRange{0, size};  // S3 ignores such a header and returns the whole object.
  return ByteRange{begin, end};
}

}  // namespace

Error S3Error(ErrorKind kind, int http_status, std::string code, std::string message) {
  Error error = Error::Make(kind, std::move(message));
  error.http_status = http_status;
  error.code = std::move(code);
  error.attempts = 1;
  return error;
}

namespace {

// Sets the members that responses rarely have.
void SetDetails(const ObjectAttributes& attributes, ObjectMetadata& metadata) {
  const bool any = !attributes.cache_control.empty() || !attributes.content_encoding.empty() ||
                   !attributes.content_disposition.empty() ||
                   !attributes.content_language.empty() || attributes.expires ||
                   !attributes.website_redirect.empty() || !attributes.tags.empty();
  if (!any) return;
  ObjectDetails& details = metadata.details.Edit();
  details.cache_control = attributes.cache_control;
  details.content_encoding = attributes.content_encoding;
  details.content_disposition = attributes.content_disposition;
  details.content_language = attributes.content_language;
  if (attributes.expires) details.expires = FormatHttpDate(*attributes.expires);
  details.website_redirect = attributes.website_redirect;
  if (!attributes.tags.empty()) details.tag_count = static_cast<int>(attributes.tags.size());
}

// The conditions of GetObject and HeadObject, in the order of RFC 9110, section 13.2.2.
template <class Request>
Result<void> CheckReadConditions(const Request& request, const ObjectMetadata& object) {
  const auto same = [&object](const ETag& etag) {
    return etag.value == "*" || etag == object.etag;
  };
  if (request.if_match) {
    if (!same(*request.if_match)) return PreconditionFailed("If-Match");
  } else if (request.if_unmodified_since && object.last_modified > *request.if_unmodified_since) {
    return PreconditionFailed("If-Unmodified-Since");
  }
  const bool unchanged =
      request.if_none_match
          ? same(*request.if_none_match)
          : request.if_modified_since && object.last_modified <= *request.if_modified_since;
  if (unchanged) return S3Error(ErrorKind::kNotModified, 304, "304", "not modified");
  if (request.part_number.value_or(1) == 1) return Ok();
  return S3Error(ErrorKind::kInvalidArgument, 416, "InvalidPartNumber",
                 "The requested partnumber is not satisfiable");
}

}  // namespace

ETag Md5ETag(ByteView bytes) {
  const Md5Digest digest = Md5(bytes);
  return ETag(HexEncode(digest));
}

Result<void> MemoryState::CheckAlive(const CallOptions& call) const {
  if (call.cancel.stop_requested())
    return Error::Make(ErrorKind::kCancelled, "the call was cancelled");
  if (call.deadline.Passed(*options_.clock))
    return Error::Make(ErrorKind::kTimeout, "the call's deadline has passed");
  return Ok();
}

Result<StoredBucket*> MemoryState::FindBucket(const BucketName& name) {
  const auto found = buckets_.find(name.value);
  if (found == buckets_.end()) {
    return S3Error(ErrorKind::kNotFound, 404, "NoSuchBucket",
                   "The specified bucket does not exist");
  }
  return &found->second;
}

Result<StoredObject> MemoryState::FindObject(const BucketName& bucket, const ObjectKey& key,
                                             const VersionId& version) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * stored, FindBucket(bucket));
  if (!version.empty() && version.value != kNullVersion) {
    return S3Error(ErrorKind::kNotFound, 404, "NoSuchVersion",
                   "The in-memory store keeps no versions");
  }
  const auto found = stored->objects.find(key.value);
  if (found == stored->objects.end()) return NoSuchKey(key);
  return found->second;
}

ObjectMetadata MemoryState::MakeMetadata(const Blob& blob, ETag etag,
                                         const ObjectAttributes& attributes) const {
  ObjectMetadata metadata;
  metadata.size = blob.size;
  metadata.etag = std::move(etag);
  metadata.last_modified = options_.clock->Now();
  metadata.content_type =
      attributes.content_type.empty() ? "binary/octet-stream" : attributes.content_type;
  metadata.storage_class = attributes.storage_class;
  metadata.user_metadata = attributes.user_metadata;
  metadata.range = {0, blob.size};
  SetDetails(attributes, metadata);
  return metadata;
}

Result<std::shared_ptr<const Blob>> MemoryState::ReadAll(BodySource* body,
                                                         const CallOptions& call) const {
  if (body == nullptr)
    return Error::Make(ErrorKind::kInvalidArgument, "the request has no body: set `body`");
  auto blob = std::make_shared<Blob>();
  blob->size = body->size();
  if (blob->size > kMaxObjectOrPartBytes) {
    return S3Error(ErrorKind::kInvalidArgument, 400, "EntityTooLarge",
                   "Your proposed upload exceeds the maximum allowed size");
  }
  blob->data = std::make_unique_for_overwrite<std::byte[]>(blob->size);
  body->Rewind();
  std::uint64_t filled = 0;
  for (;;) {
    PENSTOCK_TRY(CheckAlive(call));
    const ByteView piece = body->Next(options_.chunk_size_bytes);
    if (piece.empty()) break;
    if (piece.size() > blob->size - filled) {
      return Error::Make(ErrorKind::kDataLoss,
                         "the body source returned more bytes than its size()");
    }
    std::memcpy(blob->data.get() + filled, piece.data(), piece.size());
    filled += piece.size();
  }
  if (filled != blob->size) {
    return S3Error(
        ErrorKind::kDataLoss, 400, "IncompleteBody",
        "You did not provide the number of bytes specified by the Content-Length HTTP header");
  }
  return std::shared_ptr<const Blob>(std::move(blob));
}

Result<ObjectMetadata> MemoryState::Apply(const GetObjectRequest& request) {
  PENSTOCK_ASSIGN(StoredObject object, FindObject(request.bucket, request.key, request.version_id));
  PENSTOCK_TRY(CheckReadConditions(request, object.metadata));
  PENSTOCK_ASSIGN(const ByteRange range, ResolveRange(request.range, object.metadata.size));
  object.metadata.range = range;
  if (request.sink == nullptr)
    return Error::Make(ErrorKind::kInvalidArgument, "GetObject needs a sink");
  PENSTOCK_TRY(request.sink->Begin(object.metadata, range.size()));
  ByteView rest = object.blob->view().subspan(range.begin, range.size());
  while (!rest.empty()) {
    PENSTOCK_TRY(CheckAlive(request.options));
    const MutableByteView window = request.sink->Window();
    if (window.empty())
      return Error::Make(ErrorKind::kDataLoss, "the body has more bytes than the sink accepts");
    const std::size_t count = std::min({window.size(), rest.size(), options_.chunk_size_bytes});
    std::memcpy(window.data(), rest.data(), count);
    PENSTOCK_TRY(request.sink->Commit(count));
    rest = rest.subspan(count);
  }
  return object.metadata;
}

Result<ObjectMetadata> MemoryState::Apply(const HeadObjectRequest& request) {
  PENSTOCK_ASSIGN(StoredObject object, FindObject(request.bucket, request.key, request.version_id));
  PENSTOCK_TRY(CheckReadConditions(request, object.metadata));
  return std::move(object.metadata);
}

Result<PutObjectResponse> MemoryState::Apply(const PutObjectRequest& request) {
  PENSTOCK_ASSIGN(std::shared_ptr<const Blob> blob, ReadAll(request.body, request.options));
  StoredObject object{blob, MakeMetadata(*blob, Md5ETag(blob->view()), request.attributes)};
  const PutObjectResponse response{.etag = object.metadata.etag};
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  const auto found = bucket->objects.find(request.key.value);
  if (request.if_none_match_any && found != bucket->objects.end())
    return PreconditionFailed("If-None-Match");
  if (request.if_match) {
    if (found == bucket->objects.end()) return NoSuchKey(request.key);
    if (found->second.metadata.etag != *request.if_match) return PreconditionFailed("If-Match");
  }
  if (request.write_offset) return Append(request, *blob, *bucket);
  bucket->objects[request.key.value] = std::move(object);
  return response;
}

Result<PutObjectResponse> MemoryState::Append(const PutObjectRequest& request, const Blob& more,
                                              StoredBucket& bucket) const {
  if (!IsDirectoryBucket(request.bucket.value)) {
    return S3Error(ErrorKind::kUnsupported, 501, "NotImplemented",
                   "appending is supported in directory buckets only");
  }
  const auto found = bucket.objects.find(request.key.value);
  if (found == bucket.objects.end() && *request.write_offset > 0) return NoSuchKey(request.key);
  const ByteView before = found == bucket.objects.end() ? ByteView() : found->second.blob->view();
  if (before.size() != *request.write_offset) {
    return S3Error(ErrorKind::kInvalidArgument, 400, "InvalidWriteOffset",
                   "the write offset is " + std::to_string(*request.write_offset) +
                       ", but the object has " + std::to_string(before.size()) + " bytes");
  }
  auto whole = std::make_shared<Blob>();
  whole->size = before.size() + more.size;
  whole->data = std::make_unique_for_overwrite<std::byte[]>(whole->size);
  std::ranges::copy(before, whole->data.get());
  std::ranges::copy(more.view(), whole->data.get() + before.size());
  StoredObject object{whole, MakeMetadata(*whole, Md5ETag(whole->view()), request.attributes)};
  PutObjectResponse response{.etag = object.metadata.etag, .object_size = whole->size};
  bucket.objects[request.key.value] = std::move(object);
  return response;
}

Result<DeleteObjectResponse> MemoryState::Apply(const DeleteObjectRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  const auto found = bucket->objects.find(request.key.value);
  if (request.if_match && found != bucket->objects.end() &&
      found->second.metadata.etag != *request.if_match) {
    return PreconditionFailed("If-Match");
  }
  // Deleting an absent version succeeds.
  if (request.version_id.empty() || request.version_id.value == kNullVersion)
    bucket->objects.erase(request.key.value);
  return DeleteObjectResponse{};
}

Result<DeleteObjectsResponse> MemoryState::Apply(const DeleteObjectsRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  const std::size_t count = request.keys.size() + request.objects.size();
  if (count == 0 || count > 1000) {
    return S3Error(ErrorKind::kInvalidArgument, 400, "MalformedXML",
                   "DeleteObjects takes 1 to 1000 keys, not " + std::to_string(count));
  }
  DeleteObjectsResponse response;
  const auto remove = [&](const ObjectKey& key, const VersionId& version) {
    if (version.empty() || version.value == kNullVersion) bucket->objects.erase(key.value);
    if (request.list_deleted) response.deleted.push_back({key, version, false, {}});
  };
  for (const ObjectKey& key : request.keys) remove(key, {});
  for (const ObjectToDelete& object : request.objects) {
    const auto found = bucket->objects.find(object.key.value);
    const bool other = object.if_match && found != bucket->objects.end() &&
                       found->second.metadata.etag != *object.if_match;
    if (other) {
      response.failures.push_back({object.key, "PreconditionFailed",
                                   "At least one of the preconditions you specified did not hold.",
                                   object.version_id});
    } else {
      remove(object.key, object.version_id);
    }
  }
  return response;
}

Result<CopyObjectResponse> MemoryState::Apply(const CopyObjectRequest& request) {
  PENSTOCK_ASSIGN(StoredObject object,
                  FindObject(request.source_bucket, request.source_key, request.source_version_id));
  if (request.source_if_match && *request.source_if_match != object.metadata.etag) {
    return PreconditionFailed("x-amz-copy-source-If-Match");
  }
  if (request.metadata_directive == CopyDirective::kReplace) {
    const ETag etag = object.metadata.etag;
    object.metadata = MakeMetadata(*object.blob, etag, request.attributes);
  }
  // A plain MD5, even for a multipart source.
  object.metadata.etag = Md5ETag(object.blob->view());
  object.metadata.last_modified = options_.clock->Now();
  const CopyObjectResponse response{object.metadata.etag, object.metadata.last_modified, {}};
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  bucket->objects[request.key.value] = std::move(object);
  return response;
}

Result<ListObjectsResponse> MemoryState::Apply(const ListObjectsRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  return ListBucket(*bucket, request);
}

Result<ListObjectVersionsResponse> MemoryState::Apply(const ListObjectVersionsRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  return ListBucket(*bucket, request);
}

Result<NoResponse> MemoryState::Apply(const CreateBucketRequest& request) {
  const MutexLock lock(mutex_);
  const auto [bucket, created] = buckets_.try_emplace(request.bucket.value);
  if (!created) {
    return S3Error(
        ErrorKind::kAlreadyExists, 409, "BucketAlreadyOwnedByYou",
        "Your previous request to create the named bucket succeeded and you already own it.");
  }
  bucket->second.created = options_.clock->Now();
  return NoResponse{};
}

Result<HeadBucketResponse> MemoryState::Apply(const HeadBucketRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_TRY(FindBucket(request.bucket));
  return HeadBucketResponse{"us-east-1"};
}

Result<NoResponse> MemoryState::Apply(const DeleteBucketRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(const StoredBucket* bucket, FindBucket(request.bucket));
  if (!bucket->objects.empty()) {
    return S3Error(ErrorKind::kConflict, 409, "BucketNotEmpty",
                   "The bucket you tried to delete is not empty");
  }
  buckets_.erase(request.bucket.value);
  return NoResponse{};
}

Result<ListBucketsResponse> MemoryState::Apply(const ListBucketsRequest&) {
  const MutexLock lock(mutex_);
  ListBucketsResponse response;
  for (const auto& [name, bucket] : buckets_)
    response.buckets.push_back({BucketName(name), bucket.created});
  return response;
}

}  // namespace penstock::testing
