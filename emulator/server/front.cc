#include "emulator/server/front.h"

#include <optional>
#include <string>
#include <utility>

#include "emulator/auth/signature/session_token.h"
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

class Front final : public s3::Handler {
 public:
  Front(FrontOptions options, const auth::Directory& directory, Counters& counters,
        s3::Handler& next)
      : options_(std::move(options)), directory_(directory), counters_(counters), next_(next) {}

  void Handle(s3::Exchange& exchange) override {
    if (options_.aliases != nullptr &&
        IsAdminAlias(exchange.request.method, exchange.request.target)) {
      return options_.aliases->Handle(exchange);
    }
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    if (auto target = s3::ParseTarget(exchange.request.target, host, options_.hosts); target.ok()) {
      exchange.target = std::move(target).value();
      s3::SetOperation(exchange);
    }
    exchange.space = ClaimedNamespace(exchange);
    if (exchange.space) {
      next_.Handle(exchange);
    } else {
      exchange.space = directory_.NamespaceOf(nullptr);
      s3::RespondWithError(exchange, s3::MakeError("ServiceUnavailable"));
    }
    // Counted before the response is sent: a client that has it finds it counted.
    exchange.WhenAnswered([this](const s3::Exchange& answered) {
      counters_.CountRequest(answered.operation, answered.response.status);
    });
  }

 private:
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
  s3::Handler& next_;
};

}  // namespace

std::unique_ptr<s3::Handler> MakeFront(FrontOptions options, const auth::Directory& directory,
                                       Counters& counters, s3::Handler& next) {
  return std::make_unique<Front>(std::move(options), directory, counters, next);
}

}  // namespace penstock::emulator::server
