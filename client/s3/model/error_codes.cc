#include "client/s3/model/error_codes.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace penstock::s3 {
namespace {

using enum ErrorKind;
using enum CodeTrait;

constexpr CodeTrait operator|(CodeTrait a, CodeTrait b) {
  return static_cast<CodeTrait>(static_cast<int>(a) | static_cast<int>(b));
}

struct CodeRow {
  std::string_view code;
  std::optional<ErrorKind> kind;  // Unset: that of the status.
  CodeTrait traits = kNone;
};

// Codes with a trait, and codes whose kind differs from that of their status. The throttling and
// transient codes are those of "Retry behavior" in the AWS SDKs and Tools Reference Guide.
constexpr CodeRow kCodes[] = {
    {"AuthorizationHeaderMalformed", kUnauthenticated, kOtherRegion},
    {"AuthorizationQueryParametersError", kUnauthenticated},
    {"ExpiredToken", kUnauthenticated, kStaleCredentials},
    {"InvalidAccessKeyId", kUnauthenticated, kStaleCredentials},
    {"InvalidToken", kUnauthenticated, kStaleCredentials},
    {"RequestExpired", kUnauthenticated, kWrongClock},
    {"RequestTimeTooSkewed", kUnauthenticated, kWrongClock},
    {"SignatureDoesNotMatch", kUnauthenticated, kWrongClock},
    {"TokenRefreshRequired", kUnauthenticated},
    {"AccessDenied", kAccessDenied},
    {"AllAccessDisabled", kAccessDenied},
    {"AccountProblem", kAccessDenied},
    {"InvalidObjectState", kConflict},
    {"NoSuchBucket", kNotFound},
    {"NoSuchKey", kNotFound},
    {"NoSuchUpload", kNotFound},
    {"NoSuchVersion", kNotFound},
    {"BucketAlreadyExists", kAlreadyExists},
    {"BucketAlreadyOwnedByYou", kAlreadyExists},
    {"BucketNotEmpty", kConflict},
    {"ConditionalRequestConflict", kConflict},
    {"OperationAborted", kConflict},
    {"PreconditionFailed", kPreconditionFailed},
    {"NotModified", kNotModified},
    {"IllegalLocationConstraintException", kWrongRegion, kOtherRegion},
    {"PermanentRedirect", kWrongRegion, kOtherRegion},
    {"Redirect", kWrongRegion},
    {"TemporaryRedirect", kWrongRegion},
    {"BadDigest", kDataLoss, kTransientBy400},
    {"IncompleteBody", kDataLoss},
    {"XAmzContentSHA256Mismatch", kDataLoss},
    {"InternalError", kUnavailable},
    {"PriorRequestNotComplete", kUnavailable, kThrottling},
    {"RequestTimeout", kUnavailable, kTransient | kTransientBy400},
    {"RequestTimeoutException", kUnavailable, kTransient},
    {"ServiceUnavailable", kUnavailable},
    {"NotImplemented", kUnsupported},
    {"EntityTooLarge", kInvalidArgument},
    {"EntityTooSmall", kInvalidArgument},
    {"InvalidArgument", kInvalidArgument},
    {"InvalidBucketName", kInvalidArgument},
    {"InvalidPart", kInvalidArgument},
    {"InvalidPartOrder", kInvalidArgument},
    {"InvalidRange", kInvalidArgument},
    {"InvalidRequest", kInvalidArgument},
    {"KeyTooLongError", kInvalidArgument},
    {"MalformedXML", kInvalidArgument},
    {"MethodNotAllowed", kInvalidArgument},
    {"BandwidthLimitExceeded", kThrottled, kThrottling},
    {"EC2ThrottledException", kThrottled, kThrottling},
    {"LimitExceededException", kThrottled, kThrottling},
    {"ProvisionedThroughputExceededException", kThrottled, kThrottling},
    {"RequestLimitExceeded", kThrottled, kThrottling},
    {"RequestThrottled", kThrottled, kThrottling},
    {"RequestThrottledException", kThrottled, kThrottling},
    {"SlowDown", kThrottled, kThrottling},
    {"ThrottledException", kThrottled, kThrottling},
    {"Throttling", kThrottled, kThrottling},
    {"ThrottlingException", kThrottled, kThrottling},
    {"TooManyRequestsException", kThrottled, kThrottling},
    {"TransactionInProgressException", kThrottled, kThrottling},
    {"AuthFailure", std::nullopt, kWrongClock},
};

struct StatusRow {
  int status;
  ErrorKind kind;
  std::string_view text = "unexpected status";
};

constexpr StatusRow kStatuses[] = {
    {301, kWrongRegion, "the bucket is in another region"},
    {302, kWrongRegion},
    {304, kNotModified, "not modified"},
    {307, kWrongRegion, "redirected"},
    {308, kWrongRegion},
    {400, kInvalidArgument, "bad request"},
    {401, kUnauthenticated},
    {403, kAccessDenied, "access denied"},
    {404, kNotFound, "not found"},
    {405, kInvalidArgument, "method not allowed"},
    {408, kUnavailable},
    {409, kConflict},
    {412, kPreconditionFailed, "a precondition failed"},
    {416, kInvalidArgument, "the range starts beyond the end of the object"},
    {429, kThrottled, "too many requests"},
    {500, kUnavailable, "internal error"},
    {501, kUnsupported, "not implemented"},
    {502, kUnavailable, "bad gateway"},
    // A HEAD's 503 has no body and may be SlowDown.
    {503, kThrottled, "service unavailable or request rate too high"},
    {504, kUnavailable, "gateway timeout"},
    {507, kResourceExhausted},
};

const CodeRow* FindCode(std::string_view code) {
  const auto* found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                   [code](const CodeRow& row) { return row.code == code; });
  return found == std::end(kCodes) ? nullptr : found;
}

StatusRow RowOf(int status) {
  const auto* found = std::find_if(std::begin(kStatuses), std::end(kStatuses),
                                   [status](const StatusRow& row) { return row.status == status; });
  if (found != std::end(kStatuses)) return *found;
  if (status >= 500 && status < 600) return {status, kUnavailable};
  return {status, status >= 400 && status < 500 ? kInvalidArgument : kInternal};
}

}  // namespace

bool HasTrait(std::string_view code, CodeTrait trait) {
  const CodeRow* row = FindCode(code);
  return row != nullptr && (static_cast<int>(row->traits) & static_cast<int>(trait)) != 0;
}

std::optional<ErrorKind> KindOfCode(std::string_view code) {
  const CodeRow* row = FindCode(code);
  return row == nullptr ? std::nullopt : row->kind;
}

std::string_view RetryReasonName(RetryReason reason) {
  constexpr std::array<std::string_view, kRetryReasonCount> kNames = {
      "throttled",        "server_error", "timeout",     "connection", "data_loss",
      "invalid_response", "clock_skew",   "credentials", "region",     "retry_policy"};
  return kNames[static_cast<std::size_t>(reason)];
}

RetryReason ReasonOf(const Error& error, bool complete) {
  if (error.kind == kThrottled) return RetryReason::kThrottled;
  if (error.kind == ErrorKind::kTimeout) return RetryReason::kTimeout;
  if (error.kind == kDataLoss) return RetryReason::kDataLoss;
  // RequestTimeout: S3 waited for the request.
  if (HasTrait(error.code, kTransient) || error.http_status == 408) return RetryReason::kTimeout;
  if (error.http_status >= 300) return RetryReason::kServerError;
  if (!complete) return RetryReason::kConnection;
  return error.code.empty() ? RetryReason::kInvalidResponse : RetryReason::kServerError;
}

ErrorKind KindOfStatus(int status) { return RowOf(status).kind; }

std::string_view StatusText(int status) { return RowOf(status).text; }

}  // namespace penstock::s3
