#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/dates.h"
#include "emulator/auth/presign.h"
#include "emulator/json/json_tree.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"

namespace penstock::emulator::server {
namespace {

constexpr double kDefaultExpiry = 3600;
constexpr double kLongestExpiry = 604'800;  // seconds: seven days, as in S3
constexpr std::string_view kMethods[] = {"GET", "PUT", "HEAD", "DELETE"};

struct PresignRequest {
  std::string bucket;
  std::string key;
  std::string method;
  std::string version_id;
  std::chrono::seconds expires{};
};

Result<std::chrono::seconds> ExpiryOf(std::optional<double> given) {
  const double seconds = given.value_or(kDefaultExpiry);
  if (seconds >= 1 && seconds <= kLongestExpiry && std::floor(seconds) == seconds)
    return std::chrono::seconds(static_cast<std::int64_t>(seconds));
  return FieldError("expires_s", "must be a whole number from 1 to 604800 (seven days)");
}

Result<PresignRequest> ParsePresignRequest(std::string_view body) {
  PENSTOCK_ASSIGN(const JsonTree tree, ParseJsonTree(body));
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(tree.root(), "", {"bucket", "key", "method", "expires_s", "version_id"}));
  PresignRequest request;
  PENSTOCK_ASSIGN(request.bucket, fields.RequiredText("bucket"));
  PENSTOCK_ASSIGN(request.key, fields.RequiredText("key"));
  if (!s3::CheckBucketName(request.bucket, s3::BucketNameRules::kRelaxed).ok())
    return FieldError("bucket", "is not the name of a bucket: '" + request.bucket + "'");
  if (const auto checked = s3::CheckKey(request.key); !checked.ok())
    return FieldError("key", "is not an object key: " + checked.error().message);
  if (s3::IsDirectoryBucketName(request.bucket)) {
    return FieldError("bucket",
                      "is a directory bucket, which needs the credentials of a session; presign "
                      "with an SDK");
  }
  PENSTOCK_ASSIGN(request.method, fields.RequiredText("method"));
  if (std::find(std::begin(kMethods), std::end(kMethods), request.method) == std::end(kMethods))
    return FieldError("method", "must be GET, PUT, HEAD or DELETE, not '" + request.method + "'");
  PENSTOCK_ASSIGN(const auto version_id, fields.Text("version_id"));
  request.version_id = version_id.value_or(std::string());
  if (!request.version_id.empty() && request.method == "PUT")
    return FieldError("version_id", "cannot be combined with PUT, which creates a version");
  PENSTOCK_ASSIGN(const auto expires, fields.Number("expires_s"));
  PENSTOCK_ASSIGN(request.expires, ExpiryOf(expires));
  return request;
}

// Returns an admitted Host header without its port: "[::1]", "localhost". Adds the brackets that an
// IPv6 address needs in a URL.
std::string WithoutPort(std::string_view host) {
  if (!host.starts_with('[') && host.find(':') != host.rfind(':'))
    return "[" + std::string(host) + "]";
  const std::size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  return std::string(host.substr(0, colon));
}

Result<AdminReply> Presign(Emulator& emulator, const AdminCall& call) {
  PENSTOCK_ASSIGN(const PresignRequest request, ParsePresignRequest(call.body));
  const EmulatorOptions& options = emulator.options();
  PENSTOCK_ASSIGN(const std::shared_ptr<s3::Namespace> space, call.hooks->space_of(call.space()));
  const auto bucket = space->store->FindBucket(BucketName(request.bucket));
  const std::string owner_id = bucket.ok() ? (*bucket)->owner_id : std::string();
  const std::shared_ptr<const auth::User> user =
      call.hooks->identities->SigningUser(call.space(), owner_id);
  if (user == nullptr) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "namespace '" + call.space() +
                           "' has no active access key without a session token to sign with; add "
                           "one with POST /_penstock/users");
  }
  auth::PresignTerms terms{
      .method = request.method,
      .host = WithoutPort(call.host) + ":" + std::to_string(options.port),
      .path = "/" + request.bucket + "/" + s3::PathEncode(request.key),
      .query = request.version_id.empty() ? std::string()
                                          : "versionId=" + s3::PercentEncode(request.version_id),
      .region =
          std::string(bucket.ok() ? s3::RegionOfConstraint((*bucket)->region) : options.region),
      .now = space->clock->Now(),
      .expires = request.expires};
  const std::string scheme = options.tls_certificate_path.empty() ? "http://" : "https://";
  return AdminReply{JsonText({{"url", scheme + terms.host + auth::PresignedTarget(*user, terms)},
                              {"expires", FormatIso8601(terms.now + terms.expires)}})};
}

constexpr AdminRoute kRoutes[] = {
    {"presign", "POST", Presign},
    {"presign/", "POST", Presign},
};

}  // namespace

std::span<const AdminRoute> PresignRoutes() { return kRoutes; }

}  // namespace penstock::emulator::server
