#include "client/s3/call/call_record.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/log/caught.h"
#include "client/s3/metrics/call_log.h"
#include "client/s3/verbs/error_document.h"

namespace penstock::s3 {
namespace {

// S3 throttles before it executes a request, and without a connection nothing was sent. A 503
// without a code may come from a proxy.
bool OutcomeUnknown(const OperationInfo& info, const AttemptBody& body, const Error& error) {
  if (!body.connections().any() || body.responded_early()) return false;
  if (!body.head() || IsSuccess(info, error.http_status)) return true;
  const bool throttled =
      error.kind == ErrorKind::kThrottled && error.code != std::to_string(error.http_status);
  return error.http_status >= 500 && !throttled;
}

}  // namespace

AttemptEnd CallRecord::EndOf(const SentRequest& sent, const Result<http::Outcome>& outcome) const {
  AttemptEnd end{.operation = info_.operation,
                 .bucket = request_.bucket,
                 .key = request_.key,
                 .attempt = attempts_,
                 .started = sent.started,
                 .duration = clock_.Monotonic() - sent.began,
                 .connections = sent.body.connections()};
  if (outcome.ok()) {
    end.http_status = outcome->head.status;
    end.first_byte = outcome->first_byte;
    end.bytes_sent = outcome->sent_bytes;
    end.bytes_received = outcome->body_bytes;
  } else if (sent.body.head()) {
    end.http_status = sent.body.head()->status;
    end.bytes_received = sent.body.body_bytes();
  }
  return end;
}

void CallRecord::OnEnd(AttemptEnd end, const SentRequest& sent, const RequestSecrets& secrets,
                       const Error* failure) {
  Error texts;  // Of the server.
  if (counters_.observed() && sent.body.head()) {
    Contain("the request id of an event", [&] {
      texts.request_id = sent.body.head()->Find("x-amz-request-id").value_or("");
      LimitTexts(texts, secrets);
      end.request_id = texts.request_id;
    });
  }
  if (failure != nullptr) {
    end.error_code =
        failure->code.empty() ? ErrorKindName(failure->kind) : std::string_view(failure->code);
    end.throttled = failure->kind == ErrorKind::kThrottled;
  }
  counters_.OnAttempt(end);
  LogAttempt(end);
}

void CallRecord::AddFailure(const SentRequest& sent, const Error& error) {
  constexpr std::size_t kLongest = 128;  // Server texts may be of any length.
  const std::string code = error.code.empty() ? std::string(ErrorKindName(error.kind)) : error.code;
  failures_.push_back({sent.started, clock_.Monotonic() - sent.began,
                       sent.body.connections().address.ToString(), error.http_status,
                       code.substr(0, kLongest), error.request_id.substr(0, kLongest)});
}

void CallRecord::OnRetry(const SentRequest& sent, const Error& error) {
  if (OutcomeUnknown(info_, sent.body, error)) may_have_happened_ = true;
}

void CallRecord::Complete(Error& error) {
  if (failures_.size() > 1) error.history = std::move(failures_);
  error.At(request_.operation_name.empty() ? info_.name : request_.operation_name, request_.bucket,
           request_.key);
  error.attempts = std::max(error.attempts, attempts_);  // Larger: of a failed CreateSession.
  if (may_have_happened_ && !info_.reads()) {
    error.message += kUnclearAttemptNote;
  }
}

}  // namespace penstock::s3
