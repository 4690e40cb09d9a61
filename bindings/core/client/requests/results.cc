#include "bindings/core/client/requests/results.h"

#include <optional>
#include <string>
#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/listing/pages.h"
#include "bindings/core/errors.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Makes an object of a class of penstock.requests.
template <class... Fields>
py::object Record(const char* type, Fields&&... fields) {
  return py::module_::import("penstock.requests").attr(type)(std::forward<Fields>(fields)...);
}

py::object TextOrNone(const std::string& text) {
  return text.empty() ? py::object(py::none()) : TextToPython(text);
}

template <class T>
py::object OrNone(const std::optional<T>& value) {
  return value ? py::cast(*value) : py::object(py::none());
}

py::str Quoted(const ETag& etag) {
  return TextToPython(etag.empty() ? "" : '"' + etag.value + '"');
}

py::object EncryptionName(EncryptionKind kind) {
  switch (kind) {
    case EncryptionKind::kNone: return py::none();
    case EncryptionKind::kS3: return py::str("AES256");
    case EncryptionKind::kKms: return py::str("aws:kms");
    case EncryptionKind::kDsse: return py::str("aws:kms:dsse");
    case EncryptionKind::kCustomerKey: return py::str("SSE-C");
    case EncryptionKind::kOther: break;
  }
  return py::str("other");
}

py::object LockModeName(LockMode mode) {
  switch (mode) {
    case LockMode::kNone: break;
    case LockMode::kGovernance: return py::str("GOVERNANCE");
    case LockMode::kCompliance: return py::str("COMPLIANCE");
  }
  return py::none();
}

py::dict Mapping(const NameValueList& pairs) {
  py::dict mapping;
  for (const auto& [name, value] : pairs) mapping[TextToPython(name)] = TextToPython(value);
  return mapping;
}

py::dict Mapping(const std::vector<Tag>& tags) {
  py::dict mapping;
  for (const Tag& tag : tags) mapping[TextToPython(tag.key)] = TextToPython(tag.value);
  return mapping;
}

template <class T, class Convert>
py::list ListOf(const std::vector<T>& values, Convert convert) {
  py::list list;
  for (const T& value : values) list.append(convert(value));
  return list;
}

}  // namespace

py::object ToPython(const NoResponse&) { return py::none(); }

py::object ToPython(const ObjectMetadata& m) {
  const ObjectDetails& d = *m.details;
  const bool locked = d.lock.mode != LockMode::kNone;
  return Record(
      "ObjectMetadata", "size"_a = m.size, "etag"_a = Quoted(m.etag),
      "last_modified"_a = EpochTime(m.last_modified), "content_type"_a = TextOrNone(m.content_type),
      "storage_class"_a =
          m.storage_class.empty() ? py::str("STANDARD") : TextToPython(m.storage_class),
      "version_id"_a = TextOrNone(m.version_id.value), "restore"_a = TextOrNone(m.restore),
      "checksums"_a = Mapping(m.checksums), "metadata"_a = Mapping(m.user_metadata),
      "range"_a = py::make_tuple(m.range.begin, m.range.end),
      "encryption"_a = EncryptionName(m.encryption), "parts_count"_a = OrNone(m.parts_count),
      "cache_control"_a = TextOrNone(d.cache_control),
      "content_encoding"_a = TextOrNone(d.content_encoding),
      "content_disposition"_a = TextOrNone(d.content_disposition),
      "content_language"_a = TextOrNone(d.content_language), "expires"_a = TextOrNone(d.expires),
      "website_redirect_location"_a = TextOrNone(d.website_redirect),
      "sse_kms_key_id"_a = TextOrNone(d.kms_key_id), "bucket_key_enabled"_a = d.bucket_key,
      "sse_customer_key_md5"_a = TextOrNone(d.customer_key_md5),
      "object_lock_mode"_a = LockModeName(d.lock.mode),
      "object_lock_retain_until_date"_a =
          locked ? py::object(py::float_(EpochTime(d.lock.retain_until))) : py::object(py::none()),
      "object_lock_legal_hold"_a = OrNone(d.lock.legal_hold),
      "expiration"_a = TextOrNone(d.expiration),
      "replication_status"_a = TextOrNone(d.replication_status),
      "archive_status"_a = TextOrNone(d.archive_status), "tag_count"_a = OrNone(d.tag_count),
      "missing_metadata"_a = OrNone(d.missing_metadata));
}

py::object GetResultToPython(const py::object& body, const ObjectMetadata& metadata) {
  return Record("GetResult", body, ToPython(metadata));
}

py::object ToPython(const PutObjectResponse& r) {
  return Record(
      "PutResult", "etag"_a = Quoted(r.etag), "version_id"_a = TextOrNone(r.version_id.value),
      "checksums"_a = Mapping(r.checksums), "encryption"_a = EncryptionName(r.encryption),
      "sse_kms_key_id"_a = TextOrNone(r.kms_key_id), "object_size"_a = OrNone(r.object_size));
}

py::object ToPython(const DeleteObjectResponse& r) {
  return Record("DeleteResult", TextOrNone(r.version_id.value), r.delete_marker);
}

py::object ToPython(const DeleteObjectsResponse& r) {
  return Record("DeleteObjectsResult",
                ListOf(r.deleted,
                       [](const DeleteObjectsResponse::Deleted& d) {
                         return Record("DeletedObject", KeyToPython(d.key.value),
                                       TextOrNone(d.version_id.value), d.delete_marker,
                                       TextOrNone(d.delete_marker_version_id.value));
                       }),
                ListOf(r.failures, [](const DeleteObjectsResponse::Failure& f) {
                  return Record("DeleteFailure", KeyToPython(f.key.value),
                                TextOrNone(f.version_id.value), TextToPython(f.code),
                                TextToPython(f.message));
                }));
}

py::object ToPython(const CopyObjectResponse& r) {
  return Record("CopyResult", "etag"_a = Quoted(r.etag),
                "last_modified"_a = EpochTime(r.last_modified),
                "version_id"_a = TextOrNone(r.version_id.value),
                "src_version_id"_a = TextOrNone(r.source_version_id.value),
                "encryption"_a = EncryptionName(r.encryption));
}

py::object ToPython(const CreateMultipartUploadResponse& r) {
  return TextToPython(r.upload_id.value);
}

py::object ToPython(const CompletedPart& part, std::optional<std::uint64_t> size) {
  const bool crc64nvme = part.checksum_algorithm.empty() && !part.checksum_crc64nvme.empty();
  return Record("CompletedPart", part.part_number, Quoted(part.etag), OrNone(size),
                crc64nvme ? py::object(py::str("crc64nvme")) : TextOrNone(part.checksum_algorithm),
                TextOrNone(crc64nvme ? part.checksum_crc64nvme : part.checksum_value));
}

py::object ToPython(const ListObjectsResponse& page) { return PageToPython(page); }

py::object ToPython(const ListObjectVersionsResponse& page) { return PageToPython(page); }

py::object ToPython(const ListPartsResponse& r) {
  return Record("ListPartsResult",
                ListOf(r.parts,
                       [](const PartSummary& part) {
                         return Record("CompletedPart", part.part_number, Quoted(part.etag),
                                       part.size);
                       }),
                r.next_part_number_marker);
}

py::object ToPython(const ListMultipartUploadsResponse& r) {
  return Record("ListMultipartUploadsResult",
                ListOf(r.uploads,
                       [](const UploadSummary& upload) {
                         return Record("MultipartUpload", KeyToPython(upload.key.value),
                                       TextToPython(upload.upload_id.value),
                                       EpochTime(upload.initiated));
                       }),
                KeyToPython(r.next_key_marker), TextToPython(r.next_upload_id_marker));
}

py::object ToPython(const HeadBucketResponse& r) {
  return Record("HeadBucketResult", TextOrNone(r.region));
}

py::object ToPython(const ListBucketsResponse& r) {
  return ListOf(r.buckets, [](const BucketSummary& bucket) {
    return Record("BucketInfo", TextToPython(bucket.name.value), EpochTime(bucket.created));
  });
}

py::object ToPython(const GetBucketVersioningResponse& r) {
  switch (r.status) {
    case BucketVersioning::kNever: break;
    case BucketVersioning::kEnabled: return py::str("Enabled");
    case BucketVersioning::kSuspended: return py::str("Suspended");
  }
  return py::none();
}

py::object ToPython(const GetBucketTaggingResponse& r) { return Mapping(r.tags); }
py::object ToPython(const GetObjectTaggingResponse& r) { return Mapping(r.tags); }

py::object ToPython(const BucketConfiguration& configuration) {
  return py::bytes(configuration.document);
}

py::object ToPython(const ObjectConfiguration& configuration) {
  return py::bytes(configuration.document);
}

py::object ToPython(const ObjectConfigurationResponse& r) { return TextOrNone(r.version_id.value); }

py::object ToPython(const RestoreObjectResponse& r) { return py::bool_(r.already_restored); }

py::object ToPython(const GetObjectAttributesResponse& r) {
  return Record("GetObjectAttributesResult", "etag"_a = Quoted(r.etag), "size"_a = r.size,
                "storage_class"_a =
                    r.storage_class.empty() ? py::str("STANDARD") : TextToPython(r.storage_class),
                "version_id"_a = TextOrNone(r.version_id.value),
                "last_modified"_a = EpochTime(r.last_modified),
                "checksums"_a = Mapping(r.checksums),
                "checksum_type"_a = TextOrNone(r.checksum_type), "parts_count"_a = r.parts_count,
                "parts"_a = ListOf(r.parts,
                                   [](const ObjectPart& part) {
                                     return Record("ObjectPart", part.part_number, part.size,
                                                   Mapping(part.checksums));
                                   }),
                "next_part_number_marker"_a = r.next_part_number_marker);
}

py::object ToPython(const PresignedRequest& r) {
  return Record("PresignedRequest", TextToPython(r.method), TextToPython(r.url), Mapping(r.headers),
                EpochTime(r.expires_at));
}

py::object ToPython(const PostForm& form) {
  return Record("PresignedPost", TextToPython(form.url), Mapping(form.fields));
}

py::object ToPython(const UploadResponse& r) {
  return Record("UploadFileResult", Quoted(r.etag), r.bytes);
}

py::object ToPython(const DirectoryResponse& r) {
  return Record("DirectoryResult", r.files, r.bytes,
                ListOf(r.failures,
                       [](const FileFailure& failure) {
                         return Record("FileFailure", KeyToPython(failure.path),
                                       KeyToPython(failure.key.value), ExceptionOf(failure.error));
                       }),
                ListOf(r.skipped, KeyToPython));
}

}  // namespace penstock::python
