#include "emulator/server/front.h"

#include <utility>

#include "emulator/api/router.h"
#include "emulator/server/admin.h"

namespace penstock::emulator::server {
namespace {

class Front final : public api::Handler {
 public:
  Front(api::HostRules hosts, const auth::Directory& directory, Counters& counters, api::Handler* aliases,
        api::Handler& next)
      : hosts_(std::move(hosts)), directory_(directory), counters_(counters), aliases_(aliases), next_(next) {}

  void Handle(api::Exchange& exchange) override {
    if (aliases_ != nullptr && IsAdminAlias(exchange.request.method, exchange.request.target)) return aliases_->Handle(exchange);
    exchange.space = directory_.NamespaceOf(nullptr);
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    if (auto target = api::ParseTarget(exchange.request.target, host, hosts_); target.ok()) {
      exchange.target = std::move(target).value();
      exchange.operation = api::OperationName(exchange.request, exchange.target);
    }
    next_.Handle(exchange);
    // Before the answer leaves: whoever has it finds it counted.
    exchange.WhenAnswered(
        [this](const api::Exchange& answered) { counters_.CountRequest(answered.operation, answered.response.status); });
  }

 private:
  const api::HostRules hosts_;
  const auth::Directory& directory_;
  Counters& counters_;
  api::Handler* const aliases_;
  api::Handler& next_;
};

}  // namespace

std::unique_ptr<api::Handler> MakeFront(api::HostRules hosts, const auth::Directory& directory, Counters& counters,
                                        api::Handler* aliases, api::Handler& next) {
  return std::make_unique<Front>(std::move(hosts), directory, counters, aliases, next);
}

}  // namespace penstock::emulator::server
