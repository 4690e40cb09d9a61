#include "emulator/events/message.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/dates.h"
#include "emulator/json/json_tree.h"
#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::events {
namespace {

// User Guide, "Event message structure": from 2.4 on, one version for all types of events. 2.5
// added tags that AWS makes on buckets, which the emulator's buckets never have.
constexpr std::string_view kVersion = "2.5";

Json ObjectJson(std::string_view name, const store::VersionChange& change) {
  const store::ObjectRecord& version = change.version;
  Json object{{"key", s3::ListingEncode(version.key.value)}};
  // A deletion reports neither.
  if (!name.starts_with("ObjectRemoved:") && !name.starts_with("LifecycleExpiration:")) {
    object["size"] = version.size;
    object["eTag"] = version.etag.value;
  }
  if (change.bucket.versioning != store::Versioning::kNever && !version.version_id.value.empty())
    object["versionId"] = version.version_id.value;
  object["sequencer"] = Sequencer(change.sequence);
  return object;
}

void AddEventData(std::string_view name, const store::ObjectRecord& version, Json& record) {
  if (name == "LifecycleTransition") {
    record["lifecycleEventData"]["transitionEventData"]["destinationStorageClass"] =
        version.storage_class;
  }
  if (name != "ObjectRestore:Completed") return;
  const auto restore = s3::StoredRestore(version.attributes);
  if (!restore) return;
  Json& data = record["glacierEventData"]["restoreEventData"];
  data["lifecycleRestorationExpiryTime"] = FormatIso8601(restore->expiry);
  data["lifecycleRestoreStorageClass"] = version.storage_class;
}

}  // namespace

std::string Sequencer(std::int64_t sequence) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIX64, static_cast<std::uint64_t>(sequence));
  return text.data();
}

std::string RequestIdOf(const Cause& cause, const store::VersionChange& change) {
  return cause.request_id.empty() ? Sequencer(change.sequence) : cause.request_id;
}

std::string EventMessage(std::string_view name, const Cause& cause,
                         const store::VersionChange& change, const NotificationRules::Rule& rule) {
  const std::string& bucket = change.bucket.name.value;
  Json record{{"eventVersion", kVersion},
              {"eventSource", "aws:s3"},
              {"awsRegion", cause.region},
              {"eventTime", FormatIso8601(change.time)},
              {"eventName", name},
              {"userIdentity", {{"principalId", cause.principal_id}}},
              {"requestParameters", {{"sourceIPAddress", cause.source_ip}}},
              {"responseElements",
               {{"x-amz-request-id", RequestIdOf(cause, change)}, {"x-amz-id-2", cause.host_id}}},
              {"s3",
               {{"s3SchemaVersion", "1.0"},
                {"configurationId", rule.id},
                {"bucket",
                 {{"name", bucket},
                  {"ownerIdentity", {{"principalId", change.bucket.owner_id}}},
                  {"arn", "arn:aws:s3:::" + bucket}}},
                {"object", ObjectJson(name, change)}}}};
  AddEventData(name, change.version, record);
  Json records = Json::array();
  records.push_back(std::move(record));
  return JsonObjectText({{"Records", std::move(records)}});
}

std::string TestMessage(std::string_view bucket, const Cause& cause, WallTime time) {
  return JsonObjectText({{"Service", "Amazon S3"},
                         {"Event", "s3:TestEvent"},
                         {"Time", FormatIso8601(time)},
                         {"Bucket", bucket},
                         {"RequestId", cause.request_id},
                         {"HostId", cause.host_id}});
}

std::string EventsJson(std::string_view name_space, std::uint64_t after,
                       std::span<const store::StoredEvent> events) {
  Json list = Json::array();
  for (const store::StoredEvent& stored : events) {
    Json entry{{"number", stored.number},
               {"destination", stored.event.destination},
               {"delivered", stored.delivered}};
    entry["message"] = Json::parse(stored.event.message, nullptr, /*allow_exceptions=*/false);
    list.push_back(std::move(entry));
  }
  const std::uint64_t last = events.empty() ? after : events.back().number;
  return JsonObjectText({{"namespace", name_space}, {"last", last}, {"events", std::move(list)}});
}

}  // namespace penstock::emulator::events
