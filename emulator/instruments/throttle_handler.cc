#include "emulator/instruments/throttle_handler.h"

#include <memory>
#include <string>
#include <utility>

#include "emulator/api/errors.h"
#include "emulator/api/form.h"
#include "emulator/api/operation_traits.h"
#include "emulator/api/router.h"
#include "emulator/faults/facts.h"
#include "emulator/faults/paced_body.h"
#include "emulator/faults/pacer.h"
#include "emulator/faults/request_work.h"
#include "emulator/instruments/instruments.h"

namespace penstock::emulator::instruments {
namespace {

using throttle::Traffic;
using throttle::Work;

constexpr std::chrono::milliseconds kRefusal{10};  // until a 503 is there, where time passes at all (performance.md §4.2)

void Refuse(api::Exchange& exchange, const Regime& regime) {
  api::RespondWithError(exchange, api::MakeError("SlowDown"));
  if (const auto wait = regime.settings().retry_after) exchange.response.Add("x-amz-retry-after", std::to_string(wait->count()));
  if (regime.settings().shaped) api::HoldBack(exchange.response.Delivering(), kRefusal);
}

class Throttle final : public api::Handler {
 public:
  Throttle(api::Handler& next, faults::Pauses& pauses) : next_(next), pauses_(pauses) {}

  void Handle(api::Exchange& exchange) override {
    Instruments* const instruments = exchange.space ? exchange.space->instruments.get() : nullptr;
    std::shared_ptr<Regime> regime = instruments != nullptr ? instruments->regulator().Current() : nullptr;
    if (!regime) return next_.Handle(exchange);
    if (const std::optional<Asked> asked = AskedFor(exchange)) {
      if (!regime->Admit(exchange.target.bucket.value, asked->key, asked->traffic)) return Refuse(exchange, *regime);
    }
    if (!regime->settings().shaped) return next_.Handle(exchange);
    // Drawn at its arrival: how long the others take changes nothing.
    const Work work = faults::WorkOf(exchange);
    const throttle::Draw draw = regime->DrawFor(faults::RequestIdentity(faults::FactsOf(exchange)));
    HandlePaced(exchange, regime->RateOf(exchange.connection.id));
    exchange.WhenAnswered([work, draw, regime = std::move(regime)](api::Exchange& answered) {
      const throttle::LatencyProfile& profile = regime->settings().latency;
      const Work done = answered.response.status == 304 ? Work::kHead : work;
      api::Delivery& delivery = answered.response.Delivering();
      api::HoldBack(delivery, throttle::FirstByte(profile.Of(done), draw));
      const std::uint64_t rate = regime->RateOf(answered.connection.id);
      if (rate > 0) faults::PaceAnswer(delivery, std::make_shared<faults::Pacer>(rate));
    });
  }

 private:
  // A connection carries one request at a time: a pacer for each body is one for the connection.
  void HandlePaced(api::Exchange& exchange, std::uint64_t rate) {
    if (rate == 0 || exchange.body->Length() == 0U) return next_.Handle(exchange);
    api::BodyReader* const unpaced = exchange.body;
    faults::PacedBody body(*unpaced, pauses_, exchange.wire, std::make_shared<faults::Pacer>(rate));
    exchange.body = &body;
    next_.Handle(exchange);
    exchange.body = unpaced;
  }

  api::Handler& next_;
  faults::Pauses& pauses_;
};

}  // namespace

std::optional<Asked> AskedFor(const api::Exchange& exchange) {
  const api::Target& target = exchange.target;
  if (target.bucket.value.empty()) return std::nullopt;
  if (exchange.request.method == "OPTIONS") return std::nullopt;
  const api::Access access = api::TraitsOf(exchange).access;
  if (!target.key.value.empty()) return Asked{access == api::Access::kWrite ? Traffic::kWrite : Traffic::kRead, target.key.value};
  if (access == api::Access::kList) return Asked{Traffic::kRead, target.Get("prefix").value_or(std::string_view())};
  // Its keys stand in the body, which is not read for this: it counts once, against the bucket's first partition.
  if (exchange.operation == "DeleteObjects") return Asked{Traffic::kWrite, {}};
  if (exchange.operation != "PostObject") return std::nullopt;
  return Asked{Traffic::kWrite, exchange.form != nullptr ? exchange.form->Find("key").value_or(std::string_view()) : std::string_view()};
}

std::unique_ptr<api::Handler> MakeThrottle(api::Handler& next, faults::Pauses& pauses) {
  return std::make_unique<Throttle>(next, pauses);
}

}  // namespace penstock::emulator::instruments
