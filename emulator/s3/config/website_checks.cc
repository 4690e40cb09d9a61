// Checks the rules of a website configuration.
#include <string>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kMaxRoutingRules = 50;

Result<void> CheckProtocol(const Element& element) {
  const Element* protocol = element.Find("Protocol");
  if (protocol == nullptr || protocol->text == "http" || protocol->text == "https") return Ok();
  return InvalidRequest(
      "Invalid protocol, protocol can be http or https. If not defined the protocol will be "
      "selected automatically.");
}

Result<void> CheckCondition(const Element& condition) {
  if (condition.children.empty()) {
    return InvalidRequest(
        "Condition cannot be empty. To redirect all requests without a condition, the condition "
        "element shouldn't be "
        "present.");
  }
  const Element* error = condition.Find("HttpErrorCodeReturnedEquals");
  if (error == nullptr) return Ok();
  const auto code = ParseDecimal(error->text, 599);
  if (code && *code >= 400) return Ok();
  return InvalidRequest("The provided HTTP error code (" + error->text +
                        ") is not valid. Valid codes are 4XX or 5XX.");
}

Result<void> CheckRoutingRule(const Element& rule) {
  if (const Element* condition = rule.Find("Condition")) PENSTOCK_TRY(CheckCondition(*condition));
  const Element& redirect = *rule.Find("Redirect");
  if (redirect.children.empty()) return MalformedXml();
  PENSTOCK_TRY(CheckProtocol(redirect));
  if (redirect.Has("ReplaceKeyPrefixWith") && redirect.Has("ReplaceKeyWith")) {
    return InvalidRequest("You can only define ReplaceKeyPrefix or ReplaceKey but not both.");
  }
  const Element* code = redirect.Find("HttpRedirectCode");
  if (code == nullptr) return Ok();
  const auto number = ParseDecimal(code->text, 399);
  if (number && *number > 300) return Ok();
  return InvalidRequest("The provided HTTP redirect code (" + code->text +
                        ") is not valid. Valid codes are 3XX except 300.");
}

Result<void> CheckIndexDocument(const Element& document) {
  const Element* index = document.Find("IndexDocument");
  if (index == nullptr) {
    return InvalidArgument(
        "A value for IndexDocument Suffix must be provided if RedirectAllRequestsTo is empty",
        "IndexDocument", "null");
  }
  const std::string_view suffix = index->TextOf("Suffix");
  if (!suffix.empty() && suffix.find('/') == std::string_view::npos) return Ok();
  return InvalidArgument("The IndexDocument Suffix is not well formed", "IndexDocument", suffix);
}

}  // namespace

Result<void> CheckWebsite(const CheckContext&, Element& document) {
  if (const Element* redirect = document.Find("RedirectAllRequestsTo")) {
    if (document.children.size() > 1) {
      return InvalidArgument(
          "RedirectAllRequestsTo cannot be provided in conjunction with other Routing Rules.",
          "RedirectAllRequestsTo", "not null");
    }
    return CheckProtocol(*redirect);
  }
  PENSTOCK_TRY(CheckIndexDocument(document));
  if (const Element* error = document.Find("ErrorDocument");
      error != nullptr && error->TextOf("Key").empty()) {
    return InvalidArgument("The ErrorDocument Key is not well formed", "ErrorDocument", "");
  }
  const Element* rules = document.Find("RoutingRules");
  if (rules == nullptr) return Ok();
  if (rules->children.size() > kMaxRoutingRules) {
    return InvalidRequest(std::to_string(rules->children.size()) +
                          " routing rules provided, the number of routing rules in a website "
                          "configuration is limited "
                          "to 50.");
  }
  for (const Element& rule : rules->children) PENSTOCK_TRY(CheckRoutingRule(rule));
  return Ok();
}

}  // namespace penstock::emulator::s3
