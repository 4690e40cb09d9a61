#include "emulator/faults/fail_rate.h"

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/traffic/occurrence_counter.h"

namespace penstock::emulator::faults {
namespace {

std::uint64_t FirstWord(const Sha256Digest& digest) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word = word << 8 | std::to_integer<std::uint64_t>(digest[i]);
  return word;
}

std::array<std::byte, 8> WordBytes(std::uint64_t word) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(word >> (8 * i));
  return bytes;
}

std::string IdentityOf(const s3::Exchange& exchange) {
  std::string identity(exchange.request.method);
  const std::string_view part = exchange.target.Get("partNumber").value_or(std::string_view());
  const std::string_view range = exchange.request.Find("range").value_or(std::string_view());
  for (const std::string_view piece : {std::string_view(exchange.target.bucket.value),
                                       std::string_view(exchange.target.key.value), part, range}) {
    identity += '\0';
    identity += piece;
  }
  return identity;
}

class SlowDownShare final : public FailRate {
 public:
  explicit SlowDownShare(FailRateOptions options)
      : rate_(options.rate), seed_(WordBytes(options.seed)) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    if (rate_ <= 0 || !Fails(exchange)) return s3::FilterStatus::kContinue;
    injected_.fetch_add(1, std::memory_order_relaxed);
    s3::RespondWithError(exchange, s3::MakeError("SlowDown"));
    return s3::FilterStatus::kResponded;
  }

  std::uint64_t injected() const override { return injected_.load(std::memory_order_relaxed); }

  void Reset() override {
    arrivals_.Clear();
    injected_.store(0, std::memory_order_relaxed);
  }

 private:
  bool Fails(const s3::Exchange& exchange) {
    const Sha256Digest identity = HmacSha256(seed_, AsBytes(IdentityOf(exchange)));
    const std::uint64_t ordinal = arrivals_.Next(FirstWord(identity));
    const std::uint64_t draw = FirstWord(HmacSha256(identity, WordBytes(ordinal)));
    return std::ldexp(static_cast<double>(draw >> 11), -53) < rate_;  // Uniform in [0, 1).
  }

  const double rate_;
  const std::array<std::byte, 8> seed_;
  traffic::OccurrenceCounter arrivals_;
  std::atomic<std::uint64_t> injected_{0};
};

}  // namespace

std::unique_ptr<FailRate> MakeFailRate(FailRateOptions options) {
  return std::make_unique<SlowDownShare>(options);
}

}  // namespace penstock::emulator::faults
