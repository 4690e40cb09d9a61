// The attempt loop of one call (dispatcher.h), as phases.
#ifndef PENSTOCK_CLIENT_S3_FLIGHT_H_
#define PENSTOCK_CLIENT_S3_FLIGHT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/caught.h"
#include "client/http/text_source.h"
#include "client/s3/attempt_request.h"
#include "client/s3/dispatcher.h"
#include "client/s3/retry/hedged_attempt.h"

namespace penstock::s3 {

// One call in progress. It is kept alive by whatever continues it next: a transport completion, a
// timer, a credentials provider.
//
// Phases run one after the other, each on the thread that ended the previous one, so members need
// no lock. Only the end of a wait is contended, by a timer and a cancellation: the one that claims
// the ticket continues.
class Flight : public std::enable_shared_from_this<Flight> {
 public:
  Flight(std::shared_ptr<ClientState> state, PreparedCall call)
      : state_(std::move(state)),
        call_(std::move(call)),
        info_(Info(call_.request.operation)),
        transport_(state_->dependencies.transport()),
        first_(info_, call_, *state_),
        invocation_id_(MakeUuid(state_->dependencies.random)),
        document_(call_.request.document) {
    if (call_.request.source != nullptr) source_.emplace(*call_.request.source);
  }

  // Does not throw: an exception ends the call with an error.
  void Start();

 private:
  const Clock& clock() const { return *state_->dependencies.clock; }
  WallTime CorrectedNow() const {
    return clock().Now() +
           std::chrono::seconds(state_->clock_skew_seconds.load(std::memory_order_relaxed));
  }

  // Waits. The caller for which Claim returns true continues the call.
  std::uint64_t BeginWait();
  bool Claim(std::uint64_t ticket) {
    return waiting_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel);
  }
  void FinishIfStopped(std::uint64_t ticket);
  // Runs `task(*this)` at `when` unless another caller claims the ticket first. If no thread can
  // run it, the call ends here.
  template <class Task>
  void WakeAt(MonotonicTime when, std::uint64_t ticket, Task task);
  // Runs a phase. An exception ends the call with that error.
  template <class Phase>
  void Proceed(Phase phase) {
    try {
      phase();
    } catch (...) {
      OnException(CaughtError("a phase of a call"));
    }
  }
  void OnException(Error error) noexcept;
  void OnStop();

  // The phases.
  void Attempt();
  void AwaitTurn();
  void FetchCredentials();
  void OnCredentials(Result<CredentialsPtr> credentials);
  void Send();
  void SendHedged(http::Request request, std::chrono::nanoseconds delay);
  void SendSecond(const std::shared_ptr<HedgedAttempt>& hedged);
  Result<void> StartSecond(const std::shared_ptr<HedgedAttempt>& hedged);
  void OnRequestEnded(const std::shared_ptr<HedgedAttempt>& hedged, SentRequest& sent,
                      Result<http::Outcome> outcome);
  void OnBothEnded(const std::shared_ptr<HedgedAttempt>& hedged, SentRequest& last);
  void OnOutcome(Result<http::Outcome> outcome);
  void OnFailure(Error error, RetryDecision decision);
  void WaitAndRetry(RetryDecision decision, Error error);
  void Finish(Result<void> result);
  void Complete(Result<void> result);

  Result<void> ResolveForAttempt();
  RateScope Scope() const;
  bool PacesPrefixes() const { return state_->config.retry_rules->mode == RetryMode::kTuned; }
  RateLimiter* FindLimiter() const;
  void RecordOutcome(bool throttled);
  std::optional<std::chrono::nanoseconds> HedgeDelay();
  Result<http::Request> MakeRequest(int attempt) const;
  Deadline AttemptDeadline() const;
  Result<void> Sign(http::Request& request) const;
  http::RequestBody* Body();
  AttemptBody& body() { return selected_->body; }
  const AttemptBody& body() const { return selected_->body; }
  void CorrectSetting(Error& error) const;
  Result<void> Read(Result<http::Outcome> outcome);
  Result<void> CheckBodySent(int status, std::uint64_t sent_bytes);
  Result<void> ReadUnlimited(Result<http::Outcome> outcome);
  void RecordFirstByte(const http::Outcome& outcome);
  void RecordFailure(const Error& error);
  AttemptEnd EndOf(const Result<http::Outcome>& outcome) const;
  void Report(AttemptEnd end, const Result<void>& result);
  bool FollowRedirect(Error& error);
  const std::string& RequestRegion() const;
  void LearnRegion(const Result<void>& result);
  bool CorrectClock(const Error& error);
  bool AwaitNewCredentials(const Error& error);
  void NoteAmbiguity(Error& error) const;
  bool OutcomeUnknown(const Error& error) const;
  // The caller's sink needs no more bytes: the call ends early, without a failure.
  bool StoppedBySink(const Error& error) const {
    return error.kind == ErrorKind::kCancelled && body().refused_by_caller();
  }
  std::optional<Error> StoppedOrExpired() const;

  const std::shared_ptr<ClientState> state_;  // Shared: the call may outlive the Client.
  PreparedCall call_;
  const OperationInfo& info_;
  const std::shared_ptr<http::Transport> transport_;  // Shared: kept for the duration of the call.
  SentRequest first_;
  SentRequest* selected_ = &first_;        // The request whose response is the attempt's result.
  std::shared_ptr<HedgedAttempt> hedged_;  // The last hedged attempt, which owns the other request.
  const std::string invocation_id_;
  http::TextSource document_;
  std::optional<SourceBody> source_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  std::atomic<std::uint64_t> waiting_{0};  // Ticket of the wait in progress; 0: none.
  std::uint64_t tickets_ = 0;

  int attempts_ = 0;
  int tokens_taken_ = 0;
  bool redirected_ = false;
  bool clock_corrected_ = false;
  bool retried_non_s3_ = false;
  bool answered_early_ = false;  // The last response arrived before the whole request body was sent.
  // An earlier attempt was sent and may have been executed.
  bool may_have_happened_ = false;
  ResolvedEndpointPtr endpoint_;            // Of this attempt; null before the first.
  ResolvedEndpointPtr temporary_endpoint_;  // Of a redirect; null: none.
  std::string region_;                      // Of a redirect; empty: learned or configured.
  std::string learned_region_;              // Used by this attempt; empty: none.
  CredentialsPtr credentials_;
  std::unique_ptr<Error> expired_;    // The error to return if credentials_ do not change.
  bool credentials_renewed_ = false;  // Or an attempt to renew them was made.
  std::vector<FailedAttempt> history_;
  RateLimiter* limiter_ = nullptr;  // Of this attempt; null: not limited.
  std::optional<Turn> turn_;        // Its place in the queue, while it waits.
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_FLIGHT_H_
