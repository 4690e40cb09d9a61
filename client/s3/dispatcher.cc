#include "client/s3/dispatcher.h"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/caught.h"
#include "base/log.h"
#include "client/http/curl/http_transport.h"
#include "client/s3/attempt_request.h"
#include "client/s3/document.h"
#include "client/s3/endpoint/redirect.h"
#include "client/s3/error_document.h"
#include "client/s3/express/signing_credentials.h"
#include "client/s3/flight.h"
#include "client/s3/idle_timeout.h"
#include "client/s3/metrics/call_log.h"

namespace penstock::s3 {
namespace {

Error Cancelled() { return Error::Make(ErrorKind::kCancelled, "the caller cancelled the call"); }

}  // namespace

std::uint64_t Flight::BeginWait() {
  const std::uint64_t ticket = ++tickets_;
  waiting_.store(ticket, std::memory_order_release);
  return ticket;
}

void Flight::OnStop() {
  // Not here: this thread requested the stop, and completions run on I/O threads.
  const auto end = [self = shared_from_this()] {
    if (self->waiting_.exchange(0, std::memory_order_acq_rel) == 0) return;
    self->Proceed([&] { self->Finish(Cancelled()); });
  };
  const Result<void> accepted = Caught("the cancellation of a call",
                                       [&] { return transport_->RunAt(clock().Monotonic(), end); });
  if (!accepted.ok()) end();  // No other thread is left.
}

template <class Task>
void Flight::WakeAt(MonotonicTime when, std::uint64_t ticket, Task task) {
  // Do not let an exception skip the ticket: another waiter could then end the call a second time.
  Result<void> accepted = Caught("a timer of a call", [&] {
    return transport_->RunAt(when, [self = shared_from_this(), ticket, task] {
      if (self->Claim(ticket)) self->Proceed([&] { task(*self); });
    });
  });
  if (!accepted.ok() && Claim(ticket)) Finish(std::move(accepted).error());
}

void Flight::OnException(Error error) noexcept {
  if (call_.done == nullptr) return;
  const Result<void> finished = Caught("a call's end", [&] { Finish(error); });
  if (!finished.ok() && call_.done != nullptr) Complete(std::move(error));
}

void Flight::FinishIfStopped(std::uint64_t ticket) {
  if (call_.options.cancel.stop_requested() && Claim(ticket)) Finish(Cancelled());
}

std::optional<Error> Flight::StoppedOrExpired() const {
  if (call_.options.cancel.stop_requested()) return Cancelled();
  if (call_.options.deadline.Passed(clock())) {
    return Error::Make(ErrorKind::kTimeout, "the deadline passed before the request could be sent");
  }
  return std::nullopt;
}

void Flight::Start() {
  Proceed([this] {
    if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
    on_stop_.emplace(call_.options.cancel, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->OnStop();
    });
    Attempt();
  });
}

void Flight::Attempt() {
  if (auto over = StoppedOrExpired()) return Finish(*std::move(over));
  if (auto resolved = ResolveForAttempt(); !resolved.ok()) return Finish(std::move(resolved));
  limiter_ = FindLimiter();
  if (limiter_ == nullptr) return FetchCredentials();
  turn_ = limiter_->Join(clock().Monotonic());
  AwaitTurn();
}

RateScope Flight::Scope() const {
  return {endpoint_->authority, call_.request.bucket, call_.request.key,
          info_.method != "GET" && info_.method != "HEAD"};
}

RateLimiter* Flight::FindLimiter() const {
  if (state_->config.retry_rules->mode == RetryMode::kAdaptive)
    return &state_->process.adaptive_rate(clock().Monotonic());
  return PacesPrefixes() ? state_->dependencies.rates().Find(Scope()) : nullptr;
}

void Flight::AwaitTurn() {
  const MonotonicTime now = clock().Monotonic();
  const std::chrono::nanoseconds wait = limiter_->WaitFor(*turn_, now);
  if (wait.count() <= 0) {
    turn_.reset();
    return FetchCredentials();
  }
  const std::uint64_t ticket = BeginWait();
  WakeAt(std::min(now + wait, call_.options.deadline.when()), ticket, [](Flight& self) {
    if (!self.call_.options.deadline.Passed(self.clock())) return self.AwaitTurn();
    self.Finish(
        Error::Make(ErrorKind::kTimeout,
                    "the deadline passed while the request waited for the rate limit: S3 throttled "
                    "this prefix, and all requests to it share one rate"));
  });
  FinishIfStopped(ticket);
}

void Flight::FetchCredentials() {
  const std::uint64_t ticket = BeginWait();
  Result<void> asked = Caught("the request for credentials", [&] {
    FetchSigningCredentials(
        state_, endpoint_, call_.request.bucket,
        [self = shared_from_this(), ticket](Result<CredentialsPtr> credentials) {
          if (!self->Claim(ticket)) return;
          self->Proceed([&] { self->OnCredentials(std::move(credentials)); });
        });
  });
  if (!asked.ok() && Claim(ticket)) return Finish(std::move(asked).error());
  if (waiting_.load(std::memory_order_acquire) != ticket) return;
  if (!call_.options.deadline.IsNever()) {
    WakeAt(call_.options.deadline.when(), ticket, [](Flight& self) {
      self.Finish(Error::Make(ErrorKind::kTimeout,
                              "the deadline passed while credentials were being fetched"));
    });
  }
  FinishIfStopped(ticket);
}

void Flight::OnCredentials(Result<CredentialsPtr> credentials) {
  if (!credentials.ok()) return Finish(std::move(credentials).error());
  CredentialsPtr fresh = std::move(credentials).value();
  if (expired_) {
    const bool changed = fresh != nullptr && credentials_ != nullptr &&
                         (fresh->access_key_id != credentials_->access_key_id ||
                          fresh->session_token != credentials_->session_token);
    if (!changed) return Finish(std::move(*std::exchange(expired_, nullptr)));
    expired_.reset();  // A later retry may find these unchanged.
  }
  credentials_ = std::move(fresh);
  Send();
}

http::RequestBody* Flight::Body() {
  if (source_) return &*source_;
  const bool says_length = info_.method == "PUT" || info_.method == "POST";
  return says_length ? &document_ : nullptr;
}

Result<void> Flight::Sign(http::Request& request) const {
  if (credentials_ == nullptr) return Ok();
  const std::string& document = call_.request.document;
  std::string hash(source_ ? auth::kUnsignedPayload : auth::kEmptyPayloadSha256);
  if (!document.empty()) hash = auth::PayloadSha256(AsBytes(document));
  return state_->process.SignerFor(ScopeOf(*endpoint_))
      .Sign(request, *credentials_, {.now = CorrectedNow(), .payload_hash = hash});
}

// The transport has a single idle timeout. If the speed floor's time is shorter, the error names
// the floor's setting.
void Flight::CorrectSetting(Error& error) const {
  const ClientConfig& config = state_->config.client;
  if (error.setting == "idle_timeout" && IdleTimeout(info_, config) != config.idle_timeout) {
    error.setting = "low_speed_bytes_per_second";
  }
}

// Converts the end of one attempt to a success or a classified error.
Result<void> Flight::Read(Result<http::Outcome> outcome) {
  Result<void> result = ReadUnlimited(std::move(outcome));
  if (!result.ok()) LimitTexts(result.error(), credentials_.get());
  return result;
}

// A server that answers before it has the whole body cannot have stored it, whatever its status
// says.
Result<void> Flight::CheckBodySent(int status, std::uint64_t sent_bytes) {
  const http::RequestBody* const sent = Body();
  if (sent == nullptr || sent_bytes >= sent->size()) return Ok();
  return Error::Make(ErrorKind::kUnavailable,
                     "the server answered " + std::to_string(status) + " after " +
                         std::to_string(sent_bytes) + " of " + std::to_string(sent->size()) +
                         " bytes of the request body were sent, so it cannot have stored them");
}

// Does not limit the length of server texts in the error.
Result<void> Flight::ReadUnlimited(Result<http::Outcome> outcome) {
  answered_early_ = false;
  const auto& head = body().head();
  const bool refused = head && !IsSuccess(info_, head->status);
  if (!outcome.ok()) {
    const ErrorKind kind = outcome.error().kind;
    // If the body of an error response is incomplete, it is still that error.
    if (refused && kind != ErrorKind::kCancelled && kind != ErrorKind::kTimeout) {
      return ReadErrorResponse(*head, body().TakeText());
    }
    Error error = std::move(outcome).error();
    CorrectSetting(error);
    if (head) {
      error.http_status = head->status;
      error.request_id = std::string(head->Find("x-amz-request-id").value_or(std::string_view{}));
      error.host_id = std::string(head->Find("x-amz-id-2").value_or(std::string_view{}));
    }
    return error;
  }
  const WireResponse response{std::move(outcome->head), body().TakeText()};
  if (!IsSuccess(info_, response.head.status))
    return ReadErrorResponse(response.head, response.body);
  Result<void> accepted = CheckBodySent(response.head.status, outcome->sent_bytes);
  answered_early_ = !accepted.ok();
  if (accepted.ok()) accepted = call_.accept(response);
  if (accepted.ok()) accepted = CheckConfirmedChecksum(call_.request.headers, response.head);
  if (!accepted.ok()) {
    Error& error = accepted.error();
    error.http_status = response.head.status;
    if (error.request_id.empty()) {
      error.request_id =
          std::string(response.head.Find("x-amz-request-id").value_or(std::string_view{}));
    }
  }
  return accepted;
}

AttemptEnd Flight::EndOf(const Result<http::Outcome>& outcome) const {
  AttemptEnd end{.operation = info_.operation,
                 .bucket = call_.request.bucket,
                 .key = call_.request.key,
                 .attempt = attempts_,
                 .started = selected_->started,
                 .duration = clock().Monotonic() - selected_->began,
                 .connections = body().connections()};
  if (outcome.ok()) {
    end.http_status = outcome->head.status;
    end.first_byte = outcome->first_byte;
    end.bytes_sent = outcome->sent_bytes;
    end.bytes_received = outcome->body_bytes;
  } else if (body().head()) {
    end.http_status = body().head()->status;
    end.bytes_received = body().body_bytes();
  }
  return end;
}

void Flight::Report(AttemptEnd end, const Result<void>& result) {
  if (!result.ok() && !StoppedBySink(result.error())) {
    const Error& error = result.error();
    end.error_code = error.code.empty() ? ErrorKindName(error.kind) : std::string_view(error.code);
    end.throttled = error.kind == ErrorKind::kThrottled;
  }
  state_->counters.OnAttempt(end);
  LogAttempt(end);
}

void Flight::RecordFirstByte(const http::Outcome& outcome) {
  if (call_.success_body == nullptr || !IsSuccess(info_, outcome.head.status)) return;
  // If the second request won, the first would have taken longer than this.
  state_->hedging.OnFirstByte(selected_->began - first_.began + outcome.first_byte);
}

void Flight::RecordOutcome(bool throttled) {
  if (!throttled && limiter_ == nullptr) return;
  const MonotonicTime now = clock().Monotonic();
  if (throttled) state_->hedging.OnThrottled(now);
  if (throttled && limiter_ == nullptr && PacesPrefixes())
    limiter_ = &state_->dependencies.rates().For(Scope());
  if (limiter_ != nullptr) limiter_->OnAnswer(throttled, first_.began, now);
}

void Flight::OnOutcome(Result<http::Outcome> outcome) {
  const AttemptEnd end = EndOf(outcome);
  if (outcome.ok()) RecordFirstByte(*outcome);
  Result<void> result = Read(std::move(outcome));
  Report(end, result);
  LearnRegion(result);
  const RetryDecision decision =
      result.ok() ? RetryDecision::kNo : DecideRetry(*state_->config.retry_rules, result.error());
  RecordOutcome(decision == RetryDecision::kThrottled);
  if (!result.ok()) return OnFailure(std::move(result).error(), decision);
  state_->quotas.For(endpoint_->endpoint.host).OnSuccess(tokens_taken_);
  Finish(Ok());
}

void Flight::RecordFailure(const Error& error) {
  constexpr std::size_t kLongest = 128;  // Server texts may be of any length.
  const std::string code = error.code.empty() ? std::string(ErrorKindName(error.kind)) : error.code;
  history_.push_back({selected_->started, clock().Monotonic() - selected_->began,
                      body().connections().address.ToString(), error.http_status,
                      code.substr(0, kLongest), error.request_id.substr(0, kLongest)});
}

bool Flight::CorrectClock(const Error& error) {
  if (clock_corrected_ || !body().head()) return false;
  const auto date = body().head()->Find("date");
  if (!date) return false;
  const auto skew = ClockSkew(error, info_.method, *date, clock().Now(), CorrectedNow());
  if (!skew) return false;
  clock_corrected_ = true;
  state_->clock_skew_seconds.store(skew->count(), std::memory_order_relaxed);
  Log({LogLevel::kWarning,
       "client.clock_skew",
       {{"seconds", LogValue::Number(std::to_string(skew->count()))}}});
  return true;
}

bool Flight::AwaitNewCredentials(const Error& error) {
  const bool of_session = RefusesSession(*endpoint_, info_, error);
  const bool stale = error.code == "ExpiredToken" || error.code == "InvalidToken" ||
                     error.code == "InvalidAccessKeyId";
  if ((!stale && !of_session) || credentials_renewed_) return false;
  of_session ? ForgetSession(*state_, call_.request.bucket, credentials_)
             : ForgetCredentials(*state_, credentials_);
  credentials_renewed_ = true;
  expired_ = std::make_unique<Error>(error);
  return true;
}

void Flight::NoteAmbiguity(Error& error) const {
  if (!may_have_happened_ || info_.retry_class == RetryClass::kRead) return;
  error.message +=
      " (an earlier attempt of this call got no clear answer and may have been carried out)";
}

// Returns whether a failed attempt may have been executed. S3 throttles before it executes a
// request, without a connection nothing was sent, and a request without its whole body has no
// effect. A 503 without a code may come from a proxy.
bool Flight::OutcomeUnknown(const Error& error) const {
  if (!body().connections().any() || answered_early_) return false;
  if (!body().head() || IsSuccess(info_, error.http_status)) return true;
  const bool throttled =
      error.kind == ErrorKind::kThrottled && error.code != std::to_string(error.http_status);
  return error.http_status >= 500 && !throttled;
}

void Flight::OnFailure(Error error, RetryDecision decision) {
  if (attempts_ > 1 || decision != RetryDecision::kNo) RecordFailure(error);
  const bool already_done = info_.retry_class == RetryClass::kAlreadyDoneIsSuccess &&
                            may_have_happened_ && error.code == info_.already_done_code;
  if (already_done) return Finish(Ok());
  if (body().refused_by_caller() || error.kind == ErrorKind::kCancelled)
    return Finish(std::move(error));
  if (IsNotFromS3(error)) {
    error.message +=
        " (the response came from " + endpoint_->authority + ", which may not be an S3 endpoint)";
    // A proxy's error page may be temporary: retry once.
    if (!std::exchange(retried_non_s3_, true)) decision = RetryDecision::kTransient;
  }
  // These corrections retry immediately, each at most once per call.
  if (FollowRedirect(error) || CorrectClock(error) || AwaitNewCredentials(error)) {
    if (history_.empty()) RecordFailure(error);
    return Attempt();
  }
  if (body().head()) ExplainRedirect(info_, *body().head(), *endpoint_, redirected_, error);
  ExplainRegionOfNewBucket(info_, *endpoint_, error);
  const bool late = call_.options.deadline.Passed(clock());
  if (decision == RetryDecision::kNo || late || attempts_ >= state_->config.max_attempts) {
    return Finish(std::move(error));
  }
  const int cost = state_->config.retry_rules->Cost(decision);
  if (!state_->quotas.For(endpoint_->endpoint.host).Take(cost)) {
    error.message += " (not retried: recent retries have used up the retry quota for this host)";
    return Finish(std::move(error));
  }
  tokens_taken_ = cost;
  WaitAndRetry(decision, std::move(error));
}

void Flight::WaitAndRetry(RetryDecision decision, Error error) {
  const double random = ToUnitInterval(state_->dependencies.random());
  const auto delay =
      BackOff(*state_->config.retry_rules, decision, attempts_, random, error.retry_after);
  const MonotonicTime when = clock().Monotonic() + delay;
  if (!call_.options.deadline.IsNever() && when >= call_.options.deadline.when()) {
    error.kind = ErrorKind::kTimeout;
    error.message =
        "the deadline leaves no time for another attempt; the last one failed: " + error.message;
    return Finish(std::move(error));
  }
  if (OutcomeUnknown(error)) may_have_happened_ = true;
  state_->counters.OnRetry();
  LogRetry(info_, call_.request.bucket, call_.request.key, attempts_, decision, delay, error);
  const std::uint64_t ticket = BeginWait();
  WakeAt(when, ticket, [](Flight& self) { self.Attempt(); });
  FinishIfStopped(ticket);
}

void Flight::Finish(Result<void> result) {
  if (turn_) limiter_->Leave(*std::exchange(turn_, std::nullopt), clock().Monotonic());
  if (!result.ok()) {
    Error& error = result.error();
    if (history_.size() > 1) error.history = std::move(history_);
    error.At(info_.name, call_.request.bucket, call_.request.key);
    error.attempts = std::max(error.attempts, attempts_);  // Larger: of a failed CreateSession.
    NoteAmbiguity(error);
    if (!StoppedBySink(error)) {
      state_->counters.OnFailure();
      LogFailure(error);
    }
  }
  Complete(std::move(result));
}

void Flight::Complete(Result<void> result) {
  const auto done = std::exchange(call_.done, nullptr);
  Contain("the callback of a call", [&] { done(std::move(result)); });
}

namespace {

BuildContext MakeBuildContext(const ResolvedConfig& config) {
  return {config.client.region, config.client.requester_pays, config.upload_checksums,
          config.verify_downloads};
}

}  // namespace

ClientDependencies ClientDependencies::PerProcess() {
  return {[] { return http::SharedTransport(); }, &SystemClock(), MakeRandomBits(),
          auth::Environment::PerProcess()};
}

ClientState::ClientState(ResolvedConfig resolved, ClientDependencies outside)
    : config(std::move(resolved)),
      dependencies(std::move(outside)),
      build_context(MakeBuildContext(config)),
      user_agent(MakeUserAgent(config.client.user_agent)),
      process(ProviderMakerOf(config, dependencies), *dependencies.clock) {}

void Dispatch(std::shared_ptr<ClientState> state, PreparedCall call) {
  if (const auto limit = state->config.client.operation_timeout; limit.count() != 0) {
    call.options.deadline =
        call.options.deadline.Min(Deadline::After(*state->dependencies.clock, limit));
  }
  std::make_shared<Flight>(std::move(state), std::move(call))->Start();
}

}  // namespace penstock::s3
