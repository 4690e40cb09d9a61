// Multipart uploads of the in-memory store.
#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/crc/named_crc.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "client/testing/memory_state.h"

namespace penstock::testing {
namespace {

Error NoSuchUpload(const UploadId& id) {
  Error error = S3Error(
      ErrorKind::kNotFound, 404, "NoSuchUpload",
      "The specified upload does not exist. The upload ID may be invalid, or the upload may have "
      "been aborted or completed.");
  error.details.emplace_back("UploadId", id.value);
  return error;
}

Error BadRequest(std::string code, std::string message) {
  return S3Error(ErrorKind::kInvalidArgument, 400, std::move(code), std::move(message));
}

// Returns the parts of a CompleteMultipartUpload, checked against the stored ones.
Result<std::vector<const StoredPart*>> ChooseParts(const StoredUpload& upload,
                                                   const CompleteMultipartUploadRequest& request,
                                                   std::uint64_t min_part_size_bytes) {
  if (request.parts.empty())
    return BadRequest("InvalidRequest", "You must specify at least one part");
  std::vector<const StoredPart*> chosen;
  int previous = 0;
  std::uint64_t total = 0;
  for (const CompletedPart& part : request.parts) {
    if (part.part_number <= previous) {
      return BadRequest(
          "InvalidPartOrder",
          "The list of parts was not in ascending order. Parts must be ordered by part number.");
    }
    previous = part.part_number;
    const auto found = upload.parts.find(part.part_number);
    if (found == upload.parts.end() || found->second.etag != part.etag) {
      return BadRequest("InvalidPart",
                        "One or more of the specified parts could not be found.  The part may not "
                        "have been uploaded, "
                        "or the specified entity tag may not match the part's entity tag.");
    }
    const bool last = &part == &request.parts.back();
    if (!last && found->second.blob->size < min_part_size_bytes) {
      return BadRequest("EntityTooSmall",
                        "Your proposed upload is smaller than the minimum allowed size");
    }
    chosen.push_back(&found->second);
    total += found->second.blob->size;
  }
  if (total != request.object_size) {
    return BadRequest("InvalidRequest",
                      "The provided 'x-amz-mp-object-size' header value " +
                          std::to_string(request.object_size) +
                          " does not match what was computed: " + std::to_string(total));
  }
  return chosen;
}

// Returns hex(MD5(raw MD5s of the parts))-N.
ETag JoinETags(const std::vector<const StoredPart*>& parts) {
  std::string digests;
  for (const StoredPart* part : parts) digests += HexDecode(part->etag.value).value_or("");
  return ETag(Md5ETag(AsBytes(digests)).value + "-" + std::to_string(parts.size()));
}

std::shared_ptr<const Blob> JoinBlobs(const std::vector<const StoredPart*>& parts) {
  auto joined = std::make_shared<Blob>();
  for (const StoredPart* part : parts) joined->size += part->blob->size;
  joined->data = std::make_unique_for_overwrite<std::byte[]>(joined->size);
  std::uint64_t at = 0;
  for (const StoredPart* part : parts) {
    std::memcpy(joined->data.get() + at, part->blob->data.get(), part->blob->size);
    at += part->blob->size;
  }
  return joined;
}

}  // namespace

Result<StoredUpload*> MemoryState::FindUpload(const BucketName& bucket, const ObjectKey& key,
                                              const UploadId& id) {
  PENSTOCK_ASSIGN(StoredBucket * stored, FindBucket(bucket));
  const auto found = stored->uploads.find(id.value);
  if (found == stored->uploads.end() || found->second.key != key) return NoSuchUpload(id);
  return &found->second;
}

Result<CreateMultipartUploadResponse> MemoryState::Apply(
    const CreateMultipartUploadRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  const UploadId id("upload-" + std::to_string(next_upload_++));
  bucket->uploads[id.value] =
      StoredUpload{request.key, request.attributes, options_.clock->Now(), {}};
  return CreateMultipartUploadResponse{id, true};
}

Result<CompletedPart> MemoryState::StorePart(const BucketName& bucket, const ObjectKey& key,
                                             const UploadId& id, int part_number,
                                             std::shared_ptr<const Blob> blob) {
  if (part_number < 1 || part_number > 10'000) {
    return BadRequest("InvalidArgument",
                      "Part number must be an integer between 1 and 10000, inclusive");
  }
  const ETag etag = Md5ETag(blob->view());
  std::string checksum = CrcText(Crc::kCrc64Nvme, UpdateCrc(Crc::kCrc64Nvme, blob->view(), 0));
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredUpload * upload, FindUpload(bucket, key, id));
  upload->parts[part_number] = StoredPart{std::move(blob), etag};
  return CompletedPart{part_number, etag, std::move(checksum)};
}

Result<CompletedPart> MemoryState::Apply(const UploadPartRequest& request) {
  PENSTOCK_ASSIGN(std::shared_ptr<const Blob> blob, ReadAll(request.body, request.options));
  return StorePart(request.bucket, request.key, request.upload_id, request.part_number,
                   std::move(blob));
}

Result<CompletedPart> MemoryState::Apply(const UploadPartCopyRequest& request) {
  PENSTOCK_ASSIGN(const StoredObject source,
                  FindObject(request.source_bucket, request.source_key, request.source_version_id));
  if (request.source_if_match && *request.source_if_match != source.metadata.etag) {
    return S3Error(ErrorKind::kPreconditionFailed, 412, "PreconditionFailed",
                   "At least one of the pre-conditions you specified did not hold");
  }
  const ByteRange range = request.source_range.value_or(ByteRange{0, source.metadata.size});
  if (range.begin > range.end || range.end > source.metadata.size) {
    return BadRequest("InvalidArgument",
                      "Range specified is not valid for source object of size: " +
                          std::to_string(source.metadata.size));
  }
  auto blob = std::make_shared<Blob>();
  blob->size = range.size();
  blob->data = std::make_unique_for_overwrite<std::byte[]>(blob->size);
  std::memcpy(blob->data.get(), source.blob->data.get() + range.begin, blob->size);
  return StorePart(request.bucket, request.key, request.upload_id, request.part_number,
                   std::move(blob));
}

Result<PutObjectResponse> MemoryState::Apply(const CompleteMultipartUploadRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  const auto repeated = bucket->completed.find(request.upload_id.value);
  if (repeated != bucket->completed.end()) return repeated->second;
  PENSTOCK_ASSIGN(const StoredUpload* upload,
                  FindUpload(request.bucket, request.key, request.upload_id));
  PENSTOCK_ASSIGN(const auto parts, ChooseParts(*upload, request, options_.min_part_size_bytes));
  const auto present = bucket->objects.find(request.key.value);
  const bool there = present != bucket->objects.end();
  if ((request.if_none_match_any && there) ||
      (request.if_match && there && present->second.metadata.etag != *request.if_match)) {
    return S3Error(ErrorKind::kPreconditionFailed, 412, "PreconditionFailed",
                   "At least one of the pre-conditions you specified did not hold");
  }
  if (request.if_match && !there)
    return S3Error(ErrorKind::kNotFound, 404, "NoSuchKey", "The specified key does not exist.");
  StoredObject object;
  object.blob = JoinBlobs(parts);
  if (request.crc64nvme &&
      *request.crc64nvme != UpdateCrc(Crc::kCrc64Nvme, object.blob->view(), 0)) {
    return BadRequest("BadDigest",
                      "The crc64nvme you specified did not match the calculated checksum.");
  }
  object.metadata = MakeMetadata(*object.blob, JoinETags(parts), upload->attributes);
  object.metadata.last_modified = upload->initiated;
  const PutObjectResponse response{object.metadata.etag, {}};
  bucket->objects[request.key.value] = std::move(object);
  bucket->uploads.erase(request.upload_id.value);
  bucket->completed[request.upload_id.value] = response;
  return response;
}

Result<NoResponse> MemoryState::Apply(const AbortMultipartUploadRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_TRY(FindUpload(request.bucket, request.key, request.upload_id));
  PENSTOCK_ASSIGN(StoredBucket * bucket, FindBucket(request.bucket));
  bucket->uploads.erase(request.upload_id.value);
  return NoResponse{};
}

Result<ListPartsResponse> MemoryState::Apply(const ListPartsRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(const StoredUpload* upload,
                  FindUpload(request.bucket, request.key, request.upload_id));
  ListPartsResponse response;
  for (auto part = upload->parts.upper_bound(request.part_number_marker);
       part != upload->parts.end(); ++part) {
    if (response.parts.size() == 1000) {
      response.next_part_number_marker = response.parts.back().part_number;
      break;
    }
    response.parts.push_back({part->first, part->second.blob->size, part->second.etag});
  }
  return response;
}

Result<ListMultipartUploadsResponse> MemoryState::Apply(
    const ListMultipartUploadsRequest& request) {
  const MutexLock lock(mutex_);
  PENSTOCK_ASSIGN(const StoredBucket* bucket, FindBucket(request.bucket));
  std::vector<UploadSummary> all;
  for (const auto& [id, upload] : bucket->uploads) {
    if (!upload.key.value.starts_with(request.prefix)) continue;
    all.push_back({upload.key, UploadId(id), upload.initiated});
  }
  const auto place = [](const UploadSummary& upload) {
    return std::tie(upload.key, upload.initiated, upload.upload_id);
  };
  std::sort(all.begin(), all.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto begin = std::find_if(all.begin(), all.end(), [&](const UploadSummary& upload) {
    if (request.key_marker.empty()) return true;
    if (upload.key.value != request.key_marker) return upload.key.value > request.key_marker;
    return false;
  });
  auto first = begin;
  // With both markers: the uploads after that upload of the key.
  if (!request.upload_id_marker.empty()) {
    const auto marked = std::find_if(all.begin(), all.end(), [&](const UploadSummary& upload) {
      return upload.key.value == request.key_marker &&
             upload.upload_id.value == request.upload_id_marker;
    });
    if (marked != all.end()) first = marked + 1;
  }
  ListMultipartUploadsResponse response;
  const auto count = std::min<std::ptrdiff_t>(1000, all.end() - first);
  response.uploads.assign(first, first + count);
  if (first + count != all.end()) {
    response.next_key_marker = response.uploads.back().key.value;
    response.next_upload_id_marker = response.uploads.back().upload_id.value;
  }
  return response;
}

}  // namespace penstock::testing
