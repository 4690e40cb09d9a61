// The parsed notification configuration of a bucket: which events go to which destinations.
#ifndef PENSTOCK_EMULATOR_EVENTS_NOTIFICATION_RULES_H_
#define PENSTOCK_EMULATOR_EVENTS_NOTIFICATION_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/store/store.h"

namespace penstock::emulator::events {

// The sub-resource under which S3 keeps the configuration.
inline constexpr std::string_view kNotificationKey = "notification";

// Immutable. Cached in the bucket's record.
class NotificationRules final : public store::CachedValue::Value {
 public:
  struct Rule {
    std::string id;
    std::string destination;          // the ARN of a topic, a queue or a function
    std::vector<std::string> events;  // "ObjectCreated:Put", "ObjectCreated:*"
    std::string prefix;
    std::string suffix;
  };

  // `document` was checked when it was stored.
  explicit NotificationRules(std::string_view document);
  // Null: the bucket has neither rules nor EventBridge.
  static const NotificationRules* Of(const store::BucketRecord& bucket);

  const std::vector<Rule>& rules() const { return rules_; }
  // Whether all events go to EventBridge.
  bool event_bridge() const { return event_bridge_; }
  // The rules that select the event "ObjectCreated:Put" for the key.
  std::vector<const Rule*> Matching(std::string_view event, std::string_view key) const;

 private:
  std::vector<Rule> rules_;
  bool event_bridge_ = false;
};

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_NOTIFICATION_RULES_H_
