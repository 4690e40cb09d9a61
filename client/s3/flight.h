// One call on its way through its attempts: the loop of dispatcher.h, as the phases it goes
// through.
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

// One call in progress. Owned by whatever will wake it next: a transport's completion, a timer, a
// provider.
//
// Its phases follow one another, each on the thread that ends the former, so its members need no
// lock. Only waking has rivals (timer against cancellation): the one that takes the ticket goes on.
class Flight : public std::enable_shared_from_this<Flight> {
 public:
  Flight(std::shared_ptr<ClientState> state, PreparedCall call)
      : state_(std::move(state)),
        call_(std::move(call)),
        info_(Info(call_.request.operation)),
        transport_(state_->surroundings.transport()),
        first_(info_, call_, *state_),
        invocation_id_(MakeUuid(state_->surroundings.random)),
        document_(call_.request.document) {
    if (call_.request.source != nullptr) source_.emplace(*call_.request.source);
  }

  // Never throws: an exception ends the call with an error.
  void Start();

 private:
  const Clock& clock() const { return *state_->surroundings.clock; }
  WallTime CorrectedNow() const {
    return clock().Now() +
           std::chrono::seconds(state_->clock_skew_seconds.load(std::memory_order_relaxed));
  }

  // Waiting: whoever gets true from Claim goes on.
  std::uint64_t BeginWait();
  bool Claim(std::uint64_t ticket) {
    return waiting_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel);
  }
  void GiveUpIfStoppedWhileWaiting(std::uint64_t ticket);
  // Has `task(*this)` run at `when` unless another takes the ticket first. Where no thread can, the
  // call ends here.
  template <class Task>
  void WakeAt(MonotonicTime when, std::uint64_t ticket, Task task);
  // Runs a phase. An exception that leaves it ends the call with that error.
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
  void SendHedged(http::Request request, std::chrono::nanoseconds patience);
  void SendSecond(const std::shared_ptr<HedgedAttempt>& race);
  Result<void> StartSecond(const std::shared_ptr<HedgedAttempt>& race);
  void OnLegEnded(const std::shared_ptr<HedgedAttempt>& race, Leg& leg,
                  Result<http::Outcome> outcome);
  void OnLegsEnded(const std::shared_ptr<HedgedAttempt>& race, Leg& last);
  void OnOutcome(Result<http::Outcome> outcome);
  void OnFailure(Error error, RetryDecision decision);
  void WaitAndRetry(RetryDecision decision, Error error);
  void Finish(Result<void> result);
  void Complete(Result<void> result);

  Result<void> ResolveHere();
  RateScope Scope() const;
  bool PacesPrefixes() const { return state_->config.retry_rules->mode == RetryMode::kTuned; }
  RateLimiter* FindLimiter() const;
  void RecordOutcome(bool throttled);
  std::optional<std::chrono::nanoseconds> HedgeDelay();
  Result<http::Request> MakeRequest(int attempt) const;
  Deadline AttemptDeadline() const;
  Result<void> Sign(http::Request& request) const;
  http::RequestBody* Body();
  AttemptBody& body() { return counting_->body; }
  const AttemptBody& body() const { return counting_->body; }
  void NameSetting(Error& error) const;
  Result<void> Read(Result<http::Outcome> outcome);
  Result<void> CheckBodySent(int status, std::uint64_t sent_bytes);
  Result<void> ReadUnlimited(Result<http::Outcome> outcome);
  void Learn(const http::Outcome& outcome);
  void Remember(const Error& error);
  AttemptEnd EndOf(const Result<http::Outcome>& outcome) const;
  void Report(AttemptEnd end, const Result<void>& result);
  bool FollowRedirect(Error& error);
  const std::string& AskedRegion() const;
  void LearnRegion(const Result<void>& result);
  bool CorrectClock(const Error& error);
  bool AwaitNewCredentials(const Error& error);
  void NoteAmbiguity(Error& error) const;
  bool LeftOpen(const Error& error) const;
  // The caller's sink has all it wants: the call ends early, but not badly.
  bool IsEnough(const Error& error) const {
    return error.kind == ErrorKind::kCancelled && body().refused_by_caller();
  }
  std::optional<Error> StoppedOrLate() const;

  const std::shared_ptr<ClientState> state_;  // shared: the call may outlive the Client
  PreparedCall call_;
  const OperationInfo& info_;
  const std::shared_ptr<http::Transport> transport_;  // shared: kept for the length of the call
  Leg first_;
  Leg* counting_ = &first_;              // the one whose answer this attempt's is
  std::shared_ptr<HedgedAttempt> race_;  // of the last hedged attempt: it has the other leg
  const std::string invocation_id_;
  http::TextSource document_;
  std::optional<SourceBody> source_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
  std::atomic<std::uint64_t> waiting_{0};  // ticket of the wait in progress; 0: none
  std::uint64_t tickets_ = 0;

  int attempts_ = 0;
  int tokens_taken_ = 0;
  bool redirected_ = false;
  bool clock_corrected_ = false;
  bool met_no_s3_ = false;
  // an attempt before this one was sent, and may have been carried out
  bool may_have_happened_ = false;
  ResolvedEndpointPtr endpoint_;            // of this attempt; null before the first
  ResolvedEndpointPtr temporary_endpoint_;  // of a redirect; null: none
  std::string region_;                      // of a redirect; empty: learned or configured
  std::string learned_region_;              // that this attempt goes to; empty: none
  CredentialsPtr credentials_;
  std::unique_ptr<Error> expired_;    // waits for other credentials than credentials_
  bool credentials_renewed_ = false;  // or tried to
  std::vector<FailedAttempt> history_;
  RateLimiter* limiter_ = nullptr;  // of this attempt; null: nothing is held back
  std::optional<Turn> turn_;        // its place in line, while it waits
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_FLIGHT_H_
