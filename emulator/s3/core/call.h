// One S3 operation in progress: the exchange, the options, the store, and the lookups that every
// operation starts with.
#ifndef PENSTOCK_EMULATOR_S3_CORE_CALL_H_
#define PENSTOCK_EMULATOR_S3_CORE_CALL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/protocol/names.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

enum class AuthorizationMode : std::uint8_t {
  kOn,   // Policies, ACLs and Block Public Access decide, as in S3.
  kOff,  // The account that owns a bucket may do everything in it, other accounts nothing.
};

// Settings of the emulator that operations read.
struct RouterOptions {
  std::string region = "us-east-1";
  std::uint64_t min_part_size_bytes = 5ull << 20;      // Tests lower it.
  std::size_t max_buckets_per_account = 10'000;        // AWS's default since November 2024.
  std::size_t max_directory_buckets_per_region = 100;  // Per account.
  // Limit for the appends to an object and for the parts of an upload. Tests lower it.
  int max_object_parts = 10'000;
  BucketNameRules bucket_names = BucketNameRules::kCurrent;
  AuthorizationMode authorization = AuthorizationMode::kOn;
};

struct Call {
  Exchange& exchange;
  const RouterOptions& options;
  store::Store& store;
  // The request is signed in its query string: x-amz-* query parameters count as headers.
  bool presigned = false;
  store::BucketPtr opened;  // The addressed bucket, set by OpenBucket.
  // Headers that are added to the error response when the operation fails.
  std::vector<std::pair<std::string, std::string>> error_headers;
  HeaderFamilies families = {};  // Set before the operation runs.
  // Set by an operation that responds later (write_later.h). It is called once the write has
  // committed or failed, and completes the response.
  std::function<Result<void>(Call&)> continuation = {};

  const BucketName& bucket() const { return exchange.target.bucket; }
  const ObjectKey& key() const { return exchange.target.key; }
  bool is_head() const { return exchange.request.method == "HEAD"; }
  Response& response() { return exchange.response; }
  std::optional<std::string_view> Query(std::string_view name) const {
    return exchange.target.Get(name);
  }
  // Returns a request header or, for a presigned request, the x-amz-* query parameter of that name.
  std::optional<std::string_view> Header(std::string_view name) const;
  // Responds with status 200 and an XML document.
  void RespondXml(std::string document);
};

// Returns the document stored under `key` in the bucket's configuration, or null. An empty document
// marks a deleted configuration.
const std::string* FindConfiguration(const store::BucketRecord& bucket, std::string_view key);

// Returns the addressed bucket after the checks that all operations share:
// - The bucket exists, and the endpoint serves its region (regions.h).
// - x-amz-expected-bucket-owner matches its owner.
// Whether the requester may use it is another question (s3/authorization). The router calls this
// before the operation, so that a later call only returns `opened`.
Result<store::BucketPtr> OpenBucket(Call& call);
// Returns the account id of a canonical id; empty if the account is unknown.
std::string AccountIdOf(const Call& call, std::string_view owner_id);
// Returns the source bucket of a copy, which may be in any region. Checks
// x-amz-source-expected-bucket-owner.
Result<store::BucketPtr> OpenSourceBucket(Call& call, const BucketName& name);

// S3's error for a version that does not exist: 404 NoSuchVersion, or 400 InvalidArgument if the
// store never issued the id.
Error NoSuchVersion(const ObjectKey& key, const VersionId& version);

// Parses `versionId`. Returns nullopt if it is absent and InvalidArgument if it is not a version
// id.
Result<std::optional<VersionId>> VersionParameter(const Call& call);

// How an operation without a version id treats a key whose newest version is a delete marker.
enum class LatestMarker : std::uint8_t {
  kNoObject,  // 404 NoSuchKey: operations that read the object.
  // 405 MethodNotAllowed: tagging, and PutObjectAcl (recorded against Amazon S3).
  kRefused,
};

// Returns the addressed object, or S3's error for a missing object or a delete marker. For a delete
// marker it also adds the headers to `call.error_headers`.
Result<store::ObjectPtr> OpenObject(Call& call, const std::optional<VersionId>& version,
                                    LatestMarker latest = LatestMarker::kNoObject);

// Adds x-amz-version-id to the response of a read if the bucket is or was versioned.
void AddVersionHeader(Call& call, const store::BucketRecord& bucket,
                      const store::ObjectRecord& object);

// Parses a query parameter that is an integer of 32 bits, which may be negative. Absent or empty:
// `fallback`.
Result<std::int64_t> IntegerParameter(const Call& call, std::string_view name,
                                      std::int64_t fallback);

// Adds x-amz-version-id if versioning is enabled. S3 omits it when versioning is suspended.
void AddNewVersionHeader(Call& call, const store::PutOutcome& outcome);

// Returns the URL of the addressed object at the request's host and in the style of the request:
// "https://bucket.s3.amazonaws.com/a%2Fb" or "http://127.0.0.1:9000/bucket/a%2Fb". S3 escapes the
// slashes of the key (github.com/aws/aws-sdk-js/issues/811 and 1158).
std::string ObjectUrl(const Call& call);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CALL_H_
