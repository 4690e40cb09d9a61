// Sends an attempt: once, or a second time if the first byte is late (hedge_policy.h).
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
  if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
  if (call_.success_body != nullptr) call_.success_body->Prepare(call_.request);
  auto request = MakeRequest(attempts_ + 1);
  if (!request.ok()) return Finish(std::move(request).error());
  ++attempts_;
  first_.body.Reset();
  first_.started = clock().Now();
  first_.began = clock().Monotonic();
  selected_ = &first_;
  if (const auto delay = HedgeDelay()) return SendHedged(std::move(request).value(), *delay);
  transport_->Start(std::move(request).value(), Body(), &first_.body,
                    {AttemptDeadline(), call_.options.cancel},
                    [self = shared_from_this()](Result<http::Outcome> outcome) {
                      self->Proceed([&] { self->OnOutcome(std::move(outcome)); });
                    });
}

// Only for reads, where either response can be used.
std::optional<std::chrono::nanoseconds> Flight::HedgeDelay() {
  if (call_.success_body == nullptr || !state_->config.hedge_reads) return std::nullopt;
  return state_->hedging.OnRead(first_.began);
}

void Flight::SendHedged(http::Request request, std::chrono::nanoseconds delay) {
  const auto hedged = std::make_shared<HedgedAttempt>(first_, call_.options.cancel);
  const MonotonicTime late = first_.began + delay;
  transport_->Start(
      std::move(request), Body(), &first_.body,
      {AttemptDeadline(), hedged->cancel_first.get_token()},
      [self = shared_from_this(), hedged](Result<http::Outcome> outcome) {
        self->Proceed([&] { self->OnRequestEnded(hedged, hedged->first, std::move(outcome)); });
      });
  // The first request is in flight, so only its completion may end the call. If the timer fails,
  // there is no second request.
  Contain("the timer of a second request", [&] {
    static_cast<void>(
        transport_->RunAt(late, [self = shared_from_this(), hedged] { self->SendSecond(hedged); }));
  });
}

// The first request is in flight and remains the current attempt. After BeginSecond the call
// continues only when both requests have ended, so a second request that does not start must be
// ended here.
void Flight::SendSecond(const std::shared_ptr<HedgedAttempt>& hedged) {
  if (!hedged->MayHedge() || !state_->hedging.Spend()) return;
  if (!hedged->BeginSecond()) return state_->hedging.Return();
  const Result<void> started =
      Caught("the start of a second request", [&] { return StartSecond(hedged); });
  if (started.ok()) return;
  state_->hedging.Return();
  hedged->second.reset();
  if (hedged->OnEnded()) Proceed([&] { OnBothEnded(hedged, hedged->first); });
}

// On an error or an exception the transport has not received the request.
Result<void> Flight::StartSecond(const std::shared_ptr<HedgedAttempt>& hedged) {
  SentRequest& second = hedged->second.emplace(info_, call_, *state_);
  second.body.set_arbiter(hedged.get());
  second.started = clock().Now();
  second.began = clock().Monotonic();
  PENSTOCK_ASSIGN(http::Request request, MakeRequest(attempts_));
  http::Completion done = [self = shared_from_this(), hedged](Result<http::Outcome> outcome) {
    self->Proceed([&] { self->OnRequestEnded(hedged, *hedged->second, std::move(outcome)); });
  };
  state_->counters.OnHedge();
  transport_->Start(std::move(request), nullptr, &second.body,
                    {AttemptDeadline(), hedged->cancel_second.get_token()}, std::move(done));
  return Ok();
}

void Flight::OnRequestEnded(const std::shared_ptr<HedgedAttempt>& hedged, SentRequest& sent,
                            Result<http::Outcome> outcome) {
  sent.outcome.emplace(std::move(outcome));
  if (hedged->OnEnded()) OnBothEnded(hedged, sent);
}

void Flight::OnBothEnded(const std::shared_ptr<HedgedAttempt>& hedged, SentRequest& last) {
  SentRequest& selected = hedged->Select(last);
  if (hedged->second) {
    selected_ = &selected == &hedged->first ? &*hedged->second : &hedged->first;
    Report(EndOf(*selected_->outcome),
           Error::Make(ErrorKind::kCancelled, "the other response was first"));
    if (&selected == &*hedged->second) state_->counters.OnHedgeWon();
  }
  selected_ = &selected;
  hedged_ = hedged;
  OnOutcome(*std::exchange(selected.outcome, std::nullopt));
}

}  // namespace penstock::s3
