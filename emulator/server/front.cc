#include "emulator/server/front.h"

#include <optional>
#include <string>
#include <utility>

#include "emulator/auth/query_request.h"
#include "emulator/auth/signature/session_token.h"
#include "emulator/identity/sts/sts_errors.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/request_claims.h"
#include "emulator/s3/dispatch/operations.h"
#include "emulator/s3/protocol/directory_session.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/server/admin/admin.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kSessionTokenQuery = "X-Amz-S3session-Token";

// Returns the owner of the session token that the request claims, without verification.
std::optional<std::string> ClaimedSessionOwner(const s3::Exchange& exchange) {
  auto token = exchange.request.Find(s3::kSessionTokenHeader);
  if (!token) token = exchange.target.Get(kSessionTokenQuery);
  if (!token) return std::nullopt;
  auto claim = auth::ReadSessionToken(*token);
  if (!claim) return std::nullopt;
  return std::move(claim->parent);
}

class Front final : public s3::Filter {
 public:
  Front(FrontOptions options, const auth::Directory& directory, Counters& counters)
      : options_(std::move(options)), directory_(directory), counters_(counters) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    if (options_.aliases != nullptr &&
        IsAdminAlias(exchange.request.method, exchange.request.target)) {
      options_.aliases->Handle(exchange);
      return s3::FilterStatus::kResponded;
    }
    Result<void> found = Resolve(exchange);
    if (found.ok() && auth::IsStsRequest(exchange)) found = auth::ReadQueryRequest(exchange);
    if (found.ok()) return s3::FilterStatus::kContinue;
    s3::RespondWithError(exchange, found.error());
    return s3::FilterStatus::kResponded;
  }

  // Counted before the response is sent: a client that has it finds it counted. Requests to the
  // admin API have no namespace.
  void OnResponse(s3::Exchange& exchange) override {
    if (exchange.Find<auth::QueryRequest>() != nullptr) identity::TranslateError(exchange);
    if (!exchange.space) return;
    counters_.CountRequest(exchange.operation, exchange.response.status);
    const auto attempt = exchange.request.Find("amz-sdk-request");
    if (attempt && s3::ClaimedAttempt(*attempt).value_or(1) > 1) counters_.CountRetry();
  }

 private:
  Result<void> Resolve(s3::Exchange& exchange) const {
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    auto target = s3::ParseTarget(exchange.request.target, host, options_.hosts);
    if (target.ok()) {
      exchange.target = std::move(target).value();
      s3::SetOperation(exchange);
    }
    exchange.space = ClaimedNamespace(exchange);
    if (!exchange.space) {
      exchange.space = directory_.NamespaceOf(nullptr);
      return s3::MakeError("ServiceUnavailable");
    }
    if (!target.ok()) return std::move(target).error();
    return Ok();
  }

  std::shared_ptr<s3::Namespace> ClaimedNamespace(s3::Exchange& exchange) const {
    if (!options_.by_claim) return directory_.NamespaceOf(nullptr);
    const std::optional<std::string> owner = ClaimedSessionOwner(exchange);
    const std::string_view key =
        owner ? std::string_view(*owner) : s3::ClaimedAccessKey(exchange.request, exchange.target);
    return directory_.NamespaceOf(
        key.empty() ? nullptr : auth::FindUserOnce(directory_, exchange, key).get());
  }

  const FrontOptions options_;
  const auth::Directory& directory_;
  Counters& counters_;
};

}  // namespace

std::unique_ptr<s3::Filter> MakeFront(FrontOptions options, const auth::Directory& directory,
                                      Counters& counters) {
  return std::make_unique<Front>(std::move(options), directory, counters);
}

}  // namespace penstock::emulator::server
