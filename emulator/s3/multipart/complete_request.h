// The <CompleteMultipartUpload> document, and the check of its parts against the uploaded parts.
// Pure.
#ifndef PENSTOCK_EMULATOR_S3_MULTIPART_COMPLETE_REQUEST_H_
#define PENSTOCK_EMULATOR_S3_MULTIPART_COMPLETE_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/checksums/checksums.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

struct RequestedPart {
  int number = 0;
  std::string etag;  // Without quotes.
  const ChecksumInfo* checksum_info = nullptr;
  std::string checksum;  // Base64. Empty: none.
};

// Accepts missing namespaces, white space, any order of elements and ETags without quotes. Returns
// an error if a required element is missing.
Result<std::vector<RequestedPart>> ParseCompleteRequest(std::string_view text);

struct PartRules {
  std::string upload_id;
  std::string checksum_algorithm;  // Of the upload. Empty: none.
  std::string checksum_type;
  std::uint64_t min_part_size_bytes = 5ull << 20;
  bool consecutive = false;  // Numbers must not have gaps (directory buckets).
};
// Returns the stored parts in the order of the request, or S3's error for the list.
Result<std::vector<store::PartRecord>> MatchParts(const std::vector<RequestedPart>& requested,
                                                  const std::vector<store::StoredPart>& stored,
                                                  const PartRules& rules);

// Returns hex(MD5(concatenated MD5s of the parts)) + "-N".
ETag CompositeETag(const std::vector<store::PartRecord>& parts);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_MULTIPART_COMPLETE_REQUEST_H_
