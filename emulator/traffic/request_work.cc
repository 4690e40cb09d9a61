#include "emulator/traffic/request_work.h"

#include <optional>

#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::traffic {

Work WorkOf(const s3::Exchange& exchange) {
  switch (s3::TraitsOf(exchange).access) {
    case s3::Access::kList: return Work::kList;
    case s3::Access::kWrite: return Work::kWrite;
    case s3::Access::kRead: break;
  }
  return exchange.request.method == "HEAD" ? Work::kHead : Work::kGet;
}

std::string_view KeyAsked(const s3::Exchange& exchange) {
  const s3::Target& target = exchange.target;
  if (!target.key.value.empty() || target.bucket.value.empty() ||
      !exchange.operation.starts_with("List"))
    return target.key.value;
  return target.Get("prefix").value_or(std::string_view());
}

std::string RequestIdentity(const s3::Exchange& exchange) {
  const auto number = exchange.target.Get("partNumber");
  const auto parsed = number ? s3::ParseDecimal(*number) : std::nullopt;
  const std::string part = parsed ? std::to_string(*parsed) : std::string();
  std::string identity(exchange.operation.empty() ? exchange.request.method
                                                  : std::string_view(exchange.operation));
  const std::string_view range = exchange.request.Find("range").value_or(std::string_view());
  for (const std::string_view piece : {std::string_view(exchange.target.bucket.value),
                                       KeyAsked(exchange), std::string_view(part), range}) {
    identity += '\0';
    identity += piece;
  }
  return identity;
}

}  // namespace penstock::emulator::traffic
