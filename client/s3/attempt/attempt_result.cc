#include "client/s3/attempt/attempt_result.h"

#include <string>
#include <string_view>
#include <utility>

#include "client/http/connect/environment_proxy.h"
#include "client/s3/attempt/time_limits.h"
#include "client/s3/verbs/body_checksum.h"
#include "client/s3/verbs/error_document.h"

namespace penstock::s3 {
namespace {

std::string HeaderText(const http::ResponseHead& head, std::string_view name) {
  return std::string(head.Find(name).value_or(std::string_view{}));
}

// The transport has a single idle timeout. If the speed floor's time is shorter, the error names
// the floor's setting.
void CorrectSetting(const AttemptRequestInfo& sent, Error& error) {
  if (error.setting == "idle_timeout" &&
      IdleTimeout(sent.info, sent.config) != sent.config.idle_timeout) {
    error.setting = "low_speed_bytes_per_second";
  }
}

Error ReadFailure(const AttemptRequestInfo& sent, AttemptBody& received, Error error) {
  const auto& head = received.head();
  // If the body of an error response is incomplete, it is still that error.
  if (head && !IsSuccess(sent.info, head->status) && error.kind != ErrorKind::kCancelled &&
      error.kind != ErrorKind::kTimeout && error.kind != ErrorKind::kUnauthenticated) {
    return ReadErrorResponse(*head, received.TakeText());
  }
  CorrectSetting(sent, error);
  if (head) {
    error.http_status = head->status;
    error.request_id = HeaderText(*head, "x-amz-request-id");
    error.host_id = HeaderText(*head, "x-amz-id-2");
  }
  return error;
}

// A server that responds before it has the whole body cannot have stored it, whatever its status
// says.
Result<void> CheckBodySent(const http::RequestBody* body, int status, std::uint64_t sent_bytes) {
  if (body == nullptr || sent_bytes >= body->size()) return Ok();
  return Error::Make(ErrorKind::kUnavailable,
                     "the server answered " + std::to_string(status) + " after " +
                         std::to_string(sent_bytes) + " of " + std::to_string(body->size()) +
                         " bytes of the request body were sent, so it cannot have stored them");
}

Result<void> ReadResponse(const AttemptRequestInfo& sent, AttemptBody& received,
                          http::Outcome outcome,
                          const std::function<Result<void>(const WireResponse&)>& accept) {
  const WireResponse response{std::move(outcome.head), received.TakeText(), sent.secrets,
                              sent.after_unclear_attempt};
  if (!IsSuccess(sent.info, response.head.status))
    return ReadErrorResponse(response.head, response.body);
  Result<void> accepted = CheckBodySent(sent.body, response.head.status, outcome.sent_bytes);
  if (!accepted.ok()) received.set_responded_early();
  if (accepted.ok()) accepted = accept(response);
  if (accepted.ok()) accepted = CheckConfirmedChecksum(sent.wire.headers, response.head);
  if (!accepted.ok()) {
    Error& error = accepted.error();
    error.http_status = response.head.status;
    if (error.request_id.empty()) error.request_id = HeaderText(response.head, "x-amz-request-id");
  }
  return accepted;
}

}  // namespace

Result<void> ReadAttempt(const AttemptRequestInfo& sent, AttemptBody& received,
                         Result<http::Outcome> outcome,
                         const std::function<Result<void>(const WireResponse&)>& accept) {
  Result<void> read = outcome.ok()
                          ? ReadResponse(sent, received, std::move(outcome).value(), accept)
                          : ReadFailure(sent, received, std::move(outcome).error());
  if (read.ok()) return read;
  if (sent.config.proxy) http::ProxySecrets(sent.config.proxy->url).Redact(read.error().message);
  LimitTexts(read.error(), sent.secrets);
  return read;
}

}  // namespace penstock::s3
