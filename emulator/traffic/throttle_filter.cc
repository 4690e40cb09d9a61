#include "emulator/traffic/throttle_filter.h"

#include <memory>
#include <string>
#include <utility>

#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/traffic/paced_body.h"
#include "emulator/traffic/pacer.h"
#include "emulator/traffic/request_work.h"

namespace penstock::emulator::traffic {
namespace {

// Latency of a 503 response, if latency is simulated at all.
constexpr std::chrono::milliseconds kRefusal{10};

void Reject(s3::Exchange& exchange, const ThrottleState& throttle) {
  s3::RespondWithError(exchange, s3::MakeError("SlowDown"));
  if (const auto wait = throttle.settings().retry_after)
    exchange.response.Add("x-amz-retry-after", std::to_string(wait->count()));
  if (throttle.settings().shaped) s3::HoldBack(exchange.response.Delivering(), kRefusal);
}

// What shapes the response.
struct Shape final : message::Attachment {
  Shape(std::shared_ptr<ThrottleState> state, Work its_work, Draw its_draw)
      : throttle(std::move(state)), work(its_work), draw(its_draw) {}
  const std::shared_ptr<ThrottleState> throttle;
  const Work work;
  const Draw draw;
};

class Throttle final : public s3::Filter {
 public:
  Throttle(LimiterOf limiter_of, Pauses& pauses)
      : limiter_of_(std::move(limiter_of)), pauses_(pauses) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    RateLimiter* const limiter = limiter_of_(exchange);
    std::shared_ptr<ThrottleState> throttle = limiter != nullptr ? limiter->Current() : nullptr;
    if (!throttle) return s3::FilterStatus::kContinue;
    if (const std::optional<RequestCost> cost = CostOf(exchange)) {
      if (!throttle->Admit(exchange.target.bucket.value, cost->key, cost->traffic)) {
        Reject(exchange, *throttle);
        return s3::FilterStatus::kResponded;
      }
    }
    if (!throttle->settings().shaped) return s3::FilterStatus::kContinue;
    // A connection carries one request at a time, so one pacer per body limits the connection.
    const std::uint64_t rate = throttle->RateOf(exchange.connection.id);
    if (rate > 0 && exchange.body->Length() != 0U)
      exchange.WrapBody<PacedBody>(pauses_, exchange.wire, std::make_shared<Pacer>(rate));
    // Draw on arrival, so that the duration of other requests has no effect.
    const Draw draw = throttle->DrawFor(RequestIdentity(exchange));
    exchange.Attach<Shape>(std::move(throttle), WorkOf(exchange), draw);
    return s3::FilterStatus::kContinue;
  }

  void OnResponse(s3::Exchange& exchange) override {
    const Shape* const shape = exchange.Find<Shape>();
    if (shape == nullptr) return;
    const LatencyProfile& profile = shape->throttle->settings().latency;
    const Work done = exchange.response.status == 304 ? Work::kHead : shape->work;
    s3::Delivery& delivery = exchange.response.Delivering();
    s3::HoldBack(delivery, FirstByte(profile.Of(done), shape->draw));
    const std::uint64_t rate = shape->throttle->RateOf(exchange.connection.id);
    if (rate > 0) PaceResponse(delivery, std::make_shared<Pacer>(rate));
  }

 private:
  const LimiterOf limiter_of_;
  Pauses& pauses_;
};

}  // namespace

std::optional<RequestCost> CostOf(const s3::Exchange& exchange) {
  const s3::Target& target = exchange.target;
  if (target.bucket.value.empty()) return std::nullopt;
  if (exchange.request.method == "OPTIONS") return std::nullopt;
  const s3::Access access = s3::TraitsOf(exchange).access;
  if (!target.key.value.empty())
    return RequestCost{access == s3::Access::kWrite ? Traffic::kWrite : Traffic::kRead,
                       target.key.value};
  if (access == s3::Access::kList)
    return RequestCost{Traffic::kRead, target.Get("prefix").value_or(std::string_view())};
  // The keys are in the body, which is not read here. The request counts once, in the bucket's
  // first partition.
  if (exchange.operation == "DeleteObjects") return RequestCost{Traffic::kWrite, {}};
  if (exchange.operation != "PostObject") return std::nullopt;
  return RequestCost{Traffic::kWrite, exchange.form != nullptr
                                          ? exchange.form->Find("key").value_or(std::string_view())
                                          : std::string_view()};
}

std::unique_ptr<s3::Filter> MakeThrottle(LimiterOf limiter_of, Pauses& pauses) {
  return std::make_unique<Throttle>(std::move(limiter_of), pauses);
}

}  // namespace penstock::emulator::traffic
