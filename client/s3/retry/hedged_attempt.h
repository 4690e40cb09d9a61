// An attempt that may be on its way twice, of which one answer counts: the first that begins to
// deliver.
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

// One sending of an attempt.
struct Leg {
  Leg(const OperationInfo& info, const PreparedCall& call, const ClientState& state)
      : body(info, call.success_body, FloorOf(info, state)) {}

  AttemptBody body;
  WallTime started{};
  MonotonicTime began{};
  std::optional<Result<http::Outcome>> outcome;  // once it has ended, of a hedged attempt

 private:
  static SpeedFloor FloorOf(const OperationInfo& info, const ClientState& state) {
    const ClientConfig& config = state.config.client;
    return HasSpeedFloor(info, config) ? SpeedFloor(config, *state.surroundings.clock)
                                       : SpeedFloor();
  }
};

// Two legs, of which the second may never start. Both may end in the loser's cancellation; the call
// goes on when both have, so that nobody touches its sink any more.
//
// Thread safety: the legs' transport threads call Win and OnEnded, a timer's the others.
class HedgedAttempt final : public AnswerRace {
 public:
  // `first` outlives this; `cancel` ends both legs.
  HedgedAttempt(Leg& first_leg, const std::stop_token& cancel)
      : first(first_leg), link_(cancel, [this] {
          // A leg may end in the middle of this, and take the attempt with it.
          const std::stop_source sources[] = {cancel_first, cancel_second};
          for (const std::stop_source& source : sources) source.request_stop();
        }) {
    first.body.set_race(this);
  }

  bool Win(const AttemptBody& body) override {
    const AttemptBody* nobody = nullptr;
    if (!winner_.compare_exchange_strong(nobody, &body, std::memory_order_acq_rel))
      return nobody == &body;
    (&body == &first.body ? cancel_second : cancel_first).request_stop();
    return true;
  }

  // The first leg is on its way and has not begun to deliver.
  bool MayHedge() const {
    return in_flight_.load(std::memory_order_acquire) == 1 &&
           winner_.load(std::memory_order_acquire) == nullptr;
  }
  // False: the first leg has ended. True: the attempt does not end before OnEnded was called for
  // both.
  bool BeginSecond() {
    int one = 1;
    return in_flight_.compare_exchange_strong(one, 2, std::memory_order_acq_rel);
  }
  // True for the last leg.
  bool OnEnded() { return in_flight_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // After both have ended: the leg that counts, of which `last` ended last.
  Leg& Counting(Leg& last) {
    const AttemptBody* const winner = winner_.load(std::memory_order_acquire);
    if (winner == nullptr) return last;
    return winner == &first.body ? first : *second;
  }

  Leg& first;
  std::optional<Leg> second;
  std::stop_source cancel_first;
  std::stop_source cancel_second;

 private:
  std::atomic<const AttemptBody*> winner_{nullptr};
  std::atomic<int> in_flight_{1};
  std::stop_callback<std::function<void()>> link_;  // last: calls what stands above
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_RETRY_HEDGED_ATTEMPT_H_
