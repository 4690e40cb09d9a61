#include "emulator/simulate/retry_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace penstock::emulator::simulate {
namespace {

constexpr std::array<RetryPolicy, 5> kPolicies{{
    {.name = "legacy", .max_attempts = 5, .scale_s = 1, .cap_s = 1e9},
    {.name = "standard", .max_attempts = 3, .scale_s = 1, .quota = 500},
    {.name = "adaptive", .max_attempts = 3, .scale_s = 1, .quota = 500, .paced = true},
    {.name = "crt", .max_attempts = 10, .scale_s = 0.5, .quota = 500},
    // Ten attempts with short initial delays, as documented in client/s3/retry/retry_rules.h.
    {.name = "penstock", .max_attempts = 10, .scale_s = 0.25, .quota = 500},
}};

// CUBIC parameters of the AWS SDKs.
constexpr double kBeta = 0.7;
constexpr double kScale = 0.4;
constexpr double kMinRate = 0.5;

double Seconds(Instant span) { return std::chrono::duration<double>(span).count(); }
Instant FromSeconds(double seconds) { return Instant(std::llround(seconds * 1e9)); }

}  // namespace

std::vector<std::string_view> PolicyNames() {
  std::vector<std::string_view> names;
  for (const RetryPolicy& policy : kPolicies) names.push_back(policy.name);
  return names;
}

Result<RetryPolicy> FindPolicy(std::string_view name) {
  std::string known;
  for (const RetryPolicy& policy : kPolicies) {
    if (policy.name == name) return policy;
    known += (known.empty() ? "" : ", ") + std::string(policy.name);
  }
  return Error::Make(ErrorKind::kInvalidArgument,
                     "unknown client '" + std::string(name) + "': expected one of " + known);
}

// Updates the smoothed send rate: 0.8 of the last half second plus 0.2 of the previous value.
void RetryState::Measure(Instant now) {
  sent_ += 1;
  const auto half_second = static_cast<std::int64_t>(Seconds(now) * 2);
  if (half_second <= half_second_) return;
  const double current = sent_ / (static_cast<double>(half_second - half_second_) / 2);
  measured_ = 0.8 * current + 0.2 * measured_;
  sent_ = 0;
  half_second_ = half_second;
}

Instant RetryState::Send(Instant now) {
  if (!policy_->paced || rate_ <= 0) return now;
  const Instant from = std::max(now, filled_);
  const double capacity = std::max(1.0, rate_);
  level_ = std::min(capacity, level_ + Seconds(from - filled_) * rate_);
  filled_ = from;
  if (level_ >= 1) {
    level_ -= 1;
    return from;
  }
  // The request waits for its token, and later requests wait after it.
  filled_ = from + FromSeconds((1 - level_) / rate_);
  level_ = 0;
  return filled_;
}

void RetryState::SetRate(double rate, Instant now) {
  const Instant from = std::max(now, filled_);
  level_ = rate_ > 0 ? std::min(std::max(1.0, rate), level_ + Seconds(from - filled_) * rate_) : 0;
  filled_ = from;
  rate_ = std::max(rate, kMinRate);
}

std::optional<Instant> RetryState::Refused(Instant now, int attempt, double random) {
  if (policy_->paced) {
    Measure(now);
    last_max_ = rate_ > 0 ? std::min(measured_, rate_) : measured_;
    throttled_at_ = now;
    SetRate(std::min(last_max_ * kBeta, 2 * measured_), now);
  }
  if (attempt >= policy_->max_attempts) return std::nullopt;
  if (policy_->quota > 0) {
    if (tokens_ < policy_->retry_cost) return std::nullopt;
    tokens_ -= policy_->retry_cost;
  }
  return now + FromSeconds(random * std::min(policy_->scale_s * std::ldexp(1.0, attempt - 1),
                                             policy_->cap_s));
}

void RetryState::Succeeded(Instant now, int attempt) {
  if (policy_->paced) {
    Measure(now);
    if (rate_ > 0) {
      const double window = std::cbrt(last_max_ * (1 - kBeta) / kScale);
      const double grown = kScale * std::pow(Seconds(now - throttled_at_) - window, 3) + last_max_;
      SetRate(std::min(grown, 2 * measured_), now);
    }
  }
  if (policy_->quota > 0)
    tokens_ = std::min(policy_->quota, tokens_ + (attempt > 1 ? policy_->retry_cost : 1));
}

}  // namespace penstock::emulator::simulate
