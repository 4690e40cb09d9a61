#include "emulator/events/bridge_message.h"

#include <array>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "base/dates.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/json/json_tree.h"
#include "emulator/s3/core/restore_state.h"

namespace penstock::emulator::events {
namespace {

struct BridgeEvent {
  std::string_view name;  // a prefix, if it ends with ':'
  std::string_view type;
  std::string_view reason;  // empty: none
};
// User Guide, "Using EventBridge".
constexpr BridgeEvent kEvents[] = {
    {"ObjectCreated:Put", "Object Created", "PutObject"},
    {"ObjectCreated:Post", "Object Created", "POST Object"},
    {"ObjectCreated:Copy", "Object Created", "CopyObject"},
    {"ObjectCreated:CompleteMultipartUpload", "Object Created", "CompleteMultipartUpload"},
    {"ObjectRemoved:", "Object Deleted", "DeleteObject"},
    {"LifecycleExpiration:", "Object Deleted", "Lifecycle Expiration"},
    {"ObjectRestore:Post", "Object Restore Initiated", ""},
    {"ObjectRestore:Completed", "Object Restore Completed", ""},
    {"ObjectRestore:Delete", "Object Restore Expired", ""},
    {"LifecycleTransition", "Object Storage Class Changed", ""},
    {"ObjectAcl:Put", "Object ACL Updated", ""},
    {"ObjectTagging:Put", "Object Tags Added", ""},
    {"ObjectTagging:Delete", "Object Tags Deleted", ""},
};

BridgeEvent Find(std::string_view name) {
  for (const BridgeEvent& each : kEvents) {
    if (name == each.name || (each.name.ends_with(':') && name.starts_with(each.name))) return each;
  }
  return {name, name, {}};
}

// Version 4 (RFC 9562).
std::string NewUuid() {
  std::array<std::byte, 16> random;
  RandomBytes(random);
  random[6] = (random[6] & std::byte{0x0f}) | std::byte{0x40};
  random[8] = (random[8] & std::byte{0x3f}) | std::byte{0x80};
  std::string text = HexEncode(random);
  for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, "-");
  return text;
}

std::string WithoutMilliseconds(std::string time) { return time.erase(time.find('.')) + "Z"; }

Json DetailOf(const BridgeEvent& event, std::string_view name, const Cause& cause,
              const store::VersionChange& change) {
  const store::ObjectRecord& version = change.version;
  Json object{{"key", version.key.value}};
  const bool deleted = event.type == "Object Deleted";
  if (!deleted) {
    object["size"] = version.size;
    object["etag"] = version.etag.value;
  }
  if (change.bucket.versioning != store::Versioning::kNever && !version.version_id.value.empty())
    object["version-id"] = version.version_id.value;
  object["sequencer"] = Sequencer(change.sequence);
  Json detail{{"version", "0"},
              {"event-version", "1.1"},
              {"bucket", {{"name", change.bucket.name.value}}},
              {"object", std::move(object)},
              {"request-id", RequestIdOf(cause, change)},
              {"requester", cause.requester}};
  if (cause.source_ip != cause.requester) detail["source-ip-address"] = cause.source_ip;
  if (!event.reason.empty()) detail["reason"] = event.reason;
  if (deleted) {
    detail["deletion-type"] =
        name.ends_with("DeleteMarkerCreated") ? "Delete Marker Created" : "Permanently Deleted";
  }
  if (name == "LifecycleTransition") detail["destination-storage-class"] = version.storage_class;
  if (name.starts_with("ObjectRestore:")) detail["source-storage-class"] = version.storage_class;
  if (name == "ObjectRestore:Completed") {
    if (const auto restore = s3::StoredRestore(version.attributes))
      detail["restore-expiry-time"] = WithoutMilliseconds(FormatIso8601(restore->expiry));
  }
  return detail;
}

}  // namespace

std::string BridgeArn(std::string_view region, std::string_view account_id) {
  return "arn:aws:events:" + std::string(region) + ":" + std::string(account_id) +
         ":event-bus/default";
}

std::string BridgeMessage(std::string_view name, const Cause& cause,
                          const store::VersionChange& change, std::string_view account_id) {
  const BridgeEvent event = Find(name);
  Json resources = Json::array();
  resources.push_back("arn:aws:s3:::" + change.bucket.name.value);
  return JsonObjectText({{"version", "0"},
                         {"id", NewUuid()},
                         {"detail-type", event.type},
                         {"source", "aws.s3"},
                         {"account", account_id},
                         {"time", WithoutMilliseconds(FormatIso8601(change.time))},
                         {"region", cause.region},
                         {"resources", std::move(resources)},
                         {"detail", DetailOf(event, name, cause, change)}});
}

}  // namespace penstock::emulator::events
