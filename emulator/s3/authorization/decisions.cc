#include "emulator/s3/authorization/decisions.h"

#include <algorithm>
#include <utility>

#include "base/text/json_text.h"
#include "base/text/redact.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::s3 {
namespace {

// A journal entry keeps 8 KiB of text.
constexpr std::size_t kMaxText = 512;

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  json += json.size() > 1 ? ",\"" : "\"";
  json.append(name).append("\":");
  internal::AppendJsonString(json, value.substr(0, kMaxText));
}

// The bucket's name in "arn:aws:s3:::name/key" and "arn:aws:s3express:region:account:bucket/name".
std::string_view BucketOf(std::string_view arn) {
  constexpr std::string_view kType = "bucket/";
  std::string_view name = ResourceOfBucketArn(arn);
  if (name.empty()) {
    name = arn.substr(arn.rfind(':') + 1);
    if (name.starts_with(kType)) name.remove_prefix(kType.size());
  }
  return name.substr(0, name.find('/'));
}

}  // namespace

std::string DecisionJson(const ActionDecision& decided) {
  const policy::Decision& decision = decided.decision;
  std::string json = "{";
  AddMember(json, "action", decided.action);
  // The journal keeps no secret, also not one in the key of an object.
  const bool may_be_secret = decided.resource.find_first_of("=@") != std::string::npos;
  AddMember(json, "resource", may_be_secret ? Redact(decided.resource) : decided.resource);
  json.append(",\"allowed\":").append(decision.allowed ? "true" : "false");
  AddMember(json, "decided_by", policy::NameOf(decision.source));
  if (decision.statement == nullptr) {
    if (!decision.allowed)
      AddMember(json, "reason", policy::DenialReason(decision, decided.action));
    return json + "}";
  }
  const bool by_bucket = decision.source == policy::Source::kResourcePolicy;
  AddMember(json, "effect",
            decision.statement->effect == policy::Effect::kAllow ? "Allow" : "Deny");
  AddMember(json, "policy",
            by_bucket ? "bucket/" + std::string(BucketOf(decided.resource))
                      : std::string(decision.policy));
  json.append(",\"statement\":").append(std::to_string(decision.statement_index));
  if (!decision.statement->sid.empty()) AddMember(json, "sid", decision.statement->sid);
  return json + "}";
}

void Decisions::Add(Exchange& exchange, ActionDecision decided) {
  Decisions* found = exchange.Find<Decisions>();
  if (found == nullptr) found = &exchange.Attach<Decisions>();
  std::vector<ActionDecision>& items = found->items_;
  if (items.size() < kMost) {
    items.push_back(std::move(decided));
  } else if (!decided.decision.allowed) {
    const auto last_allowed =
        std::find_if(items.rbegin(), items.rend(),
                     [](const ActionDecision& item) { return item.decision.allowed; });
    if (last_allowed != items.rend()) *last_allowed = std::move(decided);
  }
}

void Decisions::Move(Exchange& from, Exchange& to) {
  Decisions* const found = from.Find<Decisions>();
  if (found == nullptr) return;
  for (ActionDecision& item : found->items_) Add(to, std::move(item));
  found->items_.clear();
}

std::string Decisions::Of(const Exchange& exchange) {
  const Decisions* const found = exchange.Find<Decisions>();
  if (found == nullptr || found->items_.empty()) return {};
  std::string json;
  for (const ActionDecision& item : found->items_)
    json.append(json.empty() ? "[" : ",").append(DecisionJson(item));
  return json + "]";
}

}  // namespace penstock::emulator::s3
