#include "emulator/s3/multipart/complete_request.h"

#include <algorithm>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/protocol/document_schema.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/request_schemas.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

std::string WithoutQuotes(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
    etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

Result<RequestedPart> ParsePart(const Element& element) {
  const std::string_view number = TrimXml(element.TextOf("PartNumber"));
  RequestedPart part;
  part.etag = WithoutQuotes(TrimXml(element.TextOf("ETag")));
  const auto value = ParseDecimal(number, 10'000);
  if (!value || *value == 0) {
    const bool below = number.starts_with('-') || number == "0";
    return below ? InvalidArgument("PartNumber must be >= 1", "PartNumber", number)
                 : MalformedXml();
  }
  part.number = static_cast<int>(*value);
  for (const Element& child : element.children) {
    const ChecksumInfo* info = FindChecksumElement(child.name);
    if (info == nullptr) continue;
    const bool repeated = part.checksum_info != nullptr;
    part.checksum_info = info;
    part.checksum = TrimXml(child.text);
    if (part.checksum.empty()) return MalformedXml();
    if (repeated || !Base64Decode(part.checksum)) {
      return MakeError("InvalidArgument", {},
                       "Invalid Base64 or multiple checksums present in request");
    }
  }
  return part;
}

Error InvalidPart(const RequestedPart& part, const PartRules& rules) {
  return MakeError("InvalidPart", {{"UploadId", rules.upload_id},
                                   {"PartNumber", std::to_string(part.number)},
                                   {"ETag", part.etag}});
}

Error InvalidPartOrder(const PartRules& rules) {
  return MakeError("InvalidPartOrder", {{"UploadId", rules.upload_id}});
}

Result<void> CheckPartChecksum(const RequestedPart& part, const store::PartRecord& stored,
                               const PartRules& rules) {
  const ChecksumInfo* declared = FindChecksum(rules.checksum_algorithm);
  if (part.checksum.empty()) {
    if (rules.checksum_type != kComposite) return Ok();
    return InvalidRequest(
        "The upload was created using a " + std::string(declared->lower) +
        " checksum. The complete request must include the checksum for each part. It was missing "
        "for part " +
        std::to_string(part.number) + " in the request.");
  }
  // Without a declared algorithm S3 does not store part checksums, so that a part with one is not
  // found.
  if (declared == nullptr) return InvalidPart(part, rules);
  if (part.checksum_info == declared) {
    // Recorded against Amazon S3: a wrong checksum of the declared algorithm returns InvalidPart.
    if (part.checksum == stored.checksum) return Ok();
    return InvalidPart(part, rules);
  }
  // Recorded against Amazon S3: a checksum of another algorithm returns BadDigest with that
  // algorithm.
  return MakeError("BadDigest", {},
                   "The " + std::string(part.checksum_info->lower) + " you specified for part " +
                       std::to_string(part.number) + " did not match what we received.");
}

Result<void> CheckOrder(const std::vector<RequestedPart>& requested, const PartRules& rules) {
  int previous = 0;
  for (const RequestedPart& part : requested) {
    if (part.number <= previous) return InvalidPartOrder(rules);
    if ((rules.consecutive || rules.checksum_type == kComposite) && part.number != previous + 1)
      return InvalidPartOrder(rules);
    previous = part.number;
  }
  return Ok();
}

Result<void> CheckSizes(const std::vector<store::PartRecord>& parts, const PartRules& rules) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].size >= rules.min_part_size_bytes) continue;
    return MakeError("EntityTooSmall",
                     {{"ProposedSize", std::to_string(parts[i].size)},
                      {"MinSizeAllowed", std::to_string(rules.min_part_size_bytes)},
                      {"PartNumber", std::to_string(parts[i].number)},
                      {"ETag", parts[i].etag.value}});
  }
  return Ok();
}

}  // namespace

Result<std::vector<RequestedPart>> ParseCompleteRequest(std::string_view text) {
  PENSTOCK_ASSIGN(const Element root, ReadBySchema(text, kCompleteUploadSchema));
  if (root.children.size() > 10'000) return MalformedXml();
  std::vector<RequestedPart> parts;
  parts.reserve(root.children.size());
  for (const Element& element : root.children) {
    PENSTOCK_ASSIGN(RequestedPart part, ParsePart(element));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::vector<store::PartRecord>> MatchParts(const std::vector<RequestedPart>& requested,
                                                  const std::vector<store::StoredPart>& stored,
                                                  const PartRules& rules) {
  PENSTOCK_TRY(CheckOrder(requested, rules));
  std::vector<store::PartRecord> matched;
  matched.reserve(requested.size());
  auto candidate = stored.begin();  // Both are in ascending order.
  for (const RequestedPart& part : requested) {
    candidate = std::find_if(candidate, stored.end(), [&](const store::StoredPart& entry) {
      return entry.part.number >= part.number;
    });
    if (candidate == stored.end() || candidate->part.number != part.number ||
        candidate->part.etag.value != part.etag) {
      return InvalidPart(part, rules);
    }
    PENSTOCK_TRY(CheckPartChecksum(part, candidate->part, rules));
    matched.push_back(candidate->part);
  }
  PENSTOCK_TRY(CheckSizes(matched, rules));
  return matched;
}

ETag CompositeETag(const std::vector<store::PartRecord>& parts) {
  Digester digester(DigestAlgorithm::kMd5);
  for (const store::PartRecord& part : parts) {
    const auto raw = HexDecode(part.etag.value);
    if (raw) digester.Update(AsBytes(*raw));
  }
  return ETag(HexEncode(AsBytes(digester.Finish())) + "-" + std::to_string(parts.size()));
}

}  // namespace penstock::emulator::s3
