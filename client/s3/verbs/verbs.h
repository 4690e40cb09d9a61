// The operations as pure functions. BuildRequest checks a typed request and returns what is sent.
// ParseResponse converts a successful response.
#ifndef PENSTOCK_CLIENT_S3_VERBS_VERBS_H_
#define PENSTOCK_CLIENT_S3_VERBS_VERBS_H_

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/s3/verbs/document.h"
#include "client/s3/verbs/wire.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"
#include "penstock/credentials.h"
#include "penstock/directory_bucket.h"
#include "penstock/object_store.h"

namespace penstock::s3 {

// Operations without a response document.
template <class Request>
requires std::same_as<typename Request::Response, NoResponse> Result<NoResponse> ParseResponse(
    const Request&, const WireResponse& response) {
  PENSTOCK_TRY(CheckNoDocument(response));
  return NoResponse{};
}

// read_object.cc

// The content of a 200 or 206 according to its head.
struct ParsedObjectHead {
  ObjectMetadata metadata;
  std::uint64_t body_length = 0;
  bool whole_object = false;
};

// Returns kDataLoss if the response is not the requested object or range: another ETag than
// If-Match, a Content-Range that differs from the range, a whole object instead of a part, or
// contradictory or missing lengths.
Result<ParsedObjectHead> ReadObjectHead(const GetObjectRequest& request,
                                        const http::ResponseHead& head);

// Returns kInvalidArgument if the sink is missing or the range is empty.
Result<WireRequest> BuildRequest(const GetObjectRequest& request, const BuildContext& context);
Result<ObjectMetadata> ParseResponse(const GetObjectRequest& request, const WireResponse& response);
Result<WireRequest> BuildRequest(const HeadObjectRequest& request, const BuildContext& context);
Result<ObjectMetadata> ParseResponse(const HeadObjectRequest& request,
                                     const WireResponse& response);

// write_object.cc

// Returns kUnsupported with the bucket and `instead` unless it is a directory bucket.
Result<void> CheckDirectoryBucket(std::string_view operation, const BucketName& bucket,
                                  std::string_view instead);

Result<WireRequest> BuildRequest(const PutObjectRequest& request, const BuildContext& context);
Result<PutObjectResponse> ParseResponse(const PutObjectRequest& request,
                                        const WireResponse& response);
Result<WireRequest> BuildRequest(const CopyObjectRequest& request, const BuildContext& context);
Result<CopyObjectResponse> ParseResponse(const CopyObjectRequest& request,
                                         const WireResponse& response);
// `request.client_token` must be set: all attempts of a call use the same token.
Result<WireRequest> BuildRequest(const RenameObjectRequest& request, const BuildContext& context);

// delete_objects.cc

constexpr std::size_t kMaxKeysToDelete = 1000;

Result<WireRequest> BuildRequest(const DeleteObjectRequest& request, const BuildContext& context);
Result<DeleteObjectResponse> ParseResponse(const DeleteObjectRequest& request,
                                           const WireResponse& response);
bool HasEmptyKey(const DeleteObjectsRequest& request);
Result<WireRequest> BuildRequest(const DeleteObjectsRequest& request, const BuildContext& context);
Result<DeleteObjectsResponse> ParseResponse(const DeleteObjectsRequest& request,
                                            const WireResponse& response);

// list_objects.cc and list_object_versions.cc

Result<WireRequest> BuildRequest(const ListObjectsRequest& request, const BuildContext& context);
Result<ListObjectsResponse> ParseResponse(const ListObjectsRequest& request,
                                          const WireResponse& response);
Result<WireRequest> BuildRequest(const ListObjectVersionsRequest& request,
                                 const BuildContext& context);
Result<ListObjectVersionsResponse> ParseResponse(const ListObjectVersionsRequest& request,
                                                 const WireResponse& response);

// multipart_upload.cc

// Declares a FULL_OBJECT CRC64NVME if uploads carry checksums.
Result<WireRequest> BuildRequest(const CreateMultipartUploadRequest& request,
                                 const BuildContext& context);
Result<CreateMultipartUploadResponse> ParseResponse(const CreateMultipartUploadRequest& request,
                                                    const WireResponse& response);
Result<WireRequest> BuildRequest(const UploadPartRequest& request, const BuildContext& context);
Result<CompletedPart> ParseResponse(const UploadPartRequest& request, const WireResponse& response);
Result<WireRequest> BuildRequest(const UploadPartCopyRequest& request, const BuildContext& context);
Result<CompletedPart> ParseResponse(const UploadPartCopyRequest& request,
                                    const WireResponse& response);
// A 200 may still contain an <Error>.
Result<WireRequest> BuildRequest(const CompleteMultipartUploadRequest& request,
                                 const BuildContext& context);
Result<PutObjectResponse> ParseResponse(const CompleteMultipartUploadRequest& request,
                                        const WireResponse& response);
Result<WireRequest> BuildRequest(const AbortMultipartUploadRequest& request,
                                 const BuildContext& context);

// multipart_listing.cc

Result<WireRequest> BuildRequest(const ListPartsRequest& request, const BuildContext& context);
Result<ListPartsResponse> ParseResponse(const ListPartsRequest& request,
                                        const WireResponse& response);
Result<WireRequest> BuildRequest(const ListMultipartUploadsRequest& request,
                                 const BuildContext& context);
Result<ListMultipartUploadsResponse> ParseResponse(const ListMultipartUploadsRequest& request,
                                                   const WireResponse& response);

// buckets.cc

// A bucket is created in the client's region, a directory bucket in the zone of its name. Returns
// kInvalidArgument for an access point of a directory bucket: another service creates those.
Result<WireRequest> BuildRequest(const CreateBucketRequest& request, const BuildContext& context);
Result<WireRequest> BuildRequest(const DeleteBucketRequest& request, const BuildContext& context);
Result<WireRequest> BuildRequest(const HeadBucketRequest& request, const BuildContext& context);
Result<HeadBucketResponse> ParseResponse(const HeadBucketRequest& request,
                                         const WireResponse& response);
Result<WireRequest> BuildRequest(const ListBucketsRequest& request, const BuildContext& context);
Result<ListBucketsResponse> ParseResponse(const ListBucketsRequest& request,
                                          const WireResponse& response);
Result<WireRequest> BuildRequest(const ListDirectoryBucketsRequest& request,
                                 const BuildContext& context);
Result<ListDirectoryBucketsResponse> ParseResponse(const ListDirectoryBucketsRequest& request,
                                                   const WireResponse& response);

// express/create_session.cc

// Not public: the client creates sessions itself. The session mode is S3's default, which follows
// from the identity's permissions.
struct CreateSessionRequest {
  BucketName bucket;
};

// Credentials that are valid for five minutes and only for one directory bucket.
struct BucketSession {
  CredentialsPtr credentials;       // Secret. expires_at is by the clock of `now` of ParseSession.
  std::chrono::seconds lifetime{};  // From the moment of the response.
};

Result<WireRequest> BuildRequest(const CreateSessionRequest& request, const BuildContext& context);

// `now` is the time by the client's clock. The lifetime is relative to the response's Date, or to
// `now` without one, so a wrong local clock has no effect. Returns kUnavailable if the document is
// not a session.
Result<BucketSession> ParseSession(const WireResponse& response, WallTime now);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_VERBS_VERBS_H_
