#include "emulator/s3/authorization/decisions.h"

#include <algorithm>
#include <utility>

#include "base/text/json_text.h"
#include "base/text/utf8.h"

namespace penstock::emulator::s3 {
namespace {

// A journal entry keeps 8 KiB of text.
constexpr std::size_t kMaxText = 512;

void AddMember(std::string& json, std::string_view name, std::string_view value) {
  json += json.size() > 1 ? ",\"" : "\"";
  json.append(name).append("\":");
  internal::AppendJsonString(json, value.substr(0, kMaxText));
}

}  // namespace

std::string DecisionJson(std::string_view action, std::string_view resource,
                         const policy::Decision& decision, std::string_view bucket_name) {
  std::string json = "{";
  AddMember(json, "action", action);
  AddMember(json, "resource", resource);
  json.append(",\"allowed\":").append(decision.allowed ? "true" : "false");
  AddMember(json, "decided_by", policy::NameOf(decision.source));
  const bool by_bucket = decision.source == policy::Source::kResourcePolicy;
  if (decision.statement == nullptr) {
    if (!decision.allowed) AddMember(json, "reason", policy::DenialReason(decision, action));
    return json + "}";
  }
  AddMember(json, "effect",
            decision.statement->effect == policy::Effect::kAllow ? "Allow" : "Deny");
  AddMember(json, "policy",
            by_bucket ? "bucket/" + std::string(bucket_name) : std::string(decision.policy));
  json.append(",\"statement\":").append(std::to_string(decision.statement_index));
  if (!decision.statement->sid.empty()) AddMember(json, "sid", decision.statement->sid);
  return json + "}";
}

void Decisions::Add(Exchange& exchange, bool allowed, std::string json) {
  Decisions* found = exchange.Find<Decisions>();
  if (found == nullptr) found = &exchange.Attach<Decisions>();
  std::vector<Item>& items = found->items_;
  if (items.size() < kMost) {
    items.push_back({allowed, std::move(json)});
  } else if (!allowed) {
    const auto last_allowed =
        std::find_if(items.rbegin(), items.rend(), [](const Item& item) { return item.allowed; });
    if (last_allowed != items.rend()) *last_allowed = {allowed, std::move(json)};
  }
}

void Decisions::Move(Exchange& from, Exchange& to) {
  Decisions* const found = from.Find<Decisions>();
  if (found == nullptr) return;
  for (Item& item : found->items_) Add(to, item.allowed, std::move(item.json));
  found->items_.clear();
}

std::string Decisions::Of(const Exchange& exchange) {
  const Decisions* const found = exchange.Find<Decisions>();
  if (found == nullptr || found->items_.empty()) return {};
  std::string json;
  for (const Item& item : found->items_) json.append(json.empty() ? "[" : ",").append(item.json);
  return json + "]";
}

}  // namespace penstock::emulator::s3
