// What rules look at: one request, as it stands once its head has been read.
#ifndef PENSTOCK_EMULATOR_FAULTS_FACTS_H_
#define PENSTOCK_EMULATOR_FAULTS_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

// Views into the exchange; they live as long as it does. Claims are taken as made: nothing is
// verified yet.
struct Facts {
  std::string_view operation;  // "GetObject"; empty: none of S3's
  std::string_view method;
  std::string_view bucket;
  std::string_view key;  // of a listing of keys: the prefix that it asks for
  bool directory_bucket = false;
  std::optional<std::uint64_t> part;
  // As the header claims: both ends, or a beginning alone, or a suffix alone.
  struct Range {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last_inclusive;
  };
  std::optional<Range> range;         // of one range in bytes; others count as none
  std::optional<std::uint64_t> size;  // of the body, decoded, where the head tells it
  std::string_view access_key;        // claimed by header or query; empty: none
  std::string_view user_agent;
  std::string_view invocation;        // amz-sdk-invocation-id; empty: none
  std::uint64_t attempt = 1;          // amz-sdk-request's; 1 where there is none
  std::optional<std::uint64_t> rank;  // x-penstock-rank, or "rank/N" in the user agent
  const s3::Exchange* exchange = nullptr;
  // The id of the partition that has the request's key (throttle/partition_model.h); null: nobody
  // knows. Asked only by rules that name partitions.
  std::optional<std::uint64_t> (*partition_of)(const s3::Exchange& exchange) = nullptr;
};

// `exchange` outlives the facts. Its target is parsed.
Facts FactsOf(const s3::Exchange& exchange);

// Facts::key alone.
std::string_view KeyAsked(const s3::Exchange& exchange);

// The token that a request says its credentials are a session's by:
// x-amz-s3session-token or x-amz-security-token, as a header or in the query.
// nullopt: none.
std::optional<std::string_view> ClaimedSessionToken(const s3::Exchange& exchange);

// Facts that are gathered when somebody asks for them: most requests meet nothing.
//
// Thread safety: one thread at a time.
class LazyFacts {
 public:
  // `exchange` outlives this, with its target parsed.
  explicit LazyFacts(const s3::Exchange& exchange,
                     decltype(Facts::partition_of) partition_of = nullptr)
      : exchange_(exchange), partition_of_(partition_of) {}

  const s3::Exchange& exchange() const { return exchange_; }
  const Facts& get() {
    if (!facts_) {
      facts_ = FactsOf(exchange_);
      facts_->partition_of = partition_of_;
    }
    return *facts_;
  }

 private:
  const s3::Exchange& exchange_;
  const decltype(Facts::partition_of) partition_of_;
  std::optional<Facts> facts_;
};

// What makes two requests the same to chance: operation, bucket, key, part and range. A retry is
// the same request again.
std::string RequestIdentity(const Facts& facts);

// Access key, or for anonymous requests the address without its port.
std::string ClientOf(const Facts& facts);

// What makes a request look like a retry of another one, where neither says which call it belongs
// to: client, address without its port, rank, method, bucket, path, query and range.
std::string AttemptIdentity(const Facts& facts);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FACTS_H_
