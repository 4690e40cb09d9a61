// The properties of a request that rules match, as known once its head has been read.
#ifndef PENSTOCK_EMULATOR_FAULTS_RULES_REQUEST_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FAULTS_RULES_REQUEST_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Holds views into the exchange, which must outlive it. Values are those that the client claims;
// nothing has been authenticated.
struct RequestProperties {
  std::string_view operation;  // For example "GetObject". Empty: not an S3 operation.
  std::string_view method;
  std::string_view bucket;
  std::string_view key;  // For listings of keys: the requested prefix.
  bool directory_bucket = false;
  std::optional<std::uint64_t> part;
  // As stated in the header: both ends, only the first byte, or only a suffix length (in
  // last_inclusive).
  struct Range {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last_inclusive;
  };
  std::optional<Range> range;         // A single byte range. Other Range headers count as absent.
  std::optional<std::uint64_t> size;  // Decoded body size in bytes, if the head declares it.
  std::string_view access_key;        // From a header or the query, not authenticated. Empty: none.
  std::string_view user_agent;
  std::string_view invocation;        // From amz-sdk-invocation-id. Empty: none.
  std::uint64_t attempt = 1;          // From amz-sdk-request; 1 if absent.
  std::optional<std::uint64_t> rank;  // From x-penstock-rank, or "rank/N" in the user agent.
  const s3::Exchange* exchange = nullptr;
  // Returns the id of the partition that serves the request's key
  // (traffic/limits/partition_model.h). Null: unknown. Called only for rules that name partitions.
  std::optional<std::uint64_t> (*partition_of)(const s3::Exchange& exchange) = nullptr;
};

// `exchange` must have a parsed target and outlive the result.
RequestProperties PropertiesOf(const s3::Exchange& exchange);

// Returns the session token of the request: x-amz-s3session-token or x-amz-security-token, from a
// header or the query. nullopt: none.
std::optional<std::string_view> ClaimedSessionToken(const s3::Exchange& exchange);

// Collects the properties on the first call of get(), because most requests match no rule.
//
// Thread safety: one thread at a time.
class LazyRequestProperties {
 public:
  // `exchange` must have a parsed target and outlive this object.
  explicit LazyRequestProperties(const s3::Exchange& exchange,
                                 decltype(RequestProperties::partition_of) partition_of = nullptr)
      : exchange_(exchange), partition_of_(partition_of) {}

  const s3::Exchange& exchange() const { return exchange_; }
  const RequestProperties& get() {
    if (!properties_) {
      properties_ = PropertiesOf(exchange_);
      properties_->partition_of = partition_of_;
    }
    return *properties_;
  }

 private:
  const s3::Exchange& exchange_;
  const decltype(RequestProperties::partition_of) partition_of_;
  std::optional<RequestProperties> properties_;
};

// Returns the access key, or for anonymous requests the client address without its port.
std::string ClientOf(const RequestProperties& properties);

// Identity of a call whose requests carry no invocation id: client, address without port, rank,
// method, bucket, path, query and range. A retry has the identity of the original request.
std::string AttemptIdentity(const RequestProperties& properties);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_RULES_REQUEST_PROPERTIES_H_
