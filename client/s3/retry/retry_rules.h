// Retry rules: which errors are retried, the delays, and the token bucket that limits retries to a
// failing service ("Retry behavior", AWS SDKs and Tools Reference Guide). Pure rules; the
// attempt loop applies them.
#ifndef PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_
#define PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>

#include "client/s3/model/error_codes.h"
#include "penstock/base/clock.h"
#include "penstock/base/error.h"
#include "penstock/client.h"

namespace penstock::s3 {

// The parameters of a retry mode. The delay after the n-th attempt has full jitter: random *
// min(scale * 2^(n - 1), cap).
struct RetryRules {
  RetryMode mode = RetryMode::kTuned;
  std::string_view name;        // As in AWS_RETRY_MODE.
  bool has_2026_rules = false;  // The rules of AWS_NEW_RETRIES_2026=true.
  int max_attempts = 10;        // Default.
  std::chrono::milliseconds transient_scale{};
  std::chrono::milliseconds throttled_scale{};
  std::optional<std::chrono::seconds> cap = {};  // Unset: none.
  // Tokens that a retry takes from RetryQuota; 0: none.
  int transient_cost = 0;
  int timeout_cost = 0;
  int throttled_cost = 0;
  bool honors_server_delay = false;  // Of x-amz-retry-after and Retry-After.

  int Cost(RetryDecision decision) const;
};

// Adaptive is standard with rate_control.h.
constexpr RetryRules AsAdaptive(RetryRules standard) {
  standard.mode = RetryMode::kAdaptive;
  standard.name = "adaptive";
  return standard;
}
inline constexpr RetryRules kStandardRules = {.mode = RetryMode::kStandard,
                                              .name = "standard",
                                              .max_attempts = 3,
                                              .transient_scale = std::chrono::milliseconds(1000),
                                              .throttled_scale = std::chrono::milliseconds(1000),
                                              .cap = std::chrono::seconds(20),
                                              .transient_cost = 5,
                                              .timeout_cost = 10,
                                              .throttled_cost = 5};
inline constexpr RetryRules kStandardRulesOf2026 = {
    .mode = RetryMode::kStandard,
    .name = "standard",
    .has_2026_rules = true,
    .max_attempts = 3,
    .transient_scale = std::chrono::milliseconds(50),
    .throttled_scale = std::chrono::milliseconds(1000),
    .cap = std::chrono::seconds(20),
    .transient_cost = 14,
    .timeout_cost = 14,
    .throttled_cost = 5,
    .honors_server_delay = true};

// The retry modes; docs/reference/retries.md prints this table. The last two rows are standard and
// adaptive with AWS_NEW_RETRIES_2026=true. The first delays of tuned are shorter than those of
// standard, but its 10 attempts wait longer in total. In tuned, retries after throttling cost no
// tokens, because rate_control.h limits the rate.
inline constexpr std::array<RetryRules, 6> kRetryRules = {{
    {.mode = RetryMode::kTuned,
     .name = "tuned",
     .max_attempts = 10,
     .transient_scale = std::chrono::milliseconds(50),
     .throttled_scale = std::chrono::milliseconds(250),
     .cap = std::chrono::seconds(20),
     .transient_cost = 5,
     .timeout_cost = 10,
     .honors_server_delay = true},
    {.mode = RetryMode::kLegacy,
     .name = "legacy",
     .max_attempts = 5,
     .transient_scale = std::chrono::milliseconds(1000),
     .throttled_scale = std::chrono::milliseconds(1000)},
    kStandardRules,
    AsAdaptive(kStandardRules),
    kStandardRulesOf2026,
    AsAdaptive(kStandardRulesOf2026),
}};

// kDefault means kTuned. Modes without 2026 rules have one row.
const RetryRules& RetryRulesOf(RetryMode mode, bool use_2026_rules = false);

// Decides whether `error` is retried. The modes differ: standard retries neither BadDigest nor a
// 429 without a code, legacy decides by status.
RetryDecision DecideRetry(const RetryRules& rules, const Error& error);

// Returns the delay after the failed 1-based `attempt`; `random` is in [0, 1). A server's hint is
// honoured up to 5 s beyond the random delay.
std::chrono::nanoseconds BackOff(const RetryRules& rules, RetryDecision decision, int attempt,
                                 double random, std::optional<std::chrono::milliseconds> hint);

// Returns the offset to add to the local clock if a wrong local clock may have caused the error:
// the response's Date differs from `corrected_now` by more than 4 minutes.
std::optional<std::chrono::seconds> ClockSkew(const Error& error, std::string_view method,
                                              std::string_view date_header, WallTime local_now,
                                              WallTime corrected_now);

// A bucket of 500 tokens. A retry takes some (RetryRules::Cost). A success returns the tokens of
// its last retry, else 1. An empty bucket stops retries. Lock-free, so that a fork cannot leave it
// locked.
//
// Thread safety: may be used from any thread.
class RetryQuota {
 public:
  static constexpr int kCapacity = 500;
  // Returns false if fewer tokens are left. A cost of 0 always succeeds.
  bool Take(int cost);
  void OnSuccess(int last_taken);
  int tokens() const { return tokens_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> tokens_{kCapacity};
};

// One quota per host in a table of fixed size. Hosts with equal hashes share one.
//
// Thread safety: may be used from any thread.
class RetryQuotas {
 public:
  RetryQuota& For(std::string_view host);

 private:
  std::array<RetryQuota, 64> quotas_;
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_RETRY_RULES_H_
