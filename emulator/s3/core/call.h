// One S3 operation in progress: the exchange, the settings and the store, and the look-ups every
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
#include "emulator/s3/core/router.h"
#include "emulator/s3/protocol/strict.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct Call {
  Exchange& exchange;
  const RouterOptions& options;
  store::Store& store;
  // query-authenticated: x-amz-* query parameters count as headers (spec §0)
  bool presigned = false;
  store::BucketPtr opened;  // the addressed bucket, once OpenBucket admitted the request to it
  // Added to the error document's headers when the operation fails.
  std::vector<std::pair<std::string, std::string>> error_headers;
  HeaderFamilies families = {};  // set before the operation runs
  // Set by an operation that answers later (write_later.h): its second half, called once its write
  // is settled.
  std::function<Result<void>(Call&)> rest = {};

  const BucketName& bucket() const { return exchange.target.bucket; }
  const ObjectKey& key() const { return exchange.target.key; }
  bool is_head() const { return exchange.request.method == "HEAD"; }
  Response& response() { return exchange.response; }
  std::optional<std::string_view> Query(std::string_view name) const {
    return exchange.target.Get(name);
  }
  // A request header, or, for a presigned request, the x-amz-* query parameter of that name.
  std::optional<std::string_view> Header(std::string_view name) const;
  // Answers 200 with an XML document.
  void RespondXml(std::string document);
};

// The addressed bucket, after the checks that any operation on it makes: it exists, the endpoint
// serves its region (regions.h), x-amz-expected-bucket-owner names its owner, and the requester may
// come in (access.h). The router has opened it before an operation begins, so that there it is a
// look-up.
Result<store::BucketPtr> OpenBucket(Call& call);
// A copy's source: any region, with its own expectation header, and the same question of access.
Result<store::BucketPtr> OpenSourceBucket(Call& call, const BucketName& name);

// S3's answer for a version that is not there: 404 NoSuchVersion, or, for an id that was never
// given out, 400.
Error NoSuchVersion(const ObjectKey& key, const VersionId& version);

// `versionId`: nullopt when absent; InvalidArgument when it cannot be one.
Result<std::optional<VersionId>> VersionParameter(const Call& call);

// What the newest version of a key is to an operation that names no version, where it is a delete
// marker.
enum class LatestMarker : std::uint8_t {
  kNoObject,  // 404 NoSuchKey: reads of the object
  // 405 MethodNotAllowed: what S3 keeps beside the object (tags; an ACL that is put), as recorded
  kRefused,
};

// The addressed object, or S3's answer for a missing one and for delete markers (spec §2.7), whose
// headers it adds.
Result<store::ObjectPtr> OpenObject(Call& call, const std::optional<VersionId>& version,
                                    LatestMarker latest = LatestMarker::kNoObject);

// x-amz-version-id of a read: only where the bucket is or was versioned.
void AddVersionHeader(Call& call, const store::BucketRecord& bucket,
                      const store::ObjectRecord& object);

// A decimal query parameter in [0, 2147483647]; `fallback` when absent; nullopt when malformed.
std::optional<int> IntegerParameter(const Call& call, std::string_view name, int fallback);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_CALL_H_
