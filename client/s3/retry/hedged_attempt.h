// An attempt that may send its request twice. The first response that starts to deliver wins.
#ifndef PENSTOCK_CLIENT_S3_RETRY_HEDGED_ATTEMPT_H_
#define PENSTOCK_CLIENT_S3_RETRY_HEDGED_ATTEMPT_H_

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>

#include "client/s3/dispatcher.h"
#include "client/s3/idle_timeout.h"
#include "client/s3/response_bodies.h"

namespace penstock::s3 {

// One request of an attempt, as sent.
struct SentRequest {
  SentRequest(const OperationInfo& info, const PreparedCall& call, const ClientState& state)
      : body(info, call.success_body, FloorOf(info, state)) {}

  AttemptBody body;
  WallTime started{};
  MonotonicTime began{};
  std::optional<Result<http::Outcome>> outcome;  // Of a hedged attempt, after it ended.

 private:
  static SpeedFloor FloorOf(const OperationInfo& info, const ClientState& state) {
    const ClientConfig& config = state.config.client;
    return HasSpeedFloor(info, config) ? SpeedFloor(config, *state.dependencies.clock)
                                       : SpeedFloor();
  }
};

// Two requests, the second of which may never start. Both may end with a cancellation. The call
// continues after both have ended, when neither uses its sink any longer.
//
// Thread safety: the requests' transport threads call TryWin and OnEnded, a timer thread the other
// members.
class HedgedAttempt final : public HedgeArbiter {
 public:
  // `first_request` must outlive this object; `cancel` ends both requests.
  HedgedAttempt(SentRequest& first_request, const std::stop_token& cancel)
      : first(first_request), link_(cancel, [this] {
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

  // Returns whether the first request is in flight and has not started to deliver.
  bool MayHedge() const {
    return in_flight_.load(std::memory_order_acquire) == 1 &&
           winner_.load(std::memory_order_acquire) == nullptr;
  }
  // Returns false if the first request has ended. After true, the attempt ends only when OnEnded
  // was called for both.
  bool BeginSecond() {
    int one = 1;
    return in_flight_.compare_exchange_strong(one, 2, std::memory_order_acq_rel);
  }
  // Returns true for the last request.
  bool OnEnded() { return in_flight_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // Called after both have ended; `last` ended last. Returns the request whose response is used.
  SentRequest& Select(SentRequest& last) {
    const AttemptBody* const winner = winner_.load(std::memory_order_acquire);
    if (winner == nullptr) return last;
    return winner == &first.body ? first : *second;
  }

  SentRequest& first;
  std::optional<SentRequest> second;
  std::stop_source cancel_first;
  std::stop_source cancel_second;

 private:
  std::atomic<const AttemptBody*> winner_{nullptr};
  std::atomic<int> in_flight_{1};
  std::stop_callback<std::function<void()>> link_;  // Last: it uses the members above.
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_HEDGED_ATTEMPT_H_
