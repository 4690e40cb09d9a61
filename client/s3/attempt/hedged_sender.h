// Sends an attempt: once, or a second time if the first byte is late (retry/hedge_policy.h). The
// first response that starts to deliver wins.
#ifndef PENSTOCK_CLIENT_S3_ATTEMPT_HEDGED_SENDER_H_
#define PENSTOCK_CLIENT_S3_ATTEMPT_HEDGED_SENDER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "client/http/transport.h"
#include "client/s3/attempt/response_bodies.h"
#include "client/s3/attempt/speed_floor.h"
#include "client/s3/metrics/call_counters.h"
#include "client/s3/retry/hedge_policy.h"
#include "penstock/base/clock.h"
#include "penstock/base/result.h"

namespace penstock::s3 {

// One request of an attempt, as sent.
struct SentRequest {
  SentRequest(const OperationInfo& info, SuccessBody* success_body, const SpeedFloor& floor)
      : body(info, success_body, floor) {}

  AttemptBody body;
  std::string signature;  // Of its Authorization header; empty: unsigned.
  WallTime started{};
  MonotonicTime began{};
  std::optional<Result<http::Outcome>> outcome;  // Of a hedged attempt, after it ended.
};

// A signed request and its deadline.
struct SignedRequest {
  http::Request request;
  Deadline deadline = Deadline::Never();
};

// The call whose attempts are sent.
class AttemptOwner {
 public:
  virtual ~AttemptOwner() = default;
  // Makes the attempt's request once more.
  virtual Result<SignedRequest> MakeSecond() = 0;
  // Called once per Send, on the thread that ended the attempt. `sent` is the request whose
  // response is used, `discarded` the other one, or null. Must not throw.
  virtual void OnAttemptEnd(SentRequest& sent, SentRequest* discarded,
                            Result<http::Outcome> outcome) = 0;
};

// What a HedgedSender uses. All of it must outlive the sender.
struct SenderContext {
  http::Transport& transport;
  const Clock& clock;
  HedgePolicy& policy;
  CallCounters& counters;
};

// Sends the attempts of one call, one after the other.
class HedgedSender {
 public:
  // `success_body` is null for operations other than reads of objects. With `hedges`, such a read
  // may be sent twice.
  HedgedSender(const SenderContext& context, const OperationInfo& info, SuccessBody* success_body,
               const SpeedFloor& floor, bool hedges)
      : context_(context),
        info_(info),
        success_body_(success_body),
        floor_(floor),
        hedges_(hedges && success_body != nullptr),
        first_(info, success_body, floor) {}

  // Sends the request of the next attempt. `owner` owns this sender; it is kept until the attempt
  // has ended. `cancel` ends all requests of the attempt.
  void Send(const std::shared_ptr<AttemptOwner>& owner, SignedRequest&& request,
            http::RequestBody* body, const std::stop_token& cancel);

  // When the latest attempt began.
  MonotonicTime began() const { return first_.began; }
  // The request whose response is the latest attempt's result.
  SentRequest& sent() { return *sent_; }
  const SentRequest& sent() const { return *sent_; }

 private:
  class Attempt;
  using AttemptPtr = std::shared_ptr<Attempt>;  // Shared by the timer and the two completions.
  using OwnerPtr = std::shared_ptr<AttemptOwner>;

  void SendHedged(const OwnerPtr& owner, SignedRequest&& request, http::RequestBody* body,
                  const std::stop_token& cancel, std::chrono::nanoseconds delay);
  void SendSecond(const AttemptPtr& attempt);
  Result<void> StartSecond(const AttemptPtr& attempt);
  void OnRequestEnd(const AttemptPtr& attempt, SentRequest& sent, Result<http::Outcome> outcome);
  void OnBothEnded(const AttemptPtr& attempt, SentRequest& last);
  void Begin(SentRequest& sent, const SignedRequest& request) const;
  void RecordFirstByte(const Result<http::Outcome>& outcome) const;

  const SenderContext context_;
  const OperationInfo& info_;
  SuccessBody* const success_body_;
  const SpeedFloor floor_;
  const bool hedges_;
  SentRequest first_;
  SentRequest* sent_ = &first_;
  AttemptPtr attempt_;  // The last hedged attempt, which owns the second request.
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ATTEMPT_HEDGED_SENDER_H_
