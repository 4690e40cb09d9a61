#include "emulator/events/notifying_store.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "emulator/events/bridge_message.h"
#include "emulator/events/message.h"
#include "emulator/events/notification_rules.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/passing_store.h"
#include "emulator/s3/protocol/names.h"

namespace penstock::emulator::events {
namespace {

constexpr std::string_view kPutNotification = "PutBucketNotificationConfiguration";
// S3 is the requester of its own changes.
constexpr std::string_view kS3 = "s3.amazonaws.com";

struct OperationEvent {
  std::string_view operation;
  std::string_view event;  // ends with ':' if the outcome of a deletion completes it
};
// Amazon S3 User Guide, "Supported event types for SQS, SNS, and Lambda".
constexpr OperationEvent kOperationEvents[] = {
    {"PutObject", "ObjectCreated:Put"},
    {"PostObject", "ObjectCreated:Post"},
    {"CopyObject", "ObjectCreated:Copy"},
    {"CompleteMultipartUpload", "ObjectCreated:CompleteMultipartUpload"},
    {"DeleteObject", "ObjectRemoved:"},
    {"DeleteObjects", "ObjectRemoved:"},
    {"RestoreObject", "ObjectRestore:Post"},
    {"PutObjectTagging", "ObjectTagging:Put"},
    {"DeleteObjectTagging", "ObjectTagging:Delete"},
    {"PutObjectAcl", "ObjectAcl:Put"},
};

std::string_view EventOf(std::string_view operation) {
  for (const OperationEvent& row : kOperationEvents) {
    if (row.operation == operation) return row.event;
  }
  return {};
}

Cause CauseOf(const s3::Exchange& exchange) {
  const s3::Identity& who = exchange.identity;
  Cause cause;
  cause.principal_id = who.anonymous()       ? "Anonymous"
                       : who.user_id.empty() ? who.owner_id
                                             : "AWS:" + who.user_id;
  cause.requester = who.anonymous() ? "Anonymous" : who.account_id;
  cause.source_ip = s3::AddressOf(exchange.connection.peer);
  cause.request_id = exchange.request_id;
  cause.host_id = exchange.host_id;
  return cause;
}

// The account of a bucket's owner. Not called by the writer of the store.
std::string AccountOf(const store::BucketRecord& bucket, const s3::OwnerDirectory* owners) {
  const auto owner = owners == nullptr ? std::nullopt : owners->FindOwner(bucket.owner_id);
  return owner ? owner->account_id : "000000000000";
}

// `account_id`: of the bucket's owner.
store::EventMaker MakerOf(std::string_view event, Cause cause, std::string account_id) {
  return [name = std::string(event), cause = std::move(cause), account_id = std::move(account_id)](
             const store::VersionChange& change) -> std::vector<store::Event> {
    std::vector<store::Event> made;
    const NotificationRules* rules = NotificationRules::Of(change.bucket);
    if (rules == nullptr) return made;  // removed since the request began
    const std::string full = name.ends_with(':')
                                 ? name + (change.created_marker ? "DeleteMarkerCreated" : "Delete")
                                 : name;
    Cause here = cause;
    here.region = s3::RegionOfConstraint(change.bucket.region);
    for (const NotificationRules::Rule* rule : rules->Matching(full, change.version.key.value))
      made.push_back({rule->destination, EventMessage(full, here, change, *rule)});
    if (rules->event_bridge())
      made.push_back(
          {BridgeArn(here.region, account_id), BridgeMessage(full, here, change, account_id)});
    return made;
  };
}

// Adds events to the writes of one request.
class NotifyingStore final : public s3::PassingStore {
 public:
  // `account_id`: of the owner of the bucket that the request changes.
  NotifyingStore(std::shared_ptr<store::Store> inner, const s3::Exchange& exchange,
                 std::string account_id)
      : PassingStore(std::move(inner)), exchange_(exchange), account_id_(std::move(account_id)) {}

  using PassingStore::Delete;
  using PassingStore::Put;

  Result<store::PutOutcome> Put(store::PutObject request) override {
    request.events = Events();
    return inner().Put(std::move(request));
  }
  void Put(store::PutObject request, store::Async<store::PutOutcome> later) override {
    request.events = Events();
    inner().Put(std::move(request), std::move(later));
  }
  Result<store::PutOutcome> Complete(store::CompleteUpload request) override {
    request.events = Events();
    return inner().Complete(std::move(request));
  }
  Result<store::DeleteOutcome> Delete(store::DeleteObject request) override {
    request.events = Events();
    return inner().Delete(std::move(request));
  }
  void Delete(store::DeleteObject request, store::Async<store::DeleteOutcome> later) override {
    request.events = Events();
    inner().Delete(std::move(request), std::move(later));
  }
  std::vector<Result<store::DeleteOutcome>> Delete(
      std::vector<store::DeleteObject> requests) override {
    for (store::DeleteObject& request : requests) request.events = Events();
    return inner().Delete(std::move(requests));
  }
  Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                       const std::optional<VersionId>& version, store::Attributes tags,
                       const store::EventMaker& /*events*/) override {
    return inner().SetTags(bucket, key, version, std::move(tags), Events());
  }
  Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                const std::optional<VersionId>& version,
                                const store::AttributeChange& change,
                                const store::EventMaker& /*events*/) override {
    return inner().ChangeAttributes(bucket, key, version, change, Events());
  }
  Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                std::optional<std::string> document,
                                std::vector<store::Event> events) override {
    if (sub_resource == kNotificationKey && document && exchange_.operation == kPutNotification)
      events = TestEvents(name, *document);
    return inner().SetConfiguration(name, sub_resource, std::move(document), std::move(events));
  }

 private:
  store::EventMaker Events() const {
    const std::string_view event = EventOf(exchange_.operation);
    return event.empty() ? store::EventMaker() : MakerOf(event, CauseOf(exchange_), account_id_);
  }

  // One for each destination.
  std::vector<store::Event> TestEvents(const BucketName& bucket, std::string_view document) const {
    std::vector<store::Event> events;
    if (exchange_.request.Find("x-amz-skip-destination-validation") == "true") return events;
    std::set<std::string> destinations;
    const NotificationRules parsed(document);
    for (const NotificationRules::Rule& rule : parsed.rules()) {
      if (!destinations.insert(rule.destination).second) continue;
      events.push_back({rule.destination, TestMessage(bucket.value, CauseOf(exchange_),
                                                      exchange_.space->clock->Now())});
    }
    return events;
  }

  const s3::Exchange& exchange_;
  const std::string account_id_;
};

class Notifier final : public s3::Filter {
 public:
  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    if (!exchange.space || !exchange.space->store) return s3::FilterStatus::kContinue;
    const bool configures = exchange.operation == kPutNotification;
    if (!configures && EventOf(exchange.operation).empty()) return s3::FilterStatus::kContinue;
    const auto bucket = exchange.space->store->FindBucket(exchange.target.bucket);
    if (!bucket.ok()) return s3::FilterStatus::kContinue;
    const NotificationRules* const rules = NotificationRules::Of(**bucket);
    if (!configures && rules == nullptr) return s3::FilterStatus::kContinue;
    const bool bridged = rules != nullptr && rules->event_bridge();
    s3::WrapStore<NotifyingStore>(
        exchange, std::as_const(exchange),
        bridged ? AccountOf(**bucket, exchange.space->owners) : std::string());
    return s3::FilterStatus::kContinue;
  }
};

}  // namespace

std::unique_ptr<s3::Filter> MakeNotifier() { return std::make_unique<Notifier>(); }

store::EventMaker LifecycleEvents(const store::BucketRecord& bucket, std::string_view name,
                                  const s3::OwnerDirectory* owners) {
  if (NotificationRules::Of(bucket) == nullptr) return {};
  Cause cause;
  cause.principal_id = cause.source_ip = cause.requester = kS3;
  return MakerOf(name, std::move(cause), AccountOf(bucket, owners));
}

}  // namespace penstock::emulator::events
