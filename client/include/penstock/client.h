// The S3 client: ObjectStore over HTTP, with signing, endpoint rules, retries and counters.
#ifndef PENSTOCK_CLIENT_H_
#define PENSTOCK_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/credentials.h"
#include "penstock/directory_bucket.h"
#include "penstock/object_store.h"
#include "penstock/stats.h"

namespace penstock {

enum class AddressingStyle { kAuto, kPath, kVirtual };
enum class Signing { kSigned, kUnsigned };
// kDefault: AWS_REQUEST_CHECKSUM_CALCULATION / AWS_RESPONSE_CHECKSUM_VALIDATION, profile, else
// kWhenSupported.
enum class ChecksumPolicy { kDefault, kWhenSupported, kWhenRequired };

// Who moves the bytes. kDefault: PENSTOCK_DATA_PLANE ("direct" or "curl"), else direct. kDirect:
// our own code, without a copy, on connections that libcurl made. kCurl: all is libcurl's; for a
// server or proxy that only it copes with.
enum class DataPlane { kDefault, kDirect, kCurl };

// How failures are tried again (docs/retries.md has the numbers). kDefault: AWS_RETRY_MODE, the
// profile's retry_mode, kStandard where AWS_NEW_RETRIES_2026 is true, else kTuned. kTuned: ours.
// The others are the AWS SDKs' modes of these names.
enum class RetryMode { kDefault, kTuned, kLegacy, kStandard, kAdaptive };
// "tuned", "legacy", ...: as AWS_RETRY_MODE spells it. kDefault is "tuned".
std::string_view RetryModeName(RetryMode mode);

// Everything a Client is made from. Unset members are looked up as the AWS SDKs do
// (spec/protocol.md §3, §4).
struct ClientConfig {
  std::string region;        // empty: AWS_REGION, AWS_DEFAULT_REGION, profile
  std::string endpoint_url;  // empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile, AWS
  AddressingStyle addressing = AddressingStyle::kAuto;
  Signing signing = Signing::kSigned;
  std::string profile;                               // empty: AWS_PROFILE, "default"
  std::shared_ptr<CredentialsProvider> credentials;  // null: the default chain
  // How often a request is sent before its error is returned, 1 to 64. Unset: AWS_MAX_ATTEMPTS, the
  // profile's max_attempts, else the retry mode's own number: 10 tuned, 5 legacy, 3 standard and
  // adaptive.
  std::optional<int> max_attempts;
  bool requester_pays = false;
  std::string user_agent;      // prefix of the User-Agent header
  std::string ca_bundle_path;  // empty: AWS_CA_BUNDLE, system store
  std::chrono::milliseconds connect_timeout{10'000};
  // The attempt fails after this time without progress. Progress is a byte sent, the end of the
  // response head or a byte of the response body; interim (1xx) responses and parts of a head are
  // none.
  std::chrono::milliseconds idle_timeout{30'000};
  // One attempt, from its start to its last byte; then it is tried again, a read from the byte
  // reached. Zero: reads are held to low_speed_bytes_per_second, writes to 15 minutes and the time
  // their body takes at that speed.
  std::chrono::milliseconds attempt_timeout{0};
  // One call with all its attempts and waits; an earlier CallOptions::deadline wins. Zero: no
  // limit.
  std::chrono::milliseconds operation_timeout{0};
  // An attempt to read fails when its response brings fewer bytes per second on average over
  // low_speed_time, or no byte for that long. It is retried, an object from the byte reached.
  // Writes are exempt: S3 may need minutes for one. Zero: no limit, and none for writes either.
  std::uint64_t low_speed_bytes_per_second = 1024;
  std::chrono::milliseconds low_speed_time{30'000};
  RetryMode retry_mode = RetryMode::kDefault;
  // GetObject asks a second time when its first byte is later than nearly all before it, at most
  // two of a hundred; the first answer counts. Never where answers take less than a millisecond,
  // nor soon after the service asked to slow down. Unset: PENSTOCK_HEDGE_READS ("true", "false"),
  // else true.
  std::optional<bool> hedge_reads;
  // Uploads carry a CRC64NVME. kWhenRequired for S3-compatible servers that do not know it.
  ChecksumPolicy upload_checksums = ChecksumPolicy::kDefault;
  // Whole objects are verified against the checksum S3 stored with them.
  ChecksumPolicy download_checksums = ChecksumPolicy::kDefault;
  DataPlane data_plane = DataPlane::kDefault;
  // Which of AWS's endpoints; unset: the environment variable, else the key of the profile, else as
  // said here. Variables and keys take true or false, in either case. AWS_USE_FIPS_ENDPOINT,
  // use_fips_endpoint, false
  std::optional<bool> use_fips_endpoint;
  // AWS_USE_DUALSTACK_ENDPOINT, use_dualstack_endpoint, false
  std::optional<bool> use_dualstack_endpoint;
  std::optional<bool> use_accelerate_endpoint;  // s3.use_accelerate_endpoint, false
  // AWS_S3_USE_ARN_REGION, s3_use_arn_region, true
  std::optional<bool> use_arn_region;
  // AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS, ..., false
  std::optional<bool> disable_multi_region_access_points;
  // True: requests to directory buckets are signed with the credentials themselves, not with a
  // session's. AWS_S3_DISABLE_EXPRESS_SESSION_AUTH, s3_disable_express_session_auth, false.
  std::optional<bool> disable_s3_express_session_auth;
};

// One attempt of one request, as it ended. For traces and counters; holds no secret.
struct RequestEvent {
  std::string operation;
  std::string bucket;
  std::string key;
  int attempt = 1;      // 1-based
  int http_status = 0;  // 0: no response
  std::string error_code;
  WallTime started{};
  std::chrono::nanoseconds first_byte{};  // zero: none arrived
  std::chrono::nanoseconds duration{};
  std::uint64_t bytes_sent = 0;      // of bodies
  std::uint64_t bytes_received = 0;  // of bodies
  std::string data_plane;            // "direct" or "curl"; empty: the attempt got no connection
  bool connection_reused = false;    // it was not that connection's first request
};

// Thread safety: safe from any thread. Making one is cheap and touches no network; connections and
// I/O threads are shared by all Clients of the process and start with the first request. Requests
// to a directory bucket are signed with a session (CreateSession) that all calls of a Client share;
// it is made by the first of them. After fork() the child rebuilds them on its first request; calls
// in flight at the fork belong to the parent. A Client holds no lock of its own that a fork could
// leave taken; its counters and its observer go on in the child from their values at the fork.
class Client final : public ObjectStore {
 public:
  // kInvalidArgument when the configuration cannot work (bad endpoint URL, unsigned with
  // requester_pays, ...).
  static Result<std::unique_ptr<Client>> Create(ClientConfig config);
  ~Client() override;

  using ObjectStore::Call;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override;
  void Start(PutObjectRequest request, Callback<PutObjectResponse> done) override;
  void Start(DeleteObjectRequest request, Callback<NoResponse> done) override;
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

  // What only directory buckets have (directory_bucket.h).
  void Start(RenameObjectRequest request, Callback<NoResponse> done);
  void Start(ListDirectoryBucketsRequest request, Callback<ListDirectoryBucketsResponse> done);
  Result<NoResponse> Call(RenameObjectRequest request, const Interrupt& interrupt = {});
  Result<ListDirectoryBucketsResponse> Call(ListDirectoryBucketsRequest request,
                                            const Interrupt& interrupt = {});

  const ClientConfig& config() const;
  // Counters and histograms since the Client was made; a call costs some microseconds and disturbs
  // nobody.
  ClientStats stats() const;

  // Called once per attempt on an I/O thread, after it ended; must be quick. An exception that
  // leaves it is logged and counted (ClientStats::exceptions) and changes nothing else. Replaces
  // the former observer.
  void SetObserver(std::function<void(const RequestEvent&)> observer);

  // Opaque; defined in client/s3/client.cc.
  struct Impl;

 private:
  explicit Client(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_H_
