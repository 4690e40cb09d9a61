#include "emulator/server/front.h"

#include <optional>
#include <string>
#include <utility>

#include "emulator/api/claimed_key.h"
#include "emulator/api/directory_session.h"
#include "emulator/api/errors.h"
#include "emulator/api/router.h"
#include "emulator/auth/session_token.h"
#include "emulator/server/admin.h"

namespace penstock::emulator::server {
namespace {

constexpr std::string_view kSessionTokenQuery = "X-Amz-S3session-Token";

// Whose session the request says it was signed with; nothing is verified.
std::optional<std::string> ClaimedSessionOwner(const api::Exchange& exchange) {
  auto token = exchange.request.Find(api::kSessionTokenHeader);
  if (!token) token = exchange.target.Get(kSessionTokenQuery);
  if (!token) return std::nullopt;
  auto claim = auth::ReadSessionToken(*token);
  if (!claim) return std::nullopt;
  return std::move(claim->parent);
}

class Front final : public api::Handler {
 public:
  Front(FrontOptions options, const auth::Directory& directory, Counters& counters, api::Handler& next)
      : options_(std::move(options)), directory_(directory), counters_(counters), next_(next) {}

  void Handle(api::Exchange& exchange) override {
    if (options_.aliases != nullptr && IsAdminAlias(exchange.request.method, exchange.request.target)) {
      return options_.aliases->Handle(exchange);
    }
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    if (auto target = api::ParseTarget(exchange.request.target, host, options_.hosts); target.ok()) {
      exchange.target = std::move(target).value();
      exchange.operation = api::OperationName(exchange.request, exchange.target);
    }
    exchange.space = ClaimedNamespace(exchange);
    if (exchange.space) {
      next_.Handle(exchange);
    } else {
      exchange.space = directory_.NamespaceOf(nullptr);
      api::RespondWithError(exchange, api::MakeError("ServiceUnavailable"));
    }
    // Before the answer leaves: whoever has it finds it counted.
    exchange.WhenAnswered(
        [this](const api::Exchange& answered) { counters_.CountRequest(answered.operation, answered.response.status); });
  }

 private:
  std::shared_ptr<api::Namespace> ClaimedNamespace(const api::Exchange& exchange) const {
    if (!options_.by_claim) return directory_.NamespaceOf(nullptr);
    const std::optional<std::string> owner = ClaimedSessionOwner(exchange);
    const std::string_view key = owner ? std::string_view(*owner) : api::ClaimedAccessKey(exchange.request, exchange.target);
    return directory_.NamespaceOf(key.empty() ? nullptr : directory_.FindUser(key).get());
  }

  const FrontOptions options_;
  const auth::Directory& directory_;
  Counters& counters_;
  api::Handler& next_;
};

}  // namespace

std::unique_ptr<api::Handler> MakeFront(FrontOptions options, const auth::Directory& directory, Counters& counters, api::Handler& next) {
  return std::make_unique<Front>(std::move(options), directory, counters, next);
}

}  // namespace penstock::emulator::server
