// Checks the rules of a notification configuration.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/config/configuration_checks.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kEvents[] = {"s3:ReducedRedundancyLostObject",
                                        "s3:ObjectCreated:*",
                                        "s3:ObjectCreated:Put",
                                        "s3:ObjectCreated:Post",
                                        "s3:ObjectCreated:Copy",
                                        "s3:ObjectCreated:CompleteMultipartUpload",
                                        "s3:ObjectRemoved:*",
                                        "s3:ObjectRemoved:Delete",
                                        "s3:ObjectRemoved:DeleteMarkerCreated",
                                        "s3:ObjectRestore:*",
                                        "s3:ObjectRestore:Post",
                                        "s3:ObjectRestore:Completed",
                                        "s3:ObjectRestore:Delete",
                                        "s3:Replication:*",
                                        "s3:Replication:OperationFailedReplication",
                                        "s3:Replication:OperationNotTracked",
                                        "s3:Replication:OperationMissedThreshold",
                                        "s3:Replication:OperationReplicatedAfterThreshold",
                                        "s3:LifecycleTransition",
                                        "s3:IntelligentTiering",
                                        "s3:ObjectAcl:Put",
                                        "s3:LifecycleExpiration:*",
                                        "s3:LifecycleExpiration:Delete",
                                        "s3:LifecycleExpiration:DeleteMarkerCreated",
                                        "s3:ObjectTagging:*",
                                        "s3:ObjectTagging:Put",
                                        "s3:ObjectTagging:Delete",
                                        "s3:ObjectAnnotation:*",
                                        "s3:ObjectAnnotation:Put",
                                        "s3:ObjectAnnotation:Delete",
                                        "s3:ObjectRetention:Put"};

constexpr std::size_t kMaxConfigurations = 100;
constexpr std::size_t kMaxIdCharacters = 255;
constexpr std::size_t kMaxFilterBytes = 1024;

struct Destination {
  std::string_view configuration;
  std::string_view element;
  std::string_view service;
};
constexpr Destination kDestinations[] = {{"TopicConfiguration", "Topic", "sns"},
                                         {"QueueConfiguration", "Queue", "sqs"},
                                         {"CloudFunctionConfiguration", "CloudFunction", "lambda"}};

// Returns the region of "arn:partition:service:region:account:name". Empty: no such ARN.
std::string_view RegionOfArn(std::string_view arn, std::string_view service) {
  std::array<std::string_view, 5> pieces;
  for (std::string_view& piece : pieces) {
    const auto colon = arn.find(':');
    if (colon == std::string_view::npos) return {};
    piece = arn.substr(0, colon);
    arn.remove_prefix(colon + 1);
  }
  const bool complete = pieces[0] == "arn" && pieces[1].starts_with("aws") &&
                        pieces[2] == service && !pieces[4].empty() && !arn.empty();
  return complete ? pieces[3] : std::string_view();
}

// Filter names are returned with a capital letter, as in S3.
Result<void> CheckFilterRules(Element& configuration) {
  Element* filter = configuration.Find("Filter");
  Element* key = filter ? filter->Find("S3Key") : nullptr;
  if (key == nullptr) return Ok();
  for (Element& rule : key->children) {
    std::string& name = rule.Find("Name")->text;
    const bool prefix = EqualsIgnoreCase(name, "prefix");
    if (!prefix && !EqualsIgnoreCase(name, "suffix")) {
      return InvalidArgument("filter rule name must be either prefix or suffix", "FilterRule.Name",
                             name);
    }
    name = prefix ? "Prefix" : "Suffix";
    if (rule.TextOf("Value").size() > kMaxFilterBytes) {
      return InvalidArgument(
          "Size of filter rule value cannot exceed 1024 bytes in UTF-8 representation",
          "FilterRule.Value", rule.TextOf("Value"));
    }
  }
  if (key->children.size() > 2 ||
      (key->children.size() == 2 &&
       key->children[0].TextOf("Name") == key->children[1].TextOf("Name"))) {
    return InvalidArgument("Cannot specify more than one prefix or suffix rule in a filter.",
                           "FilterRule.Name", key->children[0].TextOf("Name"));
  }
  return Ok();
}

Result<void> CheckConfiguration(const CheckContext& context, const Destination& destination,
                                Element& configuration) {
  if (const std::string_view id = configuration.TextOf("Id"); id.size() > kMaxIdCharacters)
    return InvalidArgument("ID length should not exceed allowed limit of 255", "Id", id);
  const std::string_view arn = configuration.TextOf(destination.element);
  const std::string_view region = RegionOfArn(arn, destination.service);
  if (region.empty()) {
    return InvalidArgument("The ARN could not be parsed", destination.element, arn);
  }
  // Amazon S3 User Guide, "Event notification types and destinations": neither FIFO queues nor FIFO
  // topics.
  if (destination.service != "lambda" && arn.ends_with(".fifo")) {
    return InvalidArgument(destination.service == "sqs" ? "FIFO SQS queues are not supported."
                                                        : "FIFO SNS topics are not supported.",
                           destination.element, arn);
  }
  if (region != RegionOfConstraint(context.bucket.region)) {
    return InvalidArgument(
        "The notification destination service region is not valid for the bucket location "
        "constraint",
        destination.element, arn);
  }
  for (const Element* event : configuration.All("Event")) {
    if (std::find(std::begin(kEvents), std::end(kEvents), event->text) != std::end(kEvents))
      continue;
    return InvalidArgument("The event '" + event->text + "' is not supported for notifications",
                           "Event", event->text);
  }
  return CheckFilterRules(configuration);
}

bool IsOneEvent(std::string_view a, std::string_view b) {
  const auto covers = [](std::string_view wide, std::string_view event) {
    return wide.ends_with('*') && event.starts_with(wide.substr(0, wide.size() - 1));
  };
  return a == b || covers(a, b) || covers(b, a);
}

std::string_view FilterValue(const Element& configuration, std::string_view name) {
  const Element* filter = configuration.Find("Filter");
  const Element* key = filter ? filter->Find("S3Key") : nullptr;
  if (key == nullptr) return {};
  for (const Element& rule : key->children) {
    if (rule.TextOf("Name") == name) return rule.TextOf("Value");
  }
  return {};
}

// Whether an event could meet both. Filters must have normalised names.
bool Overlap(const Element& one, const Element& other) {
  const std::vector<const Element*> events = one.All("Event");
  const std::vector<const Element*> others = other.All("Event");
  const bool shared = std::any_of(events.begin(), events.end(), [&](const Element* event) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Element* each) { return IsOneEvent(event->text, each->text); });
  });
  if (!shared) return false;
  const std::string_view prefix = FilterValue(one, "Prefix");
  const std::string_view other_prefix = FilterValue(other, "Prefix");
  if (!prefix.starts_with(other_prefix) && !other_prefix.starts_with(prefix)) return false;
  const std::string_view suffix = FilterValue(one, "Suffix");
  const std::string_view other_suffix = FilterValue(other, "Suffix");
  return suffix.ends_with(other_suffix) || other_suffix.ends_with(suffix);
}

Result<void> CheckDistinctIds(const Element& document) {
  std::set<std::string_view> ids;
  for (const Element& configuration : document.children) {
    const std::string_view id = configuration.TextOf("Id");
    if (id.empty() || ids.insert(id).second) continue;
    return InvalidArgument("Same ID used for multiple configurations. IDs must be unique.", "Id",
                           id);
  }
  return Ok();
}

// Amazon S3 User Guide, "Configuring event notifications using object key name filtering".
Result<void> CheckDistinct(const Element& document) {
  const std::vector<Element>& all = document.children;
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (std::none_of(all.begin(), one, [&](const Element& other) { return Overlap(*one, other); }))
      continue;
    return InvalidArgument(
        "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if "
        "the prefixes are overlapping for the same event type.",
        "Event", one->TextOf("Event"));
  }
  return Ok();
}

}  // namespace

Result<void> CheckNotification(const CheckContext& context, Element& document) {
  const auto count = document.children.size() - document.All("EventBridgeConfiguration").size();
  if (count > kMaxConfigurations) {
    return InvalidRequest(
        "Too many configurations submitted. The maximum number of configurations "
        "is 100");
  }
  PENSTOCK_TRY(CheckDistinctIds(document));
  for (const Destination& destination : kDestinations) {
    for (Element& configuration : document.children) {
      if (configuration.name == destination.configuration)
        PENSTOCK_TRY(CheckConfiguration(context, destination, configuration));
    }
    FillRuleIds(context.call, document, destination.configuration, "Id");
  }
  return CheckDistinct(document);
}

}  // namespace penstock::emulator::s3
