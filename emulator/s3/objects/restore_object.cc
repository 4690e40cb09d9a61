// RestoreObject: makes a temporary, readable copy of an archived object (Amazon S3 API Reference,
// "RestoreObject"; Amazon S3 User Guide, "Archive retrieval options").
//
// No bytes move. The copy becomes readable after the longest time that AWS names for the tier, by
// the namespace's clock.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/config/lifecycle_rules.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"

namespace penstock::emulator::s3 {
namespace {

// In the order of their speed.
struct Tier {
  std::string_view name;
  std::chrono::minutes glacier;
  std::optional<std::chrono::minutes> deep_archive;
};
constexpr Tier kTiers[] = {
    {"Expedited", std::chrono::minutes(5), std::nullopt},
    {"Standard", std::chrono::hours(5), std::chrono::hours(12)},
    {"Bulk", std::chrono::hours(12), std::chrono::hours(48)},
};

const Tier& TierOf(std::string_view name) {
  for (const Tier& tier : kTiers) {
    if (tier.name == name) return tier;
  }
  return kTiers[1];
}

struct RestoreRequest {
  std::int64_t days = 0;
  const Tier* tier = nullptr;
};

Result<RestoreRequest> ReadRequest(Call& call) {
  PENSTOCK_ASSIGN(const std::string text, ReadDocument(call, {}));
  if (text.empty()) return MakeError("MissingRequestBodyError");
  PENSTOCK_ASSIGN(const Element document, ReadBySchema(text, kRestoreSchema));
  if (document.TextOf("Type") == "SELECT")
    return NotImplemented("RestoreObject with Type SELECT is not implemented");
  const Element* days = document.Find("Days");
  if (days == nullptr) return MalformedXml();
  RestoreRequest request{std::stoll(days->text), nullptr};
  if (request.days < 1 || request.days > INT32_MAX) return MalformedXml();
  const Element* parameters = document.Find("GlacierJobParameters");
  request.tier = &TierOf((parameters != nullptr ? *parameters : document).TextOf("Tier"));
  return request;
}

// Returns the restore that follows from the request. `renewed`: set if the copy exists already.
Result<Restore> NextRestore(const store::ObjectRecord& object, const RestoreRequest& request,
                            WallTime now, bool& renewed) {
  if (!IsArchived(object.storage_class)) {
    return MakeError("InvalidObjectState", {{"StorageClass", object.storage_class}},
                     "Restore is not allowed for the object's current storage class");
  }
  const Tier& tier = *request.tier;
  const auto duration = object.storage_class == "GLACIER" ? tier.glacier : tier.deep_archive;
  if (!duration) {
    return InvalidArgument("Retrieval option is not supported by this storage class", "Tier",
                           tier.name);
  }
  std::optional<Restore> earlier = StoredRestore(object.attributes);
  renewed = earlier && earlier->IsReadable(now);
  if (renewed) {
    earlier->days = request.days;
    earlier->expiry = MidnightAfter(now, request.days);
    return *std::move(earlier);
  }
  Restore next{now + *duration, {}, request.days, std::string(tier.name)};
  if (earlier && earlier->IsOngoing(now)) {
    // A faster tier replaces that of an ongoing restore.
    const bool faster = &tier < &TierOf(earlier->tier) && earlier->days == request.days;
    if (!faster) return MakeError("RestoreAlreadyInProgress");
    next.ready = std::min(next.ready, earlier->ready);
  }
  next.expiry = MidnightAfter(next.ready, request.days);
  return next;
}

}  // namespace

Result<void> RestoreObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const RestoreRequest request, ReadRequest(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  const WallTime now = call.exchange.space->clock->Now();
  // Lifecycle runs look for restores in these buckets only.
  if (IsArchived(object->storage_class) && FindConfiguration(*bucket, kRestoresKey) == nullptr)
    PENSTOCK_TRY(call.store.SetConfiguration(bucket->name, std::string(kRestoresKey), "true"));
  bool renewed = false;
  // Uses the id of the opened version, because a newer version may exist by now.
  PENSTOCK_TRY(call.store.ChangeAttributes(
      call.bucket(), call.key(), object->version_id,
      [&](const store::ObjectRecord& current, store::Attributes& attributes) -> Result<void> {
        PENSTOCK_ASSIGN(Restore next, NextRestore(current, request, now, renewed));
        ReplaceRestore(std::move(next), attributes);
        return Ok();
      }));
  call.response().status = renewed ? 200 : 202;
  return Ok();
}

}  // namespace penstock::emulator::s3
