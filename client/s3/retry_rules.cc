#include "client/s3/retry_rules.h"

#include <algorithm>
#include <functional>

#include "base/dates.h"

namespace penstock::s3 {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr milliseconds kTransientScale{50};
constexpr milliseconds kThrottledScale{250};
constexpr seconds kCap{20};
constexpr seconds kHintReach{5};
constexpr std::chrono::minutes kSkewTolerance{4};

}  // namespace

RetryDecision DecideRetry(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kThrottled: return RetryDecision::kThrottled;
    case ErrorKind::kTimeout: return RetryDecision::kTimeout;
    // ServiceUnavailable comes with "Please reduce your request rate." too (§7).
    case ErrorKind::kUnavailable: return error.http_status == 503 ? RetryDecision::kThrottled : RetryDecision::kTransient;
    // Bytes short, too many or wrong, in either direction: the next transfer may be whole.
    case ErrorKind::kDataLoss: return RetryDecision::kTransient;
    default: return RetryDecision::kNo;
  }
}

nanoseconds BackOff(RetryDecision decision, int attempt, double random, std::optional<milliseconds> hint) {
  const nanoseconds scale = decision == RetryDecision::kThrottled ? kThrottledScale : kTransientScale;
  const int doublings = std::clamp(attempt - 1, 0, 20);
  const nanoseconds ceiling = std::min<nanoseconds>(scale * (1 << doublings), kCap);
  const auto drawn = nanoseconds(static_cast<std::int64_t>(random * static_cast<double>(ceiling.count())));
  if (!hint) return drawn;
  return std::max(drawn, std::min<nanoseconds>(*hint, drawn + kHintReach));
}

std::optional<seconds> ClockSkew(const Error& error, std::string_view method, std::string_view date_header,
                                 WallTime local_now, WallTime corrected_now) {
  const bool named = error.code == "RequestTimeTooSkewed" || error.code == "RequestExpired" ||
                     error.code == "AuthFailure" || error.code == "SignatureDoesNotMatch";
  const bool unnamed = method == "HEAD" && error.http_status == 403;
  if (!named && !unnamed) return std::nullopt;
  const auto server = ParseHttpDate(date_header);
  if (!server || std::chrono::abs(*server - corrected_now) <= kSkewTolerance) return std::nullopt;
  return std::chrono::round<seconds>(*server - local_now);
}

int RetryQuota::Take(RetryDecision decision) {
  const int cost = decision == RetryDecision::kTimeout ? 10 : 5;
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens >= cost) {
    if (tokens_.compare_exchange_weak(tokens, tokens - cost, std::memory_order_relaxed)) return cost;
  }
  return 0;
}

void RetryQuota::OnSuccess(int last_taken) {
  const int gain = last_taken > 0 ? last_taken : 1;
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens < kCapacity) {
    if (tokens_.compare_exchange_weak(tokens, std::min(kCapacity, tokens + gain), std::memory_order_relaxed)) return;
  }
}

RetryQuota& RetryQuotas::For(std::string_view host) { return quotas_[std::hash<std::string_view>{}(host) % quotas_.size()]; }

}  // namespace penstock::s3
