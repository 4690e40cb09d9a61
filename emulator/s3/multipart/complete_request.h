// The <CompleteMultipartUpload> document and what it must hold against the uploaded parts
// (spec/protocol.md §2.11, §2.12). Pure.
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
  std::string etag;  // without quotes
  const ChecksumInfo* checksum_info = nullptr;
  std::string checksum;  // base64; empty: none given
};

// Tolerant of missing namespaces, white space, element order and bare ETags; strict about what is
// missing.
Result<std::vector<RequestedPart>> ParseCompleteRequest(std::string_view text);

struct PartRules {
  std::string upload_id;
  std::string checksum_algorithm;  // of the upload; empty: none
  std::string checksum_type;
  std::uint64_t min_part_size_bytes = 5ull << 20;
  bool consecutive = false;  // numbers have no gaps (spec §1.5 "MPU")
};
// The stored parts that the request names, in its order; or S3's refusal of the list.
Result<std::vector<store::PartRecord>> MatchParts(const std::vector<RequestedPart>& requested,
                                                  const std::vector<store::StoredPart>& stored,
                                                  const PartRules& rules);

// hex(MD5(concatenated raw MD5s)) + "-N".
ETag CompositeETag(const std::vector<store::PartRecord>& parts);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_MULTIPART_COMPLETE_REQUEST_H_
