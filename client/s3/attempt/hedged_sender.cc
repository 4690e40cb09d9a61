#include "client/s3/attempt/hedged_sender.h"

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"

namespace penstock::s3 {
namespace {

// Returns the signature in the Authorization header; empty for an unsigned request.
std::string SignatureOf(const http::Request& request) {
  constexpr std::string_view kName = ", Signature=";
  const std::string_view value =
      http::FindHeader(request.headers, "Authorization").value_or(std::string_view());
  const std::size_t at = value.find(kName);
  return at == std::string_view::npos ? std::string()
                                      : std::string(value.substr(at + kName.size()));
}

}  // namespace

// Two requests, the second of which may never start. Both may end with a cancellation. The call
// continues after both have ended, when neither uses its sink any longer.
//
// Thread safety: the requests' transport threads call TryWin and OnEnded, a timer thread the other
// members.
class HedgedSender::Attempt final : public HedgeArbiter {
 public:
  // `cancel` ends both requests.
  Attempt(OwnerPtr call, SentRequest& first_request, const std::stop_token& cancel)
      : owner(std::move(call)), first(first_request), link_(cancel, [this] {
          // A request may end during this call and destroy the attempt, so use copies.
          const std::stop_source sources[] = {cancel_first, cancel_second};
          for (const std::stop_source& source : sources) source.request_stop();
        }) {
    first.body.set_arbiter(this);
  }

  bool TryWin(const AttemptBody& body) override {
    const AttemptBody* current = nullptr;
    if (!winner_.compare_exchange_strong(current, &body, std::memory_order_acq_rel))
      return current == &body;
    (&body == &first.body ? cancel_second : cancel_first).request_stop();
    return true;
  }

  // Returns false if the first request has ended or started to deliver. After true, the attempt
  // ends only when OnEnded was called for both.
  bool BeginSecond() {
    int one = 1;
    return winner_.load(std::memory_order_acquire) == nullptr &&
           in_flight_.compare_exchange_strong(one, 2, std::memory_order_acq_rel);
  }
  // Returns true for the last request.
  bool OnEnded() { return in_flight_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // Called after both have ended; `last` ended last. Returns the request whose response is used.
  SentRequest& Select(SentRequest& last) {
    const AttemptBody* const winner = winner_.load(std::memory_order_acquire);
    if (winner == nullptr) return last;
    return winner == &first.body ? first : *second;
  }

  OwnerPtr owner;      // Until the attempt ends. Shared with the call.
  SentRequest& first;  // Of the owner.
  std::optional<SentRequest> second;
  std::stop_source cancel_first;
  std::stop_source cancel_second;

 private:
  std::atomic<const AttemptBody*> winner_{nullptr};
  std::atomic<int> in_flight_{1};
  std::stop_callback<std::function<void()>> link_;  // Last: it uses the members above.
};

void HedgedSender::Send(const OwnerPtr& owner, SignedRequest&& request, http::RequestBody* body,
                        const std::stop_token& cancel) {
  first_.body.Reset();
  Begin(first_, request);
  sent_ = &first_;
  const auto delay = hedges_ ? context_.policy.OnRead(first_.began) : std::nullopt;
  if (delay) return SendHedged(owner, std::move(request), body, cancel, *delay);
  context_.transport.Start(std::move(request.request), body, &first_.body,
                           {request.deadline, cancel},
                           [this, owner](Result<http::Outcome> outcome) {
                             RecordFirstByte(outcome);
                             owner->OnAttemptEnd(first_, nullptr, std::move(outcome));
                           });
}

void HedgedSender::Begin(SentRequest& sent, const SignedRequest& request) const {
  sent.signature = SignatureOf(request.request);
  sent.started = context_.clock.Now();
  sent.began = context_.clock.Monotonic();
}

// The timer does not keep the call, which usually ends long before.
void HedgedSender::SendHedged(const OwnerPtr& owner, SignedRequest&& request,
                              http::RequestBody* body, const std::stop_token& cancel,
                              std::chrono::nanoseconds delay) {
  const auto attempt = std::make_shared<Attempt>(owner, first_, cancel);
  const MonotonicTime late = first_.began + delay;
  context_.transport.Start(std::move(request.request), body, &first_.body,
                           {request.deadline, attempt->cancel_first.get_token()},
                           [this, attempt](Result<http::Outcome> outcome) {
                             OnRequestEnd(attempt, attempt->first, std::move(outcome));
                           });
  // The first request is in flight, so only its completion may end the attempt. If the timer fails,
  // there is no second request.
  Contain("the timer of a second request", [&] {
    static_cast<void>(context_.transport.RunAt(late, [this, attempt] {
      // False: the sender may not exist any more.
      if (attempt->BeginSecond()) SendSecond(attempt);
    }));
  });
}

// After BeginSecond the attempt ends only when both requests have ended, so a second request that
// does not start must be ended here.
void HedgedSender::SendSecond(const AttemptPtr& attempt) {
  if (context_.policy.Spend()) {
    const Result<void> started =
        Caught("the start of a second request", [&] { return StartSecond(attempt); });
    if (started.ok()) return;
    context_.policy.Return();
    attempt->second.reset();
  }
  if (attempt->OnEnded()) OnBothEnded(attempt, attempt->first);
}

// On an error or an exception the transport has not received the request.
Result<void> HedgedSender::StartSecond(const AttemptPtr& attempt) {
  SentRequest& second = attempt->second.emplace(info_, success_body_, floor_);
  second.body.set_arbiter(attempt.get());
  PENSTOCK_ASSIGN(SignedRequest request, attempt->owner->MakeSecond());
  Begin(second, request);
  http::Completion done = [this, attempt](Result<http::Outcome> outcome) {
    OnRequestEnd(attempt, *attempt->second, std::move(outcome));
  };
  context_.counters.OnHedge();
  context_.transport.Start(std::move(request.request), nullptr, &second.body,
                           {request.deadline, attempt->cancel_second.get_token()}, std::move(done));
  return Ok();
}

void HedgedSender::OnRequestEnd(const AttemptPtr& attempt, SentRequest& sent,
                                Result<http::Outcome> outcome) {
  sent.outcome.emplace(std::move(outcome));
  if (attempt->OnEnded()) OnBothEnded(attempt, sent);
}

void HedgedSender::OnBothEnded(const AttemptPtr& attempt, SentRequest& last) {
  const OwnerPtr owner = std::exchange(attempt->owner, nullptr);
  sent_ = &attempt->Select(last);
  attempt_ = attempt;
  SentRequest* discarded = nullptr;
  if (attempt->second) {
    const bool second_won = sent_ == &*attempt->second;
    discarded = second_won ? &attempt->first : &*attempt->second;
    if (second_won) context_.counters.OnHedgeWon();
  }
  Result<http::Outcome> outcome = *std::exchange(sent_->outcome, std::nullopt);
  RecordFirstByte(outcome);
  owner->OnAttemptEnd(*sent_, discarded, std::move(outcome));
}

void HedgedSender::RecordFirstByte(const Result<http::Outcome>& outcome) const {
  if (success_body_ == nullptr || !outcome.ok() || !IsSuccess(info_, outcome->head.status)) return;
  // If the second request won, the first would have taken longer than this.
  context_.policy.OnFirstByte(sent_->began - first_.began + outcome->first_byte);
}

}  // namespace penstock::s3
