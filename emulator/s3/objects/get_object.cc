// GetObject and HeadObject.
#include <algorithm>
#include <chrono>

#include "base/dates.h"
#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/restore_state.h"
#include "emulator/s3/encryption/customer_key.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/objects/overrides.h"
#include "emulator/s3/objects/ranges.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/encoded_words.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

// The part of the object that the response contains.
struct Selection {
  ByteRange range;
  bool partial = false;                     // Status 206.
  const store::PartRecord* part = nullptr;  // Set for partNumber of a multipart object.
  bool by_part_number = false;
};

// What S3 checks before it looks for the key (recorded against Amazon S3).
Result<std::optional<std::uint64_t>> ReadPartNumber(const Call& call) {
  const auto text = call.Query("partNumber");
  if (!text) return std::optional<std::uint64_t>();
  if (call.exchange.request.Find("range"))
    return InvalidRequest("Cannot specify both Range header and partNumber query parameter");
  const auto number = ParseDecimal(*text, 10'000);
  if (number && *number > 0) return number;
  return InvalidArgument("Part number must be an integer between 1 and 10000, inclusive",
                         "partNumber", *text);
}

Result<Selection> SelectPart(const store::ObjectRecord& object, std::uint64_t number) {
  const std::uint64_t count = std::max<std::uint64_t>(object.parts.size(), 1);
  if (number > count) {
    return MakeError("InvalidPartNumber", {{"ActualPartCount", std::to_string(count)},
                                           {"PartNumberRequested", std::to_string(number)}});
  }
  Selection selection{{0, object.size}, true, nullptr, true};
  if (object.parts.empty()) return selection;
  // partNumber counts the parts in order: their numbers may have gaps.
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i + 1 < number; ++i) begin += object.parts[i].size;
  selection.part = &object.parts[number - 1];
  selection.range = {begin, begin + selection.part->size};
  return selection;
}

Result<Selection> Select(const Call& call, const store::ObjectRecord& object,
                         std::optional<std::uint64_t> part_number) {
  const auto range = call.exchange.request.Find("range");
  if (part_number) return SelectPart(object, *part_number);
  if (!range || !RangeApplies(call, object))
    return Selection{{0, object.size}, false, nullptr, false};
  PENSTOCK_ASSIGN(const RangeChoice choice, ChooseRange(*range, object.size));
  return Selection{choice.range, choice.partial, nullptr, false};
}

// Recorded against Amazon S3: an unknown mode is refused before the key is sought.
Result<void> CheckChecksumMode(const Call& call) {
  const auto mode = call.Header("x-amz-checksum-mode");
  if (!mode || EqualsIgnoreCase(*mode, "ENABLED")) return Ok();
  return InvalidRequest("Value for x-amz-checksum-mode header is invalid.");
}

// Adds the checksum of the whole object, or of a part if the object's checksum is composite. Other
// ranges have no checksum. Recorded against Amazon S3: parts of a FULL_OBJECT object have none,
// unless the part is the whole object.
void AddChecksumHeaders(Call& call, const store::ObjectRecord& object, const Selection& selection) {
  const auto mode = call.Header("x-amz-checksum-mode");
  if (!mode || !EqualsIgnoreCase(*mode, "ENABLED")) return;
  const ChecksumInfo* info = FindChecksum(object.checksum_algorithm);
  if (info == nullptr) return;
  std::string_view value;
  if (selection.part != nullptr && object.checksum_type == kComposite) {
    value = selection.part->checksum;
  } else if (selection.range == ByteRange{0, object.size}) {
    value = object.checksum;
  }
  if (value.empty()) return;
  call.response().Add(std::string(info->header), std::string(value));
  call.response().Add("x-amz-checksum-type", object.checksum_type);
}

void AddAttributes(Response& response, const store::Attributes& stored,
                   const store::Attributes& overrides) {
  const auto overridden = [&](std::string_view name) {
    return std::any_of(overrides.begin(), overrides.end(),
                       [&](const auto& entry) { return entry.first == name; });
  };
  bool has_type = false;
  for (const auto* attributes : {&overrides, &stored}) {
    for (const auto& [name, value] : *attributes) {
      if (name.front() == kInternalAttributeMark) {
        if (name.starts_with(kUnprintablePrefix)) response.Add(name.substr(1), Base64Word(value));
        continue;
      }
      if (attributes == &stored && overridden(name)) continue;
      has_type = has_type || name == "Content-Type";
      response.Add(name, value);
    }
  }
  if (!has_type) response.Add("Content-Type", "binary/octet-stream");
}

// Adds the headers that 200, 206 and 304 share.
void AddValidators(Call& call, const store::BucketRecord& bucket,
                   const store::ObjectRecord& object) {
  Response& response = call.response();
  response.Add("Last-Modified", FormatHttpDate(object.last_modified));
  response.Add("ETag", Quoted(object.etag.value));
  AddVersionHeader(call, bucket, object);
}

void AddObjectHeaders(Call& call, const store::ObjectRecord& object, const Selection& selection,
                      const Encryption& encryption) {
  Response& response = call.response();
  response.Add("Accept-Ranges", "bytes");
  AddEncryptionHeaders(call, encryption);
  if (object.storage_class != "STANDARD") response.Add("x-amz-storage-class", object.storage_class);
  AddRestoreHeader(response, object, call.exchange.space->clock->Now());
  if (!object.tags.empty()) response.Add("x-amz-tagging-count", std::to_string(object.tags.size()));
  AddObjectLockHeaders(response, object.attributes);
  if (selection.part != nullptr)
    response.Add("x-amz-mp-parts-count", std::to_string(object.parts.size()));
  AddChecksumHeaders(call, object, selection);
}

Result<void> CheckReadable(const Call& call, const store::ObjectRecord& object) {
  if (call.is_head() || IsReadable(object, call.exchange.space->clock->Now())) return Ok();
  return MakeError("InvalidObjectState", {{"StorageClass", object.storage_class}});
}

// Bytes that are verified before the response begins, so that damaged data causes an error response
// and not a broken connection. The HTTP layer verifies the rest while it sends it.
constexpr std::uint64_t kVerifiedAheadBytes = 8 << 20;

Result<void> AddBody(Call& call, const store::ObjectRecord& object, const Selection& selection) {
  Response& response = call.response();
  if (!call.is_head()) {
    const ByteRange& range = selection.range;
    PENSTOCK_TRY(store::CheckContent(
        object.content, {range.begin, range.begin + std::min(range.size(), kVerifiedAheadBytes)}));
  }
  // An empty object has no range: partNumber=1 gets the response of a plain read.
  if (selection.partial && object.size > 0) {
    response.status = 206;
    if (selection.range.size() > 0)
      response.Add("Content-Range", ContentRange(selection.range, object.size));
  }
  if (call.is_head()) {
    response.content_length = selection.range.size();
  } else if (selection.range == ByteRange{0, object.size}) {
    response.body = object.content;
  } else {
    response.body = object.content.Sub(selection.range);
  }
  return Ok();
}

}  // namespace

Result<void> GetObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(const auto version, VersionParameter(call));
  PENSTOCK_ASSIGN(const store::Attributes overrides, ReadOverrides(call));
  PENSTOCK_ASSIGN(const auto part_number, ReadPartNumber(call));
  PENSTOCK_TRY(CheckChecksumMode(call));
  PENSTOCK_ASSIGN(const store::ObjectPtr object, OpenObject(call, version));
  Encryption encryption = StoredEncryption(object->attributes);
  PENSTOCK_TRY(CheckObjectKey(call, encryption));
  PENSTOCK_TRY(CheckReadable(call, *object));
  PENSTOCK_ASSIGN(const ReadDecision decision, DecideRead(call, *object));
  call.response().headers.reserve(16);
  if (decision == ReadDecision::kNotModified) {
    AddValidators(call, *bucket, *object);
    call.response().status = 304;
    return Ok();
  }
  PENSTOCK_ASSIGN(const Selection selection, Select(call, *object, part_number));
  AddValidators(call, *bucket, *object);
  if (!version) AddExpirationHeader(call, *object);
  AddObjectHeaders(call, *object, selection, encryption);
  AddAttributes(call.response(), object->attributes, overrides);
  return AddBody(call, *object, selection);
}

}  // namespace penstock::emulator::s3
