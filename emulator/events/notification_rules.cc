#include "emulator/events/notification_rules.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emulator/s3/core/call.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::events {
namespace {

constexpr std::string_view kServicePrefix = "s3:";

using Rule = NotificationRules::Rule;

Rule ReadRule(const s3::Element& configuration, std::string_view destination) {
  Rule rule{std::string(configuration.TextOf("Id")),
            std::string(configuration.TextOf(destination)),
            {},
            {},
            {}};
  for (const s3::Element* event : configuration.All("Event"))
    rule.events.push_back(event->text.substr(kServicePrefix.size()));
  const s3::Element* filter = configuration.Find("Filter");
  const s3::Element* key = filter != nullptr ? filter->Find("S3Key") : nullptr;
  if (key == nullptr) return rule;
  for (const s3::Element& part : key->children)
    (part.TextOf("Name") == "Prefix" ? rule.prefix : rule.suffix) = part.TextOf("Value");
  return rule;
}

bool Selects(const Rule& rule, std::string_view event, std::string_view key) {
  if (!key.starts_with(rule.prefix) || !key.ends_with(rule.suffix)) return false;
  return std::any_of(rule.events.begin(), rule.events.end(), [event](std::string_view pattern) {
    if (!pattern.ends_with('*')) return event == pattern;
    return event.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

}  // namespace

NotificationRules::NotificationRules(std::string_view document) {
  const auto configuration = s3::ReadBySchema(document, s3::kNotificationSchema);
  if (!configuration.ok()) return;
  for (const s3::Element& element : configuration->children) {
    if (element.name == "EventBridgeConfiguration") event_bridge_ = true;
    if (element.name == "TopicConfiguration") rules_.push_back(ReadRule(element, "Topic"));
    if (element.name == "QueueConfiguration") rules_.push_back(ReadRule(element, "Queue"));
    if (element.name == "CloudFunctionConfiguration")
      rules_.push_back(ReadRule(element, "CloudFunction"));
  }
}

const NotificationRules* NotificationRules::Of(const store::BucketRecord& bucket) {
  const std::string* document = s3::FindConfiguration(bucket, kNotificationKey);
  if (document == nullptr) return nullptr;
  const auto& parsed = bucket.notifications.Get<NotificationRules>(
      [&] { return std::make_unique<const NotificationRules>(*document); });
  return parsed.rules().empty() && !parsed.event_bridge() ? nullptr : &parsed;
}

std::vector<const Rule*> NotificationRules::Matching(std::string_view event,
                                                     std::string_view key) const {
  std::vector<const Rule*> matching;
  for (const Rule& rule : rules_) {
    if (Selects(rule, event, key)) matching.push_back(&rule);
  }
  return matching;
}

}  // namespace penstock::emulator::events
