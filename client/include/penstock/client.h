// The S3 client: ObjectStore over HTTP, with signing, endpoint resolution, retries and counters.
#ifndef PENSTOCK_CLIENT_H_
#define PENSTOCK_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/export.h"
#include "penstock/base/log.h"
#include "penstock/bodies.h"
#include "penstock/bucket_configuration.h"
#include "penstock/credentials.h"
#include "penstock/directory_bucket.h"
#include "penstock/node_cache.h"
#include "penstock/object_configuration.h"
#include "penstock/object_store.h"
#include "penstock/stats.h"

namespace PENSTOCK_EXPORT penstock {

// Whether the bucket is in the path (host/bucket/key) or before the host (bucket.host/key).
enum class AddressingStyle {
  kAuto,  // PENSTOCK_ADDRESSING_STYLE, then the profile's s3.addressing_style, else virtual at
          // AWS's host names and path at those of other services.
  kPath,
  kVirtual,  // Path if the host is an IP address, or if the bucket cannot be a label of the host.
};
enum class Signing { kSigned, kUnsigned };
// kDefault: AWS_REQUEST_CHECKSUM_CALCULATION or AWS_RESPONSE_CHECKSUM_VALIDATION, then the profile,
// else kWhenSupported.
enum class ChecksumPolicy { kDefault, kWhenSupported, kWhenRequired };

// How failed attempts are retried; docs/reference/retries.md has the numbers. kDefault:
// AWS_RETRY_MODE, then the profile's retry_mode, then kStandard if AWS_NEW_RETRIES_2026 is true,
// else kTuned. kTuned is this client's own mode. The others are the AWS SDKs' modes of the same
// names.
enum class RetryMode { kDefault, kTuned, kLegacy, kStandard, kAdaptive };
// Returns the name as in AWS_RETRY_MODE: "tuned", "legacy", and so on. kDefault returns "tuned".
std::string_view RetryModeName(RetryMode mode);

// The proxy of a Client's connections.
struct ProxyConfig {
  // "http://host:port", with user:password@ before the host if the proxy requires credentials,
  // special characters of both as %XX. Also https, socks4, socks4a, socks5 and socks5h. An empty
  // URL means no proxy, whatever the environment says.
  std::string url = {};
  // Hosts without the proxy: names, domains (".example.com"), addresses or networks (CIDR),
  // separated by commas; "*" is all.
  std::string no_proxy = {};
};

// A failed attempt that a retry policy judges. The members are valid during the call.
struct RetryQuestion {
  std::string_view operation;  // "GetObject"
  std::string_view bucket;
  std::string_view key;
  int attempt = 1;  // 1-based: how often the request has been sent.
  const Error& error;
  bool retried_by_default = false;  // What the retry mode decided.
};
enum class RetryVerdict {
  kDefault,  // As the retry mode decided.
  kRetry,    // Retry after the mode's delay. max_attempts, the deadline and the quota still apply.
  kStop,     // The call ends with this error.
};
using RetryPolicy = std::function<RetryVerdict(const RetryQuestion&)>;
// A policy that decides later: it passes its verdict to `decide`, on any thread. The first call of
// `decide` counts. `decide` may be called after the end of the Client.
using AsyncRetryPolicy =
    std::function<void(const RetryQuestion&, std::function<void(RetryVerdict)> decide)>;

// Configuration of a Client. Unset members are looked up in the order of the "AWS SDKs and Tools
// Reference Guide".
struct ClientConfig {
  std::string region = {};        // empty: AWS_REGION, AWS_DEFAULT_REGION, profile
  std::string endpoint_url = {};  // empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile, AWS
  AddressingStyle addressing_style = AddressingStyle::kAuto;
  Signing signing = Signing::kSigned;
  std::string profile = {};                               // empty: AWS_PROFILE, "default"
  std::shared_ptr<CredentialsProvider> credentials = {};  // null: the default chain
  // Attempts per call, 1 to 64. Unset: AWS_MAX_ATTEMPTS, then the profile's max_attempts, then the
  // default of the retry mode: 10 (tuned), 5 (legacy), 3 (standard, adaptive).
  std::optional<int> max_attempts = {};
  bool requester_pays = false;
  std::string user_agent = {};  // prefix of the User-Agent header
  // A PEM file with the only CA certificates that servers and https proxies are verified with.
  // Empty: AWS_CA_BUNDLE, the profile's ca_bundle, else those of the system.
  std::string ca_bundle_path = {};
  // A folder of CA certificates with names as of `openssl rehash`, in addition to that bundle, or
  // to the system's bundle.
  std::string ca_directory_path = {};
  // The certificate that this client shows to the server (mutual TLS), and its key, as PEM files.
  // The certificate file may hold the key too. An encrypted key needs its password.
  std::string client_certificate_path = {};
  std::string client_key_path = {};
  std::string client_key_password = {};
  // Unset: the variables http_proxy, https_proxy, all_proxy and no_proxy.
  std::optional<ProxyConfig> proxy = {};
  // I/O threads, 1 to 64, each with its own connections. Clients with the same number share threads
  // and connections. Unset: the threads of the process, half as many as cores, 1 to 16, of which
  // the fifth and later ones take only large bodies.
  std::optional<int> io_threads = {};
  // Connections in use at a time, 1 to 4,096, by all clients with the same io_threads and
  // max_connections together. Further requests wait for one. Unset: 256 for the clients that leave
  // it unset.
  std::optional<int> max_connections = {};
  // Bytes of bodies per second that this client may receive, and as many that it may send: at least
  // 65,536. low_speed_bytes_per_second must be lower than the share of each request. Unset: no
  // limit.
  std::optional<std::uint64_t> max_bytes_per_second = {};
  // Judges each failed attempt, except corrections of region, clock and credentials. Runs on an I/O
  // thread and must not block. An exception ends the call with an error.
  RetryPolicy retry_policy = {};
  // As retry_policy, which must be empty then, for code that must not run on an I/O thread. It
  // starts on an I/O thread. A call waits for the verdict at most 30 s, then takes kDefault; its
  // deadline and its cancellation end the wait.
  AsyncRetryPolicy async_retry_policy = {};
  std::chrono::milliseconds connect_timeout{10'000};
  // The attempt fails after this time without progress. Progress is a byte sent, the end of the
  // response head or a byte of the response body. Interim (1xx) responses and parts of a head do
  // not count.
  std::chrono::milliseconds idle_timeout{30'000};
  // Limit for one attempt, from its start to its last byte. A read that exceeds it is retried from
  // the byte reached. Zero: reads must keep low_speed_bytes_per_second; writes get 1 minute (copies
  // and CompleteMultipartUpload 15) plus the time their body takes at that rate.
  std::chrono::milliseconds attempt_timeout{0};
  // Limit for one call with all its attempts and waits. An earlier CallOptions::deadline takes
  // precedence. Zero: no limit.
  std::chrono::milliseconds operation_timeout{0};
  // A read attempt fails if its response averages fewer bytes per second over low_speed_time, or if
  // no byte arrives for that long. It is retried; GetObject resumes at the byte reached. Writes are
  // exempt, because S3 may need minutes to respond. Zero: no limit, and no attempt limit for writes
  // either.
  std::uint64_t low_speed_bytes_per_second = 1024;
  std::chrono::milliseconds low_speed_time{30'000};
  RetryMode retry_mode = RetryMode::kDefault;
  // GetObject sends a second request if the first byte is later than nearly all recent ones, for at
  // most 2 % of the reads. The first response is used. No hedging if responses take less than 1 ms,
  // or shortly after S3 throttled a request. Unset: PENSTOCK_HEDGE_READS ("true" or "false"), else
  // true.
  std::optional<bool> hedge_reads = {};
  // Whether uploads carry a CRC64NVME. Use kWhenRequired for S3-compatible servers without support.
  ChecksumPolicy upload_checksums = ChecksumPolicy::kDefault;
  // Whether whole objects are verified against the checksum that S3 stores.
  ChecksumPolicy download_checksums = ChecksumPolicy::kDefault;
  // SSE-C: the key of every object that this client reads, writes or copies, in requests that name
  // no key of their own. So transfers, streams, datasets and checkpoints use it too. S3 rejects it
  // for objects without SSE-C. Presigned requests contain it only if they name it.
  CustomerKey customer_key = {};
  // Endpoint variants. If unset, the environment variable applies, then the profile key, then the
  // default. Each comment lists these three. Values are "true" or "false" in any case.
  //
  // AWS_USE_FIPS_ENDPOINT, use_fips_endpoint, false.
  std::optional<bool> use_fips_endpoint = {};
  // AWS_USE_DUALSTACK_ENDPOINT, use_dualstack_endpoint, false.
  std::optional<bool> use_dualstack_endpoint = {};
  // No variable, s3.use_accelerate_endpoint, false.
  std::optional<bool> use_accelerate_endpoint = {};
  // AWS_S3_USE_ARN_REGION, s3_use_arn_region, true.
  std::optional<bool> use_arn_region = {};
  // AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS, s3_disable_multiregion_access_points, false.
  std::optional<bool> disable_multi_region_access_points = {};
  // True: requests to directory buckets are signed with the client's credentials instead of a
  // session's. AWS_S3_DISABLE_EXPRESS_SESSION_AUTH, s3_disable_express_session_auth, false.
  std::optional<bool> disable_s3_express_session_auth = {};
  // Caches the bytes that GetObject returns on a local disk, for all processes of the node
  // (docs/how-to/node-cache.md). Reads without an ETag then begin with a HEAD request.
  NodeCacheConfig cache = {};
};

// One completed attempt of a request, for traces and counters. Contains no secrets.
struct RequestEvent {
  std::string operation;
  std::string bucket;
  std::string key;
  int attempt = 1;      // 1-based
  int http_status = 0;  // 0: no response.
  std::string error_code;
  std::string request_id;  // x-amz-request-id, also of a success; no secrets. Empty: no response.
  WallTime started{};
  std::chrono::nanoseconds first_byte{};  // Zero: no byte arrived.
  std::chrono::nanoseconds duration{};
  std::uint64_t bytes_sent = 0;      // Of the body.
  std::uint64_t bytes_received = 0;  // Of the body.
  bool connection_reused = false;    // Not the connection's first request.
};

// The result of GetObject.
struct GetObjectResult {
  ObjectMetadata metadata;
  std::string body;  // The bytes of the object or range. Empty if the request has a sink.
};

// Thread safety: all members may be called from any thread.
//
// Creating a Client is cheap and sends nothing. All Clients of a process share connections and I/O
// threads, which start with the first request. All calls of a Client to a directory bucket share
// one session (CreateSession), which the first of them creates.
//
// After fork() the child rebuilds connections and threads on its first request. Calls in flight at
// the fork belong to the parent. A Client holds no lock that a fork could leave locked. In the
// child its counters and observer continue from their state at the fork.
class Client final : public ObjectStore {
 public:
  // Returns kInvalidArgument if the configuration is invalid, for example a malformed endpoint URL,
  // or requester_pays without signing.
  static Result<std::unique_ptr<Client>> Create(ClientConfig config);
  ~Client() override;

  // Calls Start and waits, as ObjectStore::Call does.
  template <class Request>
  Result<typename Request::Response> Call(Request request, const Interrupt& interrupt = {}) {
    return internal::CallAndWait(*this, std::move(request), interrupt);
  }
  // As ObjectStore::CallAsync.
  template <class Request>
  Pending<typename Request::Response> CallAsync(Request request) {
    return internal::StartPending(*this, std::move(request));
  }
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(PutObjectRequest request, Callback<PutObjectResponse> done) override;
  void Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) override;
  void Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) override;
  void Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) override;
  void Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) override;
  void Start(ListObjectVersionsRequest request, Callback<ListObjectVersionsResponse> done) override;
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override;
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override;
  void Start(UploadPartCopyRequest request, Callback<CompletedPart> done) override;
  void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override;
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override;
  void Start(ListPartsRequest request, Callback<ListPartsResponse> done) override;
  void Start(ListMultipartUploadsRequest request,
             Callback<ListMultipartUploadsResponse> done) override;
  void Start(CreateBucketRequest request, Callback<NoResponse> done) override;
  void Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) override;
  void Start(DeleteBucketRequest request, Callback<NoResponse> done) override;
  void Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) override;
  bool may_repeat() const override;
  int idle_threads() const override;
  Deadline DeadlineOf(const CallOptions& options) const override;
  void OnMismatch(const BucketName& bucket, const ObjectKey& key, const ETag& etag,
                  std::uint64_t object_bytes) override;

  // Operations of directory buckets only (directory_bucket.h).
  void Start(RenameObjectRequest request, Callback<NoResponse> done);
  void Start(ListDirectoryBucketsRequest request, Callback<ListDirectoryBucketsResponse> done);

  // Configurations of buckets and objects (bucket_configuration.h, object_configuration.h).
  void Start(GetBucketConfigurationRequest request, Callback<BucketConfiguration> done);
  void Start(PutBucketConfigurationRequest request, Callback<NoResponse> done);
  void Start(DeleteBucketConfigurationRequest request, Callback<NoResponse> done);
  void Start(GetBucketVersioningRequest request, Callback<GetBucketVersioningResponse> done);
  void Start(PutBucketVersioningRequest request, Callback<NoResponse> done);
  void Start(GetBucketTaggingRequest request, Callback<GetBucketTaggingResponse> done);
  void Start(PutBucketTaggingRequest request, Callback<NoResponse> done);
  void Start(GetObjectTaggingRequest request, Callback<GetObjectTaggingResponse> done);
  void Start(PutObjectTaggingRequest request, Callback<ObjectConfigurationResponse> done);
  void Start(DeleteObjectTaggingRequest request, Callback<ObjectConfigurationResponse> done);
  void Start(GetObjectConfigurationRequest request, Callback<ObjectConfiguration> done);
  void Start(PutObjectConfigurationRequest request, Callback<NoResponse> done);
  void Start(RestoreObjectRequest request, Callback<RestoreObjectResponse> done);
  void Start(GetObjectAttributesRequest request, Callback<GetObjectAttributesResponse> done);

  // ---- Named operations ----
  //
  // Each operation has two forms. NAME(request) blocks as Call does. NAMEAsync(request) returns at
  // once; its Pending is a future, an awaitable, or takes a callback (penstock/base/pending.h). The
  // Client, and sinks and sources of the request, must live until the call has ended.
  //
  // Requests have the same name and live in object_store.h, directory_bucket.h,
  // bucket_configuration.h and object_configuration.h:
  //
  //   auto head = client->HeadObject({.bucket = BucketName("data"), .key = ObjectKey("a")});

  // Reads an object or a range. Without request.sink the body is returned, in memory that grows
  // with the bytes received; use a Download or DownloadFile for large objects. With a sink the
  // bytes go there.
  Result<GetObjectResult> GetObject(GetObjectRequest request, const Interrupt& interrupt = {});
  Result<GetObjectResult> GetObject(BucketName bucket, ObjectKey key);
  Pending<GetObjectResult> GetObjectAsync(GetObjectRequest request);
  Pending<GetObjectResult> GetObjectAsync(BucketName bucket, ObjectKey key);

  // Writes an object of up to 5 GiB in one request. The call owns `body`, which replaces
  // request.body.
  Result<PutObjectResponse> PutObject(PutObjectRequest request, const Interrupt& interrupt = {});
  Result<PutObjectResponse> PutObject(PutObjectRequest request, Body body,
                                      const Interrupt& interrupt = {});
  Result<PutObjectResponse> PutObject(BucketName bucket, ObjectKey key, Body body);
  Pending<PutObjectResponse> PutObjectAsync(PutObjectRequest request);
  Pending<PutObjectResponse> PutObjectAsync(PutObjectRequest request, Body body);
  Pending<PutObjectResponse> PutObjectAsync(BucketName bucket, ObjectKey key, Body body);

  // One part of a multipart upload. The call owns `body`.
  Result<CompletedPart> UploadPart(UploadPartRequest request, const Interrupt& interrupt = {});
  Result<CompletedPart> UploadPart(UploadPartRequest request, Body body,
                                   const Interrupt& interrupt = {});
  Pending<CompletedPart> UploadPartAsync(UploadPartRequest request);
  Pending<CompletedPart> UploadPartAsync(UploadPartRequest request, Body body);

  // The other operations.
  Result<ObjectMetadata> HeadObject(HeadObjectRequest request, const Interrupt& interrupt = {});
  Pending<ObjectMetadata> HeadObjectAsync(HeadObjectRequest request);
  Result<DeleteObjectResponse> DeleteObject(DeleteObjectRequest request,
                                            const Interrupt& interrupt = {});
  Pending<DeleteObjectResponse> DeleteObjectAsync(DeleteObjectRequest request);
  Result<DeleteObjectsResponse> DeleteObjects(DeleteObjectsRequest request,
                                              const Interrupt& interrupt = {});
  Pending<DeleteObjectsResponse> DeleteObjectsAsync(DeleteObjectsRequest request);
  Result<CopyObjectResponse> CopyObject(CopyObjectRequest request, const Interrupt& interrupt = {});
  Pending<CopyObjectResponse> CopyObjectAsync(CopyObjectRequest request);
  Result<NoResponse> RenameObject(RenameObjectRequest request, const Interrupt& interrupt = {});
  Pending<NoResponse> RenameObjectAsync(RenameObjectRequest request);
  Result<ListObjectsResponse> ListObjects(ListObjectsRequest request,
                                          const Interrupt& interrupt = {});
  Pending<ListObjectsResponse> ListObjectsAsync(ListObjectsRequest request);
  Result<ListObjectVersionsResponse> ListObjectVersions(ListObjectVersionsRequest request,
                                                        const Interrupt& interrupt = {});
  Pending<ListObjectVersionsResponse> ListObjectVersionsAsync(ListObjectVersionsRequest request);
  Result<CreateMultipartUploadResponse> CreateMultipartUpload(CreateMultipartUploadRequest request,
                                                              const Interrupt& interrupt = {});
  Pending<CreateMultipartUploadResponse> CreateMultipartUploadAsync(
      CreateMultipartUploadRequest request);
  Result<CompletedPart> UploadPartCopy(UploadPartCopyRequest request,
                                       const Interrupt& interrupt = {});
  Pending<CompletedPart> UploadPartCopyAsync(UploadPartCopyRequest request);
  Result<PutObjectResponse> CompleteMultipartUpload(CompleteMultipartUploadRequest request,
                                                    const Interrupt& interrupt = {});
  Pending<PutObjectResponse> CompleteMultipartUploadAsync(CompleteMultipartUploadRequest request);
  Result<NoResponse> AbortMultipartUpload(AbortMultipartUploadRequest request,
                                          const Interrupt& interrupt = {});
  Pending<NoResponse> AbortMultipartUploadAsync(AbortMultipartUploadRequest request);
  Result<ListPartsResponse> ListParts(ListPartsRequest request, const Interrupt& interrupt = {});
  Pending<ListPartsResponse> ListPartsAsync(ListPartsRequest request);
  Result<ListMultipartUploadsResponse> ListMultipartUploads(ListMultipartUploadsRequest request,
                                                            const Interrupt& interrupt = {});
  Pending<ListMultipartUploadsResponse> ListMultipartUploadsAsync(
      ListMultipartUploadsRequest request);
  Result<NoResponse> CreateBucket(CreateBucketRequest request, const Interrupt& interrupt = {});
  Pending<NoResponse> CreateBucketAsync(CreateBucketRequest request);
  Result<HeadBucketResponse> HeadBucket(HeadBucketRequest request, const Interrupt& interrupt = {});
  Pending<HeadBucketResponse> HeadBucketAsync(HeadBucketRequest request);
  Result<NoResponse> DeleteBucket(DeleteBucketRequest request, const Interrupt& interrupt = {});
  Pending<NoResponse> DeleteBucketAsync(DeleteBucketRequest request);
  Result<ListBucketsResponse> ListBuckets(ListBucketsRequest request = {},
                                          const Interrupt& interrupt = {});
  Pending<ListBucketsResponse> ListBucketsAsync(ListBucketsRequest request = {});
  Result<ListDirectoryBucketsResponse> ListDirectoryBuckets(ListDirectoryBucketsRequest request,
                                                            const Interrupt& interrupt = {});
  Pending<ListDirectoryBucketsResponse> ListDirectoryBucketsAsync(
      ListDirectoryBucketsRequest request);

  // Configurations of buckets and objects (bucket_configuration.h, object_configuration.h).
  Result<BucketConfiguration> GetBucketConfiguration(GetBucketConfigurationRequest request,
                                                     const Interrupt& interrupt = {});
  Pending<BucketConfiguration> GetBucketConfigurationAsync(GetBucketConfigurationRequest request);
  Result<NoResponse> PutBucketConfiguration(PutBucketConfigurationRequest request,
                                            const Interrupt& interrupt = {});
  Pending<NoResponse> PutBucketConfigurationAsync(PutBucketConfigurationRequest request);
  Result<NoResponse> DeleteBucketConfiguration(DeleteBucketConfigurationRequest request,
                                               const Interrupt& interrupt = {});
  Pending<NoResponse> DeleteBucketConfigurationAsync(DeleteBucketConfigurationRequest request);
  Result<GetBucketVersioningResponse> GetBucketVersioning(GetBucketVersioningRequest request,
                                                          const Interrupt& interrupt = {});
  Pending<GetBucketVersioningResponse> GetBucketVersioningAsync(GetBucketVersioningRequest request);
  Result<NoResponse> PutBucketVersioning(PutBucketVersioningRequest request,
                                         const Interrupt& interrupt = {});
  Pending<NoResponse> PutBucketVersioningAsync(PutBucketVersioningRequest request);
  Result<GetBucketTaggingResponse> GetBucketTagging(GetBucketTaggingRequest request,
                                                    const Interrupt& interrupt = {});
  Pending<GetBucketTaggingResponse> GetBucketTaggingAsync(GetBucketTaggingRequest request);
  Result<NoResponse> PutBucketTagging(PutBucketTaggingRequest request,
                                      const Interrupt& interrupt = {});
  Pending<NoResponse> PutBucketTaggingAsync(PutBucketTaggingRequest request);
  Result<GetObjectTaggingResponse> GetObjectTagging(GetObjectTaggingRequest request,
                                                    const Interrupt& interrupt = {});
  Pending<GetObjectTaggingResponse> GetObjectTaggingAsync(GetObjectTaggingRequest request);
  Result<ObjectConfigurationResponse> PutObjectTagging(PutObjectTaggingRequest request,
                                                       const Interrupt& interrupt = {});
  Pending<ObjectConfigurationResponse> PutObjectTaggingAsync(PutObjectTaggingRequest request);
  Result<ObjectConfigurationResponse> DeleteObjectTagging(DeleteObjectTaggingRequest request,
                                                          const Interrupt& interrupt = {});
  Pending<ObjectConfigurationResponse> DeleteObjectTaggingAsync(DeleteObjectTaggingRequest request);
  Result<ObjectConfiguration> GetObjectConfiguration(GetObjectConfigurationRequest request,
                                                     const Interrupt& interrupt = {});
  Pending<ObjectConfiguration> GetObjectConfigurationAsync(GetObjectConfigurationRequest request);
  Result<NoResponse> PutObjectConfiguration(PutObjectConfigurationRequest request,
                                            const Interrupt& interrupt = {});
  Pending<NoResponse> PutObjectConfigurationAsync(PutObjectConfigurationRequest request);
  Result<RestoreObjectResponse> RestoreObject(RestoreObjectRequest request,
                                              const Interrupt& interrupt = {});
  Pending<RestoreObjectResponse> RestoreObjectAsync(RestoreObjectRequest request);
  Result<GetObjectAttributesResponse> GetObjectAttributes(GetObjectAttributesRequest request,
                                                          const Interrupt& interrupt = {});
  Pending<GetObjectAttributesResponse> GetObjectAttributesAsync(GetObjectAttributesRequest request);

  const ClientConfig& config() const;
  // Counters and histograms since the Client was created. A call takes some microseconds and blocks
  // no other thread.
  ClientStats stats() const;

  // Sets the function that runs on an I/O thread after each attempt; it must be quick. Its
  // exceptions are logged and counted (ClientStats::exceptions) and have no other effect. Replaces
  // the previous observer.
  void SetObserver(std::function<void(const RequestEvent&)> observer);

  // Opaque; defined in client/s3/client.cc.
  struct Impl;

 private:
  explicit Client(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_H_
