// How an attempt goes out: once, or a second time where the first byte is late (hedge_policy.h).
#include <memory>
#include <optional>
#include <utility>

#include "client/s3/flight.h"
#include "client/s3/idle_timeout.h"

namespace penstock::s3 {

Result<http::Request> Flight::MakeRequest(int attempt) const {
  http::Request request = MakeAttempt(call_.request, *endpoint_, state_->config.client,
                                      {invocation_id_, attempt, state_->user_agent});
  PENSTOCK_TRY(Sign(request));
  return request;
}

Deadline Flight::AttemptDeadline() const {
  const std::uint64_t body_bytes =
      call_.request.source == nullptr ? 0 : call_.request.source->size();
  const auto limit = AttemptTimeout(info_, body_bytes, state_->config.client);
  if (limit.count() == 0) return call_.options.deadline;
  return call_.options.deadline.Min(Deadline::After(clock(), limit));
}

void Flight::Send() {
  if (auto over = StoppedOrLate()) return Finish(*std::move(over));
  if (call_.success_body != nullptr) call_.success_body->Prepare(call_.request);
  auto request = MakeRequest(attempts_ + 1);
  if (!request.ok()) return Finish(std::move(request).error());
  ++attempts_;
  first_.body.Reset();
  first_.started = clock().Now();
  first_.began = clock().Monotonic();
  counting_ = &first_;
  if (const auto patience = HedgeDelay()) return SendHedged(std::move(request).value(), *patience);
  transport_->Start(std::move(request).value(), Body(), &first_.body,
                    {AttemptDeadline(), call_.options.cancel},
                    [self = shared_from_this()](Result<http::Outcome> outcome) {
                      self->Proceed([&] { self->OnOutcome(std::move(outcome)); });
                    });
}

// Only the answer to a read can be taken from whoever is first.
std::optional<std::chrono::nanoseconds> Flight::HedgeDelay() {
  if (call_.success_body == nullptr || !state_->config.hedge_reads) return std::nullopt;
  return state_->hedging.OnRead(first_.began);
}

void Flight::SendHedged(http::Request request, std::chrono::nanoseconds patience) {
  const auto race = std::make_shared<HedgedAttempt>(first_, call_.options.cancel);
  const MonotonicTime late = first_.began + patience;
  transport_->Start(
      std::move(request), Body(), &first_.body, {AttemptDeadline(), race->cancel_first.get_token()},
      [self = shared_from_this(), race](Result<http::Outcome> outcome) {
        self->Proceed([&] { self->OnLegEnded(race, race->first, std::move(outcome)); });
      });
  // The first request is on its way: only its completion may end the call. Without a timer there is
  // no second request.
  Contain("the timer of a second request", [&] {
    static_cast<void>(
        transport_->RunAt(late, [self = shared_from_this(), race] { self->SendSecond(race); }));
  });
}

// The first leg is on its way and stays the attempt in progress. After BeginSecond the call goes on
// only when both legs have ended, so a second leg that does not start must end here.
void Flight::SendSecond(const std::shared_ptr<HedgedAttempt>& race) {
  if (!race->MayHedge() || !state_->hedging.Spend()) return;
  if (!race->BeginSecond()) return state_->hedging.Return();
  const Result<void> started =
      Caught("the start of a second request", [&] { return StartSecond(race); });
  if (started.ok()) return;
  state_->hedging.Return();
  race->second.reset();
  if (race->OnEnded()) Proceed([&] { OnLegsEnded(race, race->first); });
}

// An error or an exception: the transport was not given the request.
Result<void> Flight::StartSecond(const std::shared_ptr<HedgedAttempt>& race) {
  Leg& second = race->second.emplace(info_, call_, *state_);
  second.body.set_race(race.get());
  second.started = clock().Now();
  second.began = clock().Monotonic();
  PENSTOCK_ASSIGN(http::Request request, MakeRequest(attempts_));
  http::Completion done = [self = shared_from_this(), race](Result<http::Outcome> outcome) {
    self->Proceed([&] { self->OnLegEnded(race, *race->second, std::move(outcome)); });
  };
  state_->counters.OnHedge();
  transport_->Start(std::move(request), nullptr, &second.body,
                    {AttemptDeadline(), race->cancel_second.get_token()}, std::move(done));
  return Ok();
}

void Flight::OnLegEnded(const std::shared_ptr<HedgedAttempt>& race, Leg& leg,
                        Result<http::Outcome> outcome) {
  leg.outcome.emplace(std::move(outcome));
  if (race->OnEnded()) OnLegsEnded(race, leg);
}

void Flight::OnLegsEnded(const std::shared_ptr<HedgedAttempt>& race, Leg& last) {
  Leg& counting = race->Counting(last);
  if (race->second) {
    counting_ = &counting == &race->first ? &*race->second : &race->first;
    Report(EndOf(*counting_->outcome),
           Error::Make(ErrorKind::kCancelled, "the other answer was first"));
    if (&counting == &*race->second) state_->counters.OnHedgeWon();
  }
  counting_ = &counting;
  race_ = race;
  OnOutcome(*std::exchange(counting.outcome, std::nullopt));
}

}  // namespace penstock::s3
