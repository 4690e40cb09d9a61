#include "client/s3/call/attempt_loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/http/text_source.h"
#include "client/s3/attempt/attempt_request.h"
#include "client/s3/attempt/attempt_result.h"
#include "client/s3/attempt/hedged_sender.h"
#include "client/s3/attempt/time_limits.h"
#include "client/s3/call/call_record.h"
#include "client/s3/call/region_resolver.h"
#include "client/s3/call/signing_credentials.h"
#include "client/s3/metrics/call_log.h"
#include "client/s3/verbs/document.h"

namespace penstock::s3 {
namespace {

constexpr std::chrono::seconds kMaxVerdictWait{30};

Error Cancelled() { return Error::Make(ErrorKind::kCancelled, "the caller cancelled the call"); }

SpeedFloor FloorOf(const OperationInfo& info, const ClientConfig& config, const Clock& clock) {
  return HasSpeedFloor(info, config) ? SpeedFloor(config, clock) : SpeedFloor();
}

// The wait in progress, which a timer and a cancellation contend to end. The caller for which
// TryEnd returns true continues the call.
class Waiting {
 public:
  using Ticket = std::uint64_t;
  Ticket Begin() {
    const Ticket ticket = ++tickets_;
    current_.store(ticket, std::memory_order_release);
    return ticket;
  }
  bool TryEnd(Ticket ticket) {
    return current_.compare_exchange_strong(ticket, 0, std::memory_order_acq_rel);
  }
  bool TryEndAny() { return current_.exchange(0, std::memory_order_acq_rel) != 0; }
  bool IsOpen(Ticket ticket) const { return current_.load(std::memory_order_acquire) == ticket; }

 private:
  std::atomic<Ticket> current_{0};  // 0: none.
  Ticket tickets_ = 0;
};

// One call in progress. It is kept alive by whatever continues it next: a transport completion, a
// timer, a credentials provider.
//
// Phases run one after the other, each on the thread that ended the previous one, so members need
// no lock. Only the end of a wait is contended.
class AttemptLoop final : public AttemptOwner, public std::enable_shared_from_this<AttemptLoop> {
 public:
  AttemptLoop(std::shared_ptr<ClientState> state, PreparedCall&& call)
      : state_(std::move(state)),
        call_(std::move(call)),
        info_(Info(call_.request.operation)),
        transport_(state_->dependencies.transport()),
        region_(state_->config, state_->regions, state_->endpoints, info_, call_.request.bucket),
        signer_(*state_, info_, call_.request.bucket),
        sender_({*transport_, clock(), state_->hedging, state_->counters}, info_,
                call_.success_body, FloorOf(info_, state_->config.client, clock()),
                state_->config.hedge_reads),
        record_(call_.request, state_->counters, clock()),
        invocation_id_(MakeUuid(state_->dependencies.random)),
        document_(call_.request.document) {
    if (call_.request.source != nullptr) source_.emplace(*call_.request.source);
  }

  // Does not throw: an exception ends the call with an error.
  void Start();

 private:
  using Ticket = Waiting::Ticket;

  const Clock& clock() const { return *state_->dependencies.clock; }
  const RetryRules& rules() const { return *state_->config.retry_rules; }
  const Deadline& deadline() const { return call_.options.deadline; }
  const ResolvedEndpoint& endpoint() const { return *region_.endpoint(); }
  const AttemptBody& received() const { return sender_.sent().body; }
  RequestSecrets SecretsOf(const SentRequest& sent) const;

  // The phases.
  void Attempt();
  void AwaitTurn();
  void FetchCredentials();
  void OnCredentials(Result<CredentialsPtr> credentials);
  void Send();
  void OnAttemptEnd(SentRequest& sent, SentRequest* discarded,
                    Result<http::Outcome> outcome) override;
  void OnFailure(Error error, RetryDecision decision);
  void AskPolicy(RetryDecision decision, Error error);
  void OnVerdict(RetryVerdict verdict);
  void Retry(RetryDecision decision, Error error);
  void WaitAndRetry(RetryDecision decision, Error error);
  void Finish(Result<void> result);
  Result<void> Accept(const WireResponse& response);
  // Keeps the facts of a success for CallOptions::on_response.
  void Record(const http::ResponseHead& head);
  void Complete(Result<void> result);

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
  // Runs `task(*this)` at `when` unless another caller claims the ticket first. If no thread can
  // run it, the call ends here.
  template <class Task>
  void WakeAt(MonotonicTime when, Ticket ticket, Task task);
  void FinishIfStopped(Ticket ticket);
  std::optional<Error> StoppedOrExpired() const;

  RateScope Scope() const;
  RateLimiter* FindLimiter() const;
  void RecordRate(bool throttled);
  http::RequestBody* Body();
  Result<SignedRequest> MakeRequest(int attempt);
  Result<SignedRequest> MakeSecond() override { return MakeRequest(record_.attempts()); }
  // Returns whether another request, sent at once, may succeed. Each of these corrections is made
  // at most once per call.
  bool Correct(Error& error);
  RetryQuestion QuestionAbout(RetryDecision decision, const Error& error) const;
  // Returns null if the caller's sink needs no more bytes: then the call ends early, without a
  // failure.
  const Error* FailureOf(const Error& error) const {
    const bool by_sink = error.kind == ErrorKind::kCancelled && received().refused_by_caller();
    return by_sink ? nullptr : &error;
  }

  const std::shared_ptr<ClientState> state_;  // Shared: the call may outlive the Client.
  PreparedCall call_;
  const OperationInfo& info_;
  const std::shared_ptr<http::Transport> transport_;  // Shared: kept for the duration of the call.
  RegionResolver region_;
  CallSigner signer_;
  HedgedSender sender_;
  CallRecord record_;
  const std::string invocation_id_;
  http::TextSource document_;
  std::optional<SourceBody> source_;
  // Not std::function, which allocates memory for the reference.
  struct StopHandler {
    void operator()() const {
      if (const auto self = call.lock()) self->OnStop();
    }
    std::weak_ptr<AttemptLoop> call;
  };
  std::optional<std::stop_callback<StopHandler>> on_stop_;
  Waiting waiting_;
  // The failure that the retry policy judges.
  struct Judged {
    RetryDecision decision;
    Error error;
  };
  std::optional<Judged> judged_;
  int tokens_taken_ = 0;
  bool retried_non_s3_ = false;
  RetryReason retry_reason_ = RetryReason::kServerError;  // Of the next attempt after the first.
  std::unique_ptr<ResponseInfo> response_info_;           // Null: no success, or no observer.
  RateLimiter* limiter_ = nullptr;                        // Of this attempt; null: not limited.
  std::optional<Turn> turn_;                              // Its place in the queue, while it waits.
};

void AttemptLoop::Start() {
  Proceed([this] {
    if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
    on_stop_.emplace(call_.options.cancel, StopHandler{weak_from_this()});
    Attempt();
  });
}

void AttemptLoop::Attempt() {
  if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
  if (auto resolved = region_.Resolve(); !resolved.ok()) return Finish(std::move(resolved));
  auto may = CheckMayCarryKey(call_.request, endpoint().endpoint, state_->connect);
  if (!may.ok()) return Finish(std::move(may));
  limiter_ = FindLimiter();
  if (limiter_ == nullptr) return FetchCredentials();
  turn_ = limiter_->Join(clock().Monotonic());
  AwaitTurn();
}

void AttemptLoop::AwaitTurn() {
  const MonotonicTime now = clock().Monotonic();
  const std::chrono::nanoseconds wait = limiter_->WaitFor(*turn_, now);
  if (wait.count() <= 0) {
    turn_.reset();
    return FetchCredentials();
  }
  const Ticket ticket = waiting_.Begin();
  WakeAt(std::min(now + wait, deadline().when()), ticket, [](AttemptLoop& self) {
    if (!self.deadline().Passed(self.clock())) return self.AwaitTurn();
    self.Finish(
        Error::Make(ErrorKind::kTimeout,
                    "the deadline passed while the request waited for the rate limit: S3 throttled "
                    "this prefix, and all requests to it share one rate"));
  });
  FinishIfStopped(ticket);
}

void AttemptLoop::FetchCredentials() {
  const Ticket ticket = waiting_.Begin();
  Result<void> asked = Caught("the request for credentials", [&] {
    FetchSigningCredentials(
        state_, region_.endpoint(), call_.request.bucket, std::chrono::seconds(0),
        [self = shared_from_this(), ticket](Result<CredentialsPtr> credentials) {
          if (!self->waiting_.TryEnd(ticket)) return;
          self->Proceed([&] { self->OnCredentials(std::move(credentials)); });
        });
  });
  if (!asked.ok() && waiting_.TryEnd(ticket)) return Finish(std::move(asked).error());
  if (!waiting_.IsOpen(ticket)) return;
  if (!deadline().IsNever()) {
    WakeAt(deadline().when(), ticket, [](AttemptLoop& self) { self.Finish(LateCredentials()); });
  }
  FinishIfStopped(ticket);
}

void AttemptLoop::OnCredentials(Result<CredentialsPtr> credentials) {
  if (!credentials.ok()) return Finish(std::move(credentials).error());
  if (auto accepted = signer_.Accept(std::move(credentials).value()); !accepted.ok())
    return Finish(std::move(accepted));
  Send();
}

void AttemptLoop::Send() {
  if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
  if (call_.success_body != nullptr) call_.success_body->Prepare(call_.request);
  auto request = MakeRequest(record_.attempts() + 1);
  if (!request.ok()) return Finish(std::move(request).error());
  record_.OnSend(retry_reason_);
  sender_.Send(shared_from_this(), std::move(request).value(), Body(), call_.options.cancel);
}

void AttemptLoop::OnAttemptEnd(SentRequest& sent, SentRequest* discarded,
                               Result<http::Outcome> outcome) {
  Proceed([&] {
    if (discarded != nullptr) {
      const Error lost = Error::Make(ErrorKind::kCancelled, "the other response was first");
      record_.OnEnd(record_.EndOf(*discarded, *discarded->outcome), *discarded,
                    SecretsOf(*discarded), FailureOf(lost));
    }
    const AttemptEnd end = record_.EndOf(sent, outcome);
    const bool complete = outcome.ok();
    Result<void> result =
        ReadAttempt({info_, call_.request, Body(), state_->config.client, SecretsOf(sent),
                     record_.may_have_happened()},
                    sent.body, std::move(outcome),
                    [this](const WireResponse& response) { return Accept(response); });
    record_.OnEnd(end, sent, SecretsOf(sent), result.ok() ? nullptr : FailureOf(result.error()));
    region_.Learn(result, sent.body.connections().any(), sent.body.head());
    const RetryDecision decision =
        result.ok() ? RetryDecision::kNo : DecideRetry(rules(), result.error());
    RecordRate(decision == RetryDecision::kThrottled);
    if (!result.ok()) {
      retry_reason_ = ReasonOf(result.error(), complete);
      return OnFailure(std::move(result).error(), decision);
    }
    state_->quotas.For(endpoint().endpoint.host).OnSuccess(tokens_taken_);
    Finish(Ok());
  });
}

void AttemptLoop::OnFailure(Error error, RetryDecision decision) {
  if (record_.attempts() > 1 || decision != RetryDecision::kNo)
    record_.AddFailure(sender_.sent(), error);
  const bool already_done = info_.retry_class == RetryClass::kAlreadyDoneIsSuccess &&
                            record_.may_have_happened() && error.code == info_.already_done_code;
  if (already_done) {
    if (received().head()) Record(*received().head());
    return Finish(Ok());
  }
  if (received().refused_by_caller() || error.kind == ErrorKind::kCancelled)
    return Finish(std::move(error));
  if (IsNotFromS3(error)) {
    error.message +=
        " (the response came from " + endpoint().authority + ", which may not be an S3 endpoint)";
    // A proxy's error page may be temporary: retry once.
    if (!std::exchange(retried_non_s3_, true)) decision = RetryDecision::kTransient;
  }
  if (Correct(error)) {
    if (!record_.has_failures()) record_.AddFailure(sender_.sent(), error);
    return Attempt();
  }
  region_.Explain(received().head(), error);
  if (state_->config.client.async_retry_policy) return AskPolicy(decision, std::move(error));
  judged_.emplace(Judged{decision, std::move(error)});
  const RetryPolicy& policy = state_->config.client.retry_policy;
  const auto ask = [&]() -> Result<RetryVerdict> {
    return policy ? policy(QuestionAbout(judged_->decision, judged_->error))
                  : RetryVerdict::kDefault;
  };
  const Result<RetryVerdict> verdict = Caught("the retry policy of a client", ask);
  if (!verdict.ok()) return Finish(verdict.error());
  OnVerdict(*verdict);
}

RetryQuestion AttemptLoop::QuestionAbout(RetryDecision decision, const Error& error) const {
  const WireRequest& request = call_.request;
  return {info_.name,         request.bucket, request.key,
          record_.attempts(), error,          decision != RetryDecision::kNo};
}

void AttemptLoop::AskPolicy(RetryDecision decision, Error error) {
  const Error asked_about = error;  // The verdict may end the call before the policy returns.
  judged_.emplace(Judged{decision, std::move(error)});
  const Ticket ticket = waiting_.Begin();
  // The verdict continues the call on an I/O thread.
  const auto decide = [self = shared_from_this(), ticket](RetryVerdict verdict) {
    self->WakeAt(self->clock().Monotonic(), ticket,
                 [verdict](AttemptLoop& loop) { loop.OnVerdict(verdict); });
  };
  Result<void> asked = Caught("the retry policy of a client", [&] {
    state_->config.client.async_retry_policy(QuestionAbout(decision, asked_about), decide);
  });
  if (!asked.ok() && waiting_.TryEnd(ticket)) return Finish(std::move(asked).error());
  if (!waiting_.IsOpen(ticket)) return;
  const MonotonicTime latest = clock().Monotonic() + kMaxVerdictWait;
  WakeAt(std::min(latest, deadline().when()), ticket,
         [](AttemptLoop& self) { self.OnVerdict(RetryVerdict::kDefault); });
  FinishIfStopped(ticket);
}

void AttemptLoop::OnVerdict(RetryVerdict verdict) {
  auto [decision, error] = *std::exchange(judged_, std::nullopt);
  if (verdict == RetryVerdict::kRetry && decision == RetryDecision::kNo) {
    decision = RetryDecision::kTransient;
    retry_reason_ = RetryReason::kRetryPolicy;
  }
  if (verdict == RetryVerdict::kStop && decision != RetryDecision::kNo) {
    error.message += " (not retried: the retry policy of the client stopped it)";
    decision = RetryDecision::kNo;
  }
  Retry(decision, std::move(error));
}

void AttemptLoop::Retry(RetryDecision decision, Error error) {
  if (decision == RetryDecision::kNo || deadline().Passed(clock()) ||
      record_.attempts() >= state_->config.max_attempts) {
    return Finish(std::move(error));
  }
  const int cost = rules().Cost(decision);
  if (!state_->quotas.For(endpoint().endpoint.host).Take(cost)) {
    error.message += " (not retried: recent retries have used up the retry quota for this host)";
    return Finish(std::move(error));
  }
  tokens_taken_ = cost;
  WaitAndRetry(decision, std::move(error));
}

bool AttemptLoop::Correct(Error& error) {
  const auto& head = received().head();
  const auto corrected = [this](RetryReason reason) {
    retry_reason_ = reason;
    return true;
  };
  if (head && region_.Follow(*head, error)) return corrected(RetryReason::kRegion);
  if (head && signer_.CorrectClock(error, *head)) return corrected(RetryReason::kClockSkew);
  return signer_.Renew(error, endpoint()) && corrected(RetryReason::kCredentials);
}

void AttemptLoop::WaitAndRetry(RetryDecision decision, Error error) {
  const double random = ToUnitInterval(state_->dependencies.random());
  const auto delay = BackOff(rules(), decision, record_.attempts(), random, error.retry_after);
  const MonotonicTime when = clock().Monotonic() + delay;
  if (!deadline().IsNever() && when >= deadline().when()) {
    error.kind = ErrorKind::kTimeout;
    error.message =
        "the deadline leaves no time for another attempt; the last one failed: " + error.message;
    return Finish(std::move(error));
  }
  record_.OnRetry(sender_.sent(), error);
  LogRetry(info_, call_.request.bucket, call_.request.key, record_.attempts(), decision, delay,
           error);
  const Ticket ticket = waiting_.Begin();
  WakeAt(when, ticket, [](AttemptLoop& self) { self.Attempt(); });
  FinishIfStopped(ticket);
}

void AttemptLoop::Finish(Result<void> result) {
  if (turn_) limiter_->Leave(*std::exchange(turn_, std::nullopt), clock().Monotonic());
  if (!result.ok()) {
    record_.Complete(result.error());
    if (const Error* failure = FailureOf(result.error())) {
      state_->counters.OnFailure(failure->kind);
      LogFailure(*failure);
    }
  }
  Complete(std::move(result));
}

Result<void> AttemptLoop::Accept(const WireResponse& response) {
  Result<void> accepted = call_.accept(response);
  if (accepted.ok()) Record(response.head);
  return accepted;
}

void AttemptLoop::Record(const http::ResponseHead& head) {
  if (!call_.options.on_response) return;
  response_info_ = std::make_unique<ResponseInfo>();
  response_info_->http_status = head.status;
  response_info_->request_id = head.Find("x-amz-request-id").value_or(std::string_view{});
  response_info_->host_id = head.Find("x-amz-id-2").value_or(std::string_view{});
  response_info_->attempts = record_.attempts();
  response_info_->headers.reserve(head.headers.size());
  for (const http::Header& header : head.headers)
    response_info_->headers.emplace_back(header.name, header.value);
}

RequestSecrets AttemptLoop::SecretsOf(const SentRequest& sent) const {
  RequestSecrets secrets{signer_.credentials(), sent.signature};
  if (!call_.request.carries_customer_key) return secrets;
  const auto value = [this](std::string_view name) {
    const std::string* found = call_.request.FindHeader(name);
    return found == nullptr ? std::string_view() : std::string_view(*found);
  };
  secrets.customer_key = value("x-amz-server-side-encryption-customer-key");
  secrets.source_customer_key = value("x-amz-copy-source-server-side-encryption-customer-key");
  return secrets;
}

void AttemptLoop::Complete(Result<void> result) {
  if (result.ok() && response_info_)
    Contain("the response observer of a call", [&] { call_.options.on_response(*response_info_); });
  const auto done = std::exchange(call_.done, nullptr);
  Contain("the callback of a call", [&] { done(std::move(result)); });
}

void AttemptLoop::OnException(Error error) noexcept {
  if (call_.done == nullptr) return;
  const Result<void> finished = Caught("a call's end", [&] { Finish(error); });
  if (!finished.ok() && call_.done != nullptr) Complete(std::move(error));
}

void AttemptLoop::OnStop() {
  // Not here: this thread requested the stop, and completions run on I/O threads.
  const auto end = [self = shared_from_this()] {
    if (self->waiting_.TryEndAny()) self->Proceed([&] { self->Finish(Cancelled()); });
  };
  const Result<void> accepted = Caught("the cancellation of a call",
                                       [&] { return transport_->RunAt(clock().Monotonic(), end); });
  if (!accepted.ok()) end();  // No other thread is left.
}

template <class Task>
void AttemptLoop::WakeAt(MonotonicTime when, Ticket ticket, Task task) {
  // Do not let an exception skip the ticket: another waiter could then end the call a second time.
  Result<void> accepted = Caught("a timer of a call", [&] {
    return transport_->RunAt(when, [self = shared_from_this(), ticket, task] {
      if (self->waiting_.TryEnd(ticket)) self->Proceed([&] { task(*self); });
    });
  });
  if (!accepted.ok() && waiting_.TryEnd(ticket)) Finish(std::move(accepted).error());
}

void AttemptLoop::FinishIfStopped(Ticket ticket) {
  if (call_.options.cancel.stop_requested() && waiting_.TryEnd(ticket)) Finish(Cancelled());
}

std::optional<Error> AttemptLoop::StoppedOrExpired() const {
  if (call_.options.cancel.stop_requested()) return Cancelled();
  if (!deadline().Passed(clock())) return std::nullopt;
  return Error::Make(ErrorKind::kTimeout, "the deadline passed before the request could be sent");
}

RateScope AttemptLoop::Scope() const {
  return {endpoint().authority, call_.request.bucket, call_.request.key, !info_.reads()};
}

RateLimiter* AttemptLoop::FindLimiter() const {
  if (rules().mode == RetryMode::kAdaptive)
    return &state_->process.adaptive_rate(clock().Monotonic());
  return rules().mode == RetryMode::kTuned ? state_->dependencies.rates().Find(Scope()) : nullptr;
}

void AttemptLoop::RecordRate(bool throttled) {
  if (!throttled && limiter_ == nullptr) return;
  const MonotonicTime now = clock().Monotonic();
  if (throttled) state_->hedging.OnThrottled(now);
  if (throttled && limiter_ == nullptr && rules().mode == RetryMode::kTuned)
    limiter_ = &state_->dependencies.rates().For(Scope());
  if (limiter_ != nullptr) limiter_->OnResponse(throttled, sender_.began(), now);
}

http::RequestBody* AttemptLoop::Body() {
  if (source_) return &*source_;
  return info_.takes_body() ? &document_ : nullptr;
}

Result<SignedRequest> AttemptLoop::MakeRequest(int attempt) {
  SignedRequest out;
  out.request = MakeAttempt(call_.request, endpoint(), state_->config.client,
                            {invocation_id_, attempt, state_->user_agent});
  out.request.connect = state_->connect;
  const std::string& document = call_.request.document;
  const std::string of_document =
      document.empty() ? std::string() : auth::PayloadSha256(AsBytes(document));
  const std::string_view hash = source_            ? auth::kUnsignedPayload
                                : document.empty() ? auth::kEmptyPayloadSha256
                                                   : std::string_view(of_document);
  PENSTOCK_TRY(signer_.Sign(out.request, endpoint(), hash));
  const std::uint64_t body_bytes = source_ ? source_->size() : 0;
  const auto limit = AttemptTimeout(info_, body_bytes, state_->config.client);
  const Deadline latest =
      deadline().IsNever() ? deadline() : Deadline::At(deadline().when() + call_.options.grace);
  out.deadline = limit.count() == 0 ? latest : latest.Min(Deadline::After(clock(), limit));
  return out;
}

}  // namespace

Deadline DeadlineOf(const ClientState& state, const CallOptions& options) {
  const auto limit = state.config.client.operation_timeout;
  if (limit.count() == 0) return options.deadline;
  return options.deadline.Min(Deadline::After(*state.dependencies.clock, limit));
}

void Dispatch(std::shared_ptr<ClientState> state, PreparedCall&& call) {
  call.options.deadline = DeadlineOf(*state, call.options);
  std::make_shared<AttemptLoop>(std::move(state), std::move(call))->Start();
}

}  // namespace penstock::s3
