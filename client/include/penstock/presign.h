// Presigned URLs and browser forms (AWS Signature Version 4): requests that a program without
// credentials can send until they expire.
//
//     penstock::GetObjectRequest request;
//     request.bucket = penstock::BucketName("bucket");
//     request.key = penstock::ObjectKey("key");
//     auto signed = penstock::Presign(*client, request, {.expires = std::chrono::minutes(10)});
#ifndef PENSTOCK_PRESIGN_H_
#define PENSTOCK_PRESIGN_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/client.h"

namespace PENSTOCK_EXPORT penstock {

struct PresignOptions {
  // 1 s to 7 days. A URL that was signed with temporary credentials expires with them at the
  // latest; one for a directory bucket expires with its session, within 5 minutes. Presign creates
  // another session if the client's one ends before `expires` and is older than 30 s.
  std::chrono::seconds expires{3600};
};

// A signed request. The URL contains the signature, so it is a secret until it expires.
struct PresignedRequest {
  std::string method = {};  // "GET", "PUT", ...
  std::string url = {};
  NameValueList headers = {};  // Must be sent with exactly these values, besides Host.
  WallTime expires_at{};       // An earlier end of the credentials included, if it is known.
};

// Sign a request of the client without sending it. Bodies, sinks, `cancel` and `on_response` of the
// request are ignored. No checksum is computed; with `checksum_algorithm` and `checksum_value` the
// URL accepts only that body.
//
// Presign waits for credentials, and for the session of a directory bucket, until the deadline of
// the request or ClientConfig::operation_timeout. StartPresign does not block: its callback runs on
// an I/O thread or before StartPresign returns.
//
// Errors: kInvalidArgument as for the call itself, for example for a header value with a line
// break, or if `expires` is out of range; kUnauthenticated without credentials; kTimeout; errors of
// the credentials provider and of CreateSession.
void StartPresign(Client& client, const GetObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done);
void StartPresign(Client& client, const HeadObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done);
void StartPresign(Client& client, const PutObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done);
void StartPresign(Client& client, const DeleteObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done);
void StartPresign(Client& client, const UploadPartRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done);
Result<PresignedRequest> Presign(Client& client, const GetObjectRequest& request,
                                 const PresignOptions& options = {});
Result<PresignedRequest> Presign(Client& client, const HeadObjectRequest& request,
                                 const PresignOptions& options = {});
Result<PresignedRequest> Presign(Client& client, const PutObjectRequest& request,
                                 const PresignOptions& options = {});
Result<PresignedRequest> Presign(Client& client, const DeleteObjectRequest& request,
                                 const PresignOptions& options = {});
Result<PresignedRequest> Presign(Client& client, const UploadPartRequest& request,
                                 const PresignOptions& options = {});

// A form for uploads by browsers ("Browser-Based Uploads Using POST", Amazon S3 API Reference).
// General purpose buckets only.
struct PostFormRequest {
  BucketName bucket;
  // The key. If it ends in "${filename}", S3 puts the name of the uploaded file there, and the form
  // accepts every key with this prefix.
  ObjectKey key;
  // Further fields with fixed values, for example {"acl", "private"} or {"Content-Type",
  // "image/png"}. Each becomes a condition of the policy. Names have no quotes and no control
  // characters. Values may have line breaks, because they are bodies of their own in the form (RFC
  // 7578, section 4.2); S3 refuses them where it stores a header.
  NameValueList fields = {};
  // Fields that the browser fills, with the prefix that their values must have; "" accepts every
  // value.
  NameValueList starts_with = {};
  // Bounds of the file's size in bytes, both inclusive.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> content_length_range = {};
  std::chrono::seconds expires{3600};  // 1 s to 7 days.
};
// `fields` precede the field "file", which is the last one of the form.
struct PostForm {
  std::string url;
  NameValueList fields;
};
void StartPresign(Client& client, const PostFormRequest& request, Callback<PostForm> done);
Result<PostForm> Presign(Client& client, const PostFormRequest& request);

}  // namespace penstock

#endif  // PENSTOCK_PRESIGN_H_
