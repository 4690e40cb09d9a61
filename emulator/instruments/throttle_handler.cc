#include "emulator/instruments/throttle_handler.h"

#include <memory>
#include <string>
#include <utility>

#include "emulator/faults/actions/request_work.h"
#include "emulator/faults/facts.h"
#include "emulator/faults/paced_body.h"
#include "emulator/faults/pacer.h"
#include "emulator/instruments/instruments.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::instruments {
namespace {

using traffic::Traffic;
using traffic::Work;

// Latency of a 503 response, if latency is simulated at all.
constexpr std::chrono::milliseconds kRefusal{10};

void Reject(s3::Exchange& exchange, const ThrottleState& throttle) {
  s3::RespondWithError(exchange, s3::MakeError("SlowDown"));
  if (const auto wait = throttle.settings().retry_after)
    exchange.response.Add("x-amz-retry-after", std::to_string(wait->count()));
  if (throttle.settings().shaped) s3::HoldBack(exchange.response.Delivering(), kRefusal);
}

class Throttle final : public s3::Handler {
 public:
  Throttle(s3::Handler& next, faults::Pauses& pauses) : next_(next), pauses_(pauses) {}

  void Handle(s3::Exchange& exchange) override {
    Instruments* const instruments = exchange.space ? exchange.space->instruments.get() : nullptr;
    std::shared_ptr<ThrottleState> throttle =
        instruments != nullptr ? instruments->limiter().Current() : nullptr;
    if (!throttle) return next_.Handle(exchange);
    if (const std::optional<RequestCost> cost = CostOf(exchange)) {
      if (!throttle->Admit(exchange.target.bucket.value, cost->key, cost->traffic))
        return Reject(exchange, *throttle);
    }
    if (!throttle->settings().shaped) return next_.Handle(exchange);
    // Draw on arrival, so that the duration of other requests has no effect.
    const Work work = faults::WorkOf(exchange);
    const traffic::Draw draw =
        throttle->DrawFor(faults::RequestIdentity(faults::FactsOf(exchange)));
    HandlePaced(exchange, throttle->RateOf(exchange.connection.id));
    exchange.WhenAnswered([work, draw, throttle = std::move(throttle)](s3::Exchange& answered) {
      const traffic::LatencyProfile& profile = throttle->settings().latency;
      const Work done = answered.response.status == 304 ? Work::kHead : work;
      s3::Delivery& delivery = answered.response.Delivering();
      s3::HoldBack(delivery, traffic::FirstByte(profile.Of(done), draw));
      const std::uint64_t rate = throttle->RateOf(answered.connection.id);
      if (rate > 0) faults::PaceAnswer(delivery, std::make_shared<faults::Pacer>(rate));
    });
  }

 private:
  // A connection carries one request at a time, so one pacer per body limits the connection.
  void HandlePaced(s3::Exchange& exchange, std::uint64_t rate) {
    if (rate == 0 || exchange.body->Length() == 0U) return next_.Handle(exchange);
    s3::BodyReader* const unpaced = exchange.body;
    faults::PacedBody body(*unpaced, pauses_, exchange.wire, std::make_shared<faults::Pacer>(rate));
    exchange.body = &body;
    next_.Handle(exchange);
    exchange.body = unpaced;
  }

  s3::Handler& next_;
  faults::Pauses& pauses_;
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

std::unique_ptr<s3::Handler> MakeThrottle(s3::Handler& next, faults::Pauses& pauses) {
  return std::make_unique<Throttle>(next, pauses);
}

}  // namespace penstock::emulator::instruments
