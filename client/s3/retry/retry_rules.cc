#include "client/s3/retry/retry_rules.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/dates.h"

namespace penstock::s3 {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kHintReach{5};
constexpr std::chrono::minutes kSkewTolerance{4};

RetryDecision DecideTuned(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kThrottled: return RetryDecision::kThrottled;
    case ErrorKind::kTimeout: return RetryDecision::kTimeout;
    // ServiceUnavailable may also carry "Please reduce your request rate.".
    case ErrorKind::kUnavailable:
      return error.http_status == 503 ? RetryDecision::kThrottled : RetryDecision::kTransient;
    // Missing, additional or corrupt bytes in either direction: the next transfer may succeed.
    case ErrorKind::kDataLoss: return RetryDecision::kTransient;
    default: return RetryDecision::kNo;
  }
}

// Decides without an error status: no response, an incomplete or corrupt body, or an <Error> after
// a 200, which counts as 500.
RetryDecision DecideWithoutRefusal(const Error& error) {
  if (error.kind == ErrorKind::kTimeout) return RetryDecision::kTimeout;
  const bool transient =
      error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kDataLoss;
  return transient ? RetryDecision::kTransient : RetryDecision::kNo;
}

// Returns whether the error has a throttling code, not only the text of a throttling status.
bool NamesThrottling(const Error& error) {
  if (HasTrait(error.code, CodeTrait::kThrottling)) return true;
  return error.kind == ErrorKind::kThrottled && error.code != std::to_string(error.http_status);
}

RetryDecision DecideStandard(const Error& error) {
  if (NamesThrottling(error)) return RetryDecision::kThrottled;
  const int status = error.http_status;
  if (status < 300) return DecideWithoutRefusal(error);
  const bool by_status = status == 500 || status == 502 || status == 503 || status == 504;
  return by_status || HasTrait(error.code, CodeTrait::kTransient) ? RetryDecision::kTransient
                                                                  : RetryDecision::kNo;
}

RetryDecision DecideLegacy(const Error& error) {
  const int status = error.http_status;
  if (status < 300 && error.kind != ErrorKind::kThrottled) return DecideWithoutRefusal(error);
  if (error.kind == ErrorKind::kThrottled) {
    const bool listed =
        status < 300 || status == 400 || status == 429 || status == 503 || status == 509;
    return listed ? RetryDecision::kThrottled : RetryDecision::kNo;
  }
  const bool by_status =
      status == 500 || status == 502 || status == 503 || status == 504 || status == 509;
  const bool by_code = status == 400 && HasTrait(error.code, CodeTrait::kTransientBy400);
  return by_status || by_code ? RetryDecision::kTransient : RetryDecision::kNo;
}

}  // namespace

int RetryRules::Cost(RetryDecision decision) const {
  switch (decision) {
    case RetryDecision::kNo: return 0;
    case RetryDecision::kTransient: return transient_cost;
    case RetryDecision::kTimeout: return timeout_cost;
    case RetryDecision::kThrottled: return throttled_cost;
  }
  return 0;
}

const RetryRules& RetryRulesOf(RetryMode mode, bool use_2026_rules) {
  const RetryRules* found = &kRetryRules.front();
  for (const RetryRules& rules : kRetryRules) {
    // The last matching row is used: the rows with the rules of 2026 are last.
    if (rules.mode == mode && (!rules.has_2026_rules || use_2026_rules)) found = &rules;
  }
  return *found;
}

RetryDecision DecideRetry(const RetryRules& rules, const Error& error) {
  switch (rules.mode) {
    case RetryMode::kLegacy: return DecideLegacy(error);
    case RetryMode::kStandard:
    case RetryMode::kAdaptive: return DecideStandard(error);
    default: return DecideTuned(error);
  }
}

nanoseconds BackOff(const RetryRules& rules, RetryDecision decision, int attempt, double random,
                    std::optional<milliseconds> hint) {
  const nanoseconds scale =
      decision == RetryDecision::kThrottled ? rules.throttled_scale : rules.transient_scale;
  const int doublings = std::clamp(attempt - 1, 0, 30);  // 34 years in seconds.
  nanoseconds ceiling = scale * (std::int64_t{1} << doublings);
  if (rules.cap) ceiling = std::min<nanoseconds>(ceiling, *rules.cap);
  const auto drawn =
      nanoseconds(static_cast<std::int64_t>(random * static_cast<double>(ceiling.count())));
  if (!hint || !rules.honors_server_delay) return drawn;
  return std::max(drawn, std::min<nanoseconds>(*hint, drawn + kHintReach));
}

std::optional<seconds> ClockSkew(const Error& error, std::string_view method,
                                 std::string_view date_header, WallTime local_now,
                                 WallTime corrected_now) {
  const bool named = HasTrait(error.code, CodeTrait::kWrongClock);
  const bool unnamed = method == "HEAD" && error.http_status == 403;
  if (!named && !unnamed) return std::nullopt;
  const auto server = ParseHttpDate(date_header);
  if (!server || std::chrono::abs(*server - corrected_now) <= kSkewTolerance) return std::nullopt;
  return std::chrono::round<seconds>(*server - local_now);
}

bool RetryQuota::Take(int cost) {
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens >= cost) {
    if (tokens_.compare_exchange_weak(tokens, tokens - cost, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void RetryQuota::OnSuccess(int last_taken) {
  const int gain = last_taken > 0 ? last_taken : 1;
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens < kCapacity) {
    if (tokens_.compare_exchange_weak(tokens, std::min(kCapacity, tokens + gain),
                                      std::memory_order_relaxed))
      return;
  }
}

RetryQuota& RetryQuotas::For(std::string_view host) {
  return quotas_[std::hash<std::string_view>{}(host) % quotas_.size()];
}

}  // namespace penstock::s3

namespace penstock {

std::string_view RetryModeName(RetryMode mode) { return s3::RetryRulesOf(mode).name; }

}  // namespace penstock
