// Client's named operations: each one starts the call of its request, and waits for it in the
// blocking form.
#include <memory>
#include <utility>

#include "base/log/caught.h"
#include "penstock/client.h"

namespace penstock {
namespace {

template <class Request>
Pending<typename Request::Response> Begin(Client& client, Request request) {
  return internal::StartPending(client, std::move(request));
}

template <class Request>
Result<typename Request::Response> Wait(Client& client, Request request,
                                        const Interrupt& interrupt) {
  return internal::CallAndWait(client, std::move(request), interrupt);
}

// The call owns the body until it has ended.
template <class Request>
Pending<typename Request::Response> BeginWith(Client& client, Request request, Body body) {
  auto call = MakePending<typename Request::Response>(request.options.cancel);
  // Shared: the callback must be copyable.
  auto owned = std::make_shared<Body>(std::move(body));
  request.options.cancel = std::move(call.cancel);
  request.body = owned->source();
  client.Start(std::move(request), [owned, done = std::move(call.done)](auto result) mutable {
    owned.reset();
    done(std::move(result));
  });
  return std::move(call.pending);
}

template <class Request>
Result<typename Request::Response> WaitWith(Client& client, Request request, Body body,
                                            const Interrupt& interrupt) {
  request.body = body.source();
  return Wait(client, std::move(request), interrupt);
}

PutObjectRequest PutRequest(BucketName bucket, ObjectKey key) {
  return {.bucket = std::move(bucket), .key = std::move(key)};
}
GetObjectRequest GetRequest(BucketName bucket, ObjectKey key) {
  return {.bucket = std::move(bucket), .key = std::move(key)};
}

// A read into a string that the call owns.
struct OwnedRead {
  std::string text;
  StringSink sink{text};
};

}  // namespace

Result<GetObjectResult> Client::GetObject(GetObjectRequest request, const Interrupt& interrupt) {
  GetObjectResult result;
  StringSink sink(result.body);
  if (request.sink == nullptr) request.sink = &sink;
  PENSTOCK_ASSIGN(result.metadata, Wait(*this, std::move(request), interrupt));
  return result;
}
Result<GetObjectResult> Client::GetObject(BucketName bucket, ObjectKey key) {
  return GetObject(GetRequest(std::move(bucket), std::move(key)));
}
Pending<GetObjectResult> Client::GetObjectAsync(GetObjectRequest request) {
  auto call = MakePending<GetObjectResult>(request.options.cancel);
  const auto read = std::make_shared<OwnedRead>();  // Shared: the callback must be copyable.
  request.options.cancel = std::move(call.cancel);
  if (request.sink == nullptr) request.sink = &read->sink;
  Start(std::move(request), [read, done = std::move(call.done)](Result<ObjectMetadata> result) {
    if (!result.ok()) return done(std::move(result).error());
    done(GetObjectResult{std::move(result).value(), std::move(read->text)});
  });
  return std::move(call.pending);
}
Pending<GetObjectResult> Client::GetObjectAsync(BucketName bucket, ObjectKey key) {
  return GetObjectAsync(GetRequest(std::move(bucket), std::move(key)));
}

Result<PutObjectResponse> Client::PutObject(PutObjectRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Result<PutObjectResponse> Client::PutObject(PutObjectRequest request, Body body,
                                            const Interrupt& interrupt) {
  return WaitWith(*this, std::move(request), std::move(body), interrupt);
}
Result<PutObjectResponse> Client::PutObject(BucketName bucket, ObjectKey key, Body body) {
  return PutObject(PutRequest(std::move(bucket), std::move(key)), std::move(body));
}
Pending<PutObjectResponse> Client::PutObjectAsync(PutObjectRequest request) {
  return Begin(*this, std::move(request));
}
Pending<PutObjectResponse> Client::PutObjectAsync(PutObjectRequest request, Body body) {
  return BeginWith(*this, std::move(request), std::move(body));
}
Pending<PutObjectResponse> Client::PutObjectAsync(BucketName bucket, ObjectKey key, Body body) {
  return PutObjectAsync(PutRequest(std::move(bucket), std::move(key)), std::move(body));
}

Result<CompletedPart> Client::UploadPart(UploadPartRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Result<CompletedPart> Client::UploadPart(UploadPartRequest request, Body body,
                                         const Interrupt& interrupt) {
  return WaitWith(*this, std::move(request), std::move(body), interrupt);
}
Pending<CompletedPart> Client::UploadPartAsync(UploadPartRequest request) {
  return Begin(*this, std::move(request));
}
Pending<CompletedPart> Client::UploadPartAsync(UploadPartRequest request, Body body) {
  return BeginWith(*this, std::move(request), std::move(body));
}

Result<ObjectMetadata> Client::HeadObject(HeadObjectRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ObjectMetadata> Client::HeadObjectAsync(HeadObjectRequest request) {
  return Begin(*this, std::move(request));
}
Result<DeleteObjectResponse> Client::DeleteObject(DeleteObjectRequest request,
                                                  const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<DeleteObjectResponse> Client::DeleteObjectAsync(DeleteObjectRequest request) {
  return Begin(*this, std::move(request));
}
Result<DeleteObjectsResponse> Client::DeleteObjects(DeleteObjectsRequest request,
                                                    const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<DeleteObjectsResponse> Client::DeleteObjectsAsync(DeleteObjectsRequest request) {
  return Begin(*this, std::move(request));
}
Result<CopyObjectResponse> Client::CopyObject(CopyObjectRequest request,
                                              const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<CopyObjectResponse> Client::CopyObjectAsync(CopyObjectRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::RenameObject(RenameObjectRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::RenameObjectAsync(RenameObjectRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListObjectsResponse> Client::ListObjects(ListObjectsRequest request,
                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListObjectsResponse> Client::ListObjectsAsync(ListObjectsRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListObjectVersionsResponse> Client::ListObjectVersions(ListObjectVersionsRequest request,
                                                              const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListObjectVersionsResponse> Client::ListObjectVersionsAsync(
    ListObjectVersionsRequest request) {
  return Begin(*this, std::move(request));
}
Result<CreateMultipartUploadResponse> Client::CreateMultipartUpload(
    CreateMultipartUploadRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<CreateMultipartUploadResponse> Client::CreateMultipartUploadAsync(
    CreateMultipartUploadRequest request) {
  return Begin(*this, std::move(request));
}
Result<CompletedPart> Client::UploadPartCopy(UploadPartCopyRequest request,
                                             const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<CompletedPart> Client::UploadPartCopyAsync(UploadPartCopyRequest request) {
  return Begin(*this, std::move(request));
}
Result<PutObjectResponse> Client::CompleteMultipartUpload(CompleteMultipartUploadRequest request,
                                                          const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<PutObjectResponse> Client::CompleteMultipartUploadAsync(
    CompleteMultipartUploadRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::AbortMultipartUpload(AbortMultipartUploadRequest request,
                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::AbortMultipartUploadAsync(AbortMultipartUploadRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListPartsResponse> Client::ListParts(ListPartsRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListPartsResponse> Client::ListPartsAsync(ListPartsRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListMultipartUploadsResponse> Client::ListMultipartUploads(
    ListMultipartUploadsRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListMultipartUploadsResponse> Client::ListMultipartUploadsAsync(
    ListMultipartUploadsRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::CreateBucket(CreateBucketRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::CreateBucketAsync(CreateBucketRequest request) {
  return Begin(*this, std::move(request));
}
Result<HeadBucketResponse> Client::HeadBucket(HeadBucketRequest request,
                                              const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<HeadBucketResponse> Client::HeadBucketAsync(HeadBucketRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::DeleteBucket(DeleteBucketRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::DeleteBucketAsync(DeleteBucketRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListBucketsResponse> Client::ListBuckets(ListBucketsRequest request,
                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListBucketsResponse> Client::ListBucketsAsync(ListBucketsRequest request) {
  return Begin(*this, std::move(request));
}
Result<ListDirectoryBucketsResponse> Client::ListDirectoryBuckets(
    ListDirectoryBucketsRequest request, const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ListDirectoryBucketsResponse> Client::ListDirectoryBucketsAsync(
    ListDirectoryBucketsRequest request) {
  return Begin(*this, std::move(request));
}
Result<BucketConfiguration> Client::GetBucketConfiguration(GetBucketConfigurationRequest request,
                                                           const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<BucketConfiguration> Client::GetBucketConfigurationAsync(
    GetBucketConfigurationRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::PutBucketConfiguration(PutBucketConfigurationRequest request,
                                                  const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::PutBucketConfigurationAsync(PutBucketConfigurationRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::DeleteBucketConfiguration(DeleteBucketConfigurationRequest request,
                                                     const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::DeleteBucketConfigurationAsync(
    DeleteBucketConfigurationRequest request) {
  return Begin(*this, std::move(request));
}
Result<GetBucketVersioningResponse> Client::GetBucketVersioning(GetBucketVersioningRequest request,
                                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<GetBucketVersioningResponse> Client::GetBucketVersioningAsync(
    GetBucketVersioningRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::PutBucketVersioning(PutBucketVersioningRequest request,
                                               const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::PutBucketVersioningAsync(PutBucketVersioningRequest request) {
  return Begin(*this, std::move(request));
}
Result<GetBucketTaggingResponse> Client::GetBucketTagging(GetBucketTaggingRequest request,
                                                          const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<GetBucketTaggingResponse> Client::GetBucketTaggingAsync(GetBucketTaggingRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::PutBucketTagging(PutBucketTaggingRequest request,
                                            const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::PutBucketTaggingAsync(PutBucketTaggingRequest request) {
  return Begin(*this, std::move(request));
}
Result<GetObjectTaggingResponse> Client::GetObjectTagging(GetObjectTaggingRequest request,
                                                          const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<GetObjectTaggingResponse> Client::GetObjectTaggingAsync(GetObjectTaggingRequest request) {
  return Begin(*this, std::move(request));
}
Result<ObjectConfigurationResponse> Client::PutObjectTagging(PutObjectTaggingRequest request,
                                                             const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ObjectConfigurationResponse> Client::PutObjectTaggingAsync(
    PutObjectTaggingRequest request) {
  return Begin(*this, std::move(request));
}
Result<ObjectConfigurationResponse> Client::DeleteObjectTagging(DeleteObjectTaggingRequest request,
                                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ObjectConfigurationResponse> Client::DeleteObjectTaggingAsync(
    DeleteObjectTaggingRequest request) {
  return Begin(*this, std::move(request));
}
Result<ObjectConfiguration> Client::GetObjectConfiguration(GetObjectConfigurationRequest request,
                                                           const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<ObjectConfiguration> Client::GetObjectConfigurationAsync(
    GetObjectConfigurationRequest request) {
  return Begin(*this, std::move(request));
}
Result<NoResponse> Client::PutObjectConfiguration(PutObjectConfigurationRequest request,
                                                  const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<NoResponse> Client::PutObjectConfigurationAsync(PutObjectConfigurationRequest request) {
  return Begin(*this, std::move(request));
}
Result<RestoreObjectResponse> Client::RestoreObject(RestoreObjectRequest request,
                                                    const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<RestoreObjectResponse> Client::RestoreObjectAsync(RestoreObjectRequest request) {
  return Begin(*this, std::move(request));
}
Result<GetObjectAttributesResponse> Client::GetObjectAttributes(GetObjectAttributesRequest request,
                                                                const Interrupt& interrupt) {
  return Wait(*this, std::move(request), interrupt);
}
Pending<GetObjectAttributesResponse> Client::GetObjectAttributesAsync(
    GetObjectAttributesRequest request) {
  return Begin(*this, std::move(request));
}

}  // namespace penstock
