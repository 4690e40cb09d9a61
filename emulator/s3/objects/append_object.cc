// PutObject with x-amz-write-offset-bytes: appends to an object (Amazon S3 User Guide, "Appending
// data to objects in directory buckets").
//
// Existing bytes are not copied, except small pieces: contents are concatenated and CRCs combined.
// An append replaces exactly the record that it read. If another write has replaced that record,
// the append is checked again and retried.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/directory/directory_bucket.h"
#include "emulator/s3/objects/conditions.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/protocol/directory_names.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kOffsetHeader = "x-amz-write-offset-bytes";
constexpr std::uint64_t kMaxOffset = std::uint64_t{50} << 40;
constexpr int kMaxAttempts = 100;  // Each retry means that another write of the key was faster.
// Pieces are joined up to this size, so that the cost of an append does not grow with the number of
// appends.
constexpr std::uint64_t kLargestJoined = 4u << 20;
// An internal attribute, which copies do not keep: the number of pieces of the object.
constexpr std::string_view kPiecesAttribute = ":pieces";

struct Append {
  std::uint64_t offset = 0;
  WriteCondition condition;
  ChecksumClaim claim;
  ObjectSettings settings;
  bool has_encryption = false;
  bool has_metadata = false;
};

Result<Append> ReadAppend(const Call& call, const store::BucketRecord& bucket) {
  if (IsLocalZone(ZoneOf(bucket.name.value).value_or(""))) {
    return NotImplementedHeader(kOffsetHeader, "Buckets in local zones do not support appends");
  }
  Append append;
  const std::string_view text = call.Header(kOffsetHeader).value_or("");
  const auto offset = ParseDecimal(text, kMaxOffset);
  if (!offset)
    return InvalidArgument("The write offset must be a number of bytes", kOffsetHeader, text);
  append.offset = *offset;
  PENSTOCK_ASSIGN(append.condition, ReadWriteCondition(call));
  PENSTOCK_ASSIGN(append.claim, ReadChecksumClaim(call));
  PENSTOCK_ASSIGN(append.settings, ReadObjectSettings(call, bucket));
  append.has_encryption = call.families.encryption;
  append.has_metadata = call.families.metadata;
  return append;
}

// Returns null if the object does not exist.
Result<store::ObjectPtr> FindCurrent(Call& call) {
  auto found = call.store.FindObject(call.bucket(), call.key());
  if (found.ok() || found.error().code != "NoSuchKey") return found;
  return store::ObjectPtr();
}

int PiecesOf(const store::ObjectRecord& object) {
  for (const auto& [name, value] : object.attributes) {
    if (name == kPiecesAttribute) return static_cast<int>(ParseDecimal(value).value_or(1));
  }
  return object.parts.empty() ? 1 : static_cast<int>(object.parts.size());
}

bool SameEncryption(const Encryption& a, const Encryption& b) {
  return a.kind == b.kind && a.kms_key_arn == b.kms_key_arn;
}

const ChecksumInfo& AlgorithmOf(const store::ObjectRecord& object) {
  const ChecksumInfo* const info = FindChecksum(object.checksum_algorithm);
  return info ? *info : InfoOf(ChecksumAlgorithm::kCrc64Nvme);
}

// Checks everything but the body against the current object.
Result<void> CheckAppend(const Call& call, const Append& append,
                         const store::ObjectRecord* current) {
  PENSTOCK_TRY(CheckWrite(append.condition, call.key().value, current));
  if (current == nullptr)
    return append.offset == 0 ? Result<void>(Ok()) : Result<void>(NoSuchKey(call.key().value));
  if (append.offset != current->size) {
    return MakeError("InvalidWriteOffset", {},
                     "The write offset " + std::to_string(append.offset) +
                         " does not match the size of the object, " +
                         std::to_string(current->size));
  }
  if (append.has_metadata) {
    return InvalidRequest(
        "Cannot specify both a write offset value and user-defined object metadata for existing "
        "objects.");
  }
  const ChecksumInfo& current_algorithm = AlgorithmOf(*current);
  if (append.claim.info != nullptr && append.claim.info != &current_algorithm) {
    return InvalidRequest("Checksum Type mismatch occurred, expected checksum Type: " +
                          std::string(current_algorithm.lower) +
                          ", actual checksum Type: " + std::string(append.claim.info->lower) + ".");
  }
  if (append.has_encryption &&
      !SameEncryption(append.settings.encryption, StoredEncryption(current->attributes))) {
    return MakeError("EncryptionTypeMismatch");
  }
  if (PiecesOf(*current) >= call.options.max_object_parts) return MakeError("TooManyParts");
  return Ok();
}

// Combines the CRCs. Other digests of the whole object cannot be computed from the pieces.
void JoinChecksums(const store::ObjectRecord& before, store::ObjectRecord& after,
                   const std::string& appended, std::uint64_t size) {
  const ChecksumInfo& info = AlgorithmOf(before);
  after.checksum_type.clear();
  after.checksum.clear();
  if (!info.full_object) return;
  std::vector<PartChecksum> pieces;
  if (before.checksum_type == kFullObject) {
    pieces.push_back({before.checksum, before.size});
  } else {
    for (const store::PartRecord& part : before.parts) pieces.push_back({part.checksum, part.size});
  }
  pieces.push_back({appended, size});
  std::uint64_t known_bytes = 0;
  for (const PartChecksum& piece : pieces) known_bytes += piece.size_bytes;
  if (known_bytes != after.size) return;  // The checksum of the old bytes is not known.
  after.checksum_algorithm = info.name;
  after.checksum_type = kFullObject;
  after.checksum = FullObjectChecksum(info.algorithm, pieces);
}

store::ObjectRecord ExtendedRecord(const store::ObjectRecord& before, const ReceivedBody& body,
                                   const std::string& checksum) {
  store::ObjectRecord after = before;
  after.etag = OpaqueETag();
  after.last_modified = {};
  after.size += body.size;
  for (const store::ContentSlice& slice : body.content.slices)
    after.content.slices.push_back(slice);
  JoinChecksums(before, after, checksum, body.size);
  std::erase_if(after.attributes,
                [](const auto& entry) { return entry.first == kPiecesAttribute; });
  after.attributes.emplace_back(kPiecesAttribute, std::to_string(PiecesOf(before) + 1));
  after.parts.clear();
  return after;
}

// Joins the last pieces of `content` that are of similar size. Many small appends then leave a few
// pieces of growing size, and each byte is copied only when its piece roughly doubles.
Result<void> JoinPieces(Call& call, store::Content& content) {
  std::vector<store::ContentSlice>& slices = content.slices;
  std::size_t first = slices.size() - 1;
  std::uint64_t total = slices[first].range.size();
  while (first > 0) {
    const std::uint64_t before = slices[first - 1].range.size();
    if (before > 2 * total || before + total > kLargestJoined) break;
    total += before;
    --first;
  }
  if (first == slices.size() - 1) return Ok();
  std::vector<std::byte> bytes(total);
  PENSTOCK_TRY(store::ReadContent(content, content.size() - total, bytes));
  PENSTOCK_ASSIGN(const auto writer, call.store.NewBlob(total));
  PENSTOCK_TRY(writer->Append(bytes));
  PENSTOCK_ASSIGN(const store::Content joined, writer->Finish());
  slices.resize(first);
  slices.insert(slices.end(), joined.slices.begin(), joined.slices.end());
  return Ok();
}

// Returns a precondition that the key still has the record `seen`. Sets `changed` if not.
store::Precondition StillCurrent(const store::ObjectPtr& seen, bool& changed) {
  changed = false;
  return [seen, &changed](const store::ObjectRecord* now) -> Result<void> {
    const bool same = seen == nullptr ? now == nullptr : now != nullptr && now->etag == seen->etag;
    changed = !same;
    if (same) return Ok();
    return MakeError("OperationAborted");
  };
}

void Respond(Call& call, const store::ObjectRecord& object, const ChecksumInfo* appended,
             const std::string& appended_value) {
  Response& response = call.response();
  AddEncryptionHeaders(call, StoredEncryption(object.attributes));
  response.Add("ETag", Quoted(object.etag.value));
  response.Add("x-amz-object-size", std::to_string(object.size));
  if (!object.checksum.empty()) {
    AddChecksumHeader(call, object.checksum_algorithm, object.checksum);
    response.Add("x-amz-checksum-type", object.checksum_type);
  } else if (appended != nullptr) {
    AddChecksumHeader(call, appended->name, appended_value);
  }
}

struct Received {
  ReceivedBody body;
  const ChecksumInfo* info = nullptr;  // The algorithm of `checksum`.
  std::string checksum;
};

Result<Received> Receive(Call& call, const Append& append, const store::ObjectRecord* current) {
  Received received;
  received.info = append.claim.info;
  ReceiveOptions receive{
      .claim = append.claim, .also_compute = {}, .expected_digest = Md5Style::kHex, .md5 = false};
  if (received.info == nullptr) {
    received.info =
        current != nullptr ? &AlgorithmOf(*current) : &InfoOf(ChecksumAlgorithm::kCrc64Nvme);
    receive.also_compute.push_back(received.info->algorithm);
  }
  PENSTOCK_ASSIGN(received.body, ReceiveBody(call, std::move(receive)));
  received.checksum = append.claim.info ? received.body.claimed : received.body.computed.front();
  return received;
}

// Recomputes the checksum if the object's algorithm has changed since the body was received.
Result<void> MatchAlgorithm(const Call& call, Received& received, const ChecksumInfo& required) {
  if (received.info == &required) return Ok();
  PENSTOCK_ASSIGN(ContentDigests digests,
                  DigestContent(call.exchange, received.body.content, {0, received.body.size},
                                {.algorithm = required.algorithm, .md5 = false}));
  received.info = &required;
  received.checksum = std::move(digests.checksum);
  return Ok();
}

}  // namespace

Result<void> AppendObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  PENSTOCK_ASSIGN(Append append, ReadAppend(call, *bucket));
  PENSTOCK_ASSIGN(store::ObjectPtr current, FindCurrent(call));
  PENSTOCK_TRY(CheckAppend(call, append, current.get()));
  PENSTOCK_ASSIGN(Received received, Receive(call, append, current.get()));
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (attempt > 0) {
      PENSTOCK_ASSIGN(current, FindCurrent(call));
      PENSTOCK_TRY(CheckAppend(call, append, current.get()));
    }
    store::PutObject request{bucket->name, {}, {}};
    if (current == nullptr) {
      ObjectSettings settings = append.settings;
      if (append.claim.info == nullptr) {
        // The body may have the checksum of an object that was deleted meanwhile.
        PENSTOCK_TRY(MatchAlgorithm(call, received, InfoOf(ChecksumAlgorithm::kCrc64Nvme)));
        received.body.computed = {received.checksum};
      }
      ReceivedBody body = received.body;
      request.record = NewObjectRecord(call, settings, append.claim, std::move(body));
    } else {
      if (received.body.size == 0)
        return InvalidRequest("Request body cannot be empty when 'write offset' is specified.");
      PENSTOCK_TRY(MatchAlgorithm(call, received, AlgorithmOf(*current)));
      request.record = ExtendedRecord(*current, received.body, received.checksum);
      PENSTOCK_TRY(JoinPieces(call, request.record.content));
    }
    bool changed = false;
    request.precondition = StillCurrent(current, changed);
    auto outcome = call.store.Put(std::move(request));
    if (outcome.ok()) {
      Respond(call, *outcome->object, received.info, received.checksum);
      return Ok();
    }
    if (!changed) return std::move(outcome).error();
  }
  return MakeError("OperationAborted");
}

}  // namespace penstock::emulator::s3
