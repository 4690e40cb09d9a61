#include "emulator/s3/checksums/checksum_claims.h"

#include <optional>

#include "base/encoding.h"
#include "emulator/s3/core/strict.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kPrefix = "x-amz-checksum-";
// x-amz-checksum-* headers that are settings, not checksum values.
constexpr std::string_view kSettings[] = {"x-amz-checksum-mode", "x-amz-checksum-type",
                                          "x-amz-checksum-algorithm"};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  for (const std::string_view known : names) {
    if (EqualsIgnoreCase(known, name)) return true;
  }
  return false;
}

Error InvalidValue(const ChecksumInfo& info) {
  return InvalidRequest("Value for " + std::string(info.header) + " header is invalid.");
}

bool IsDigest(const ChecksumInfo& info, std::string_view value) {
  const auto raw = Base64Decode(value);
  return raw && raw->size() == info.digest_bytes;
}

// Returns the algorithm of a checksum header or trailer; null for names that are not checksum
// values.
Result<const ChecksumInfo*> AlgorithmOfName(std::string_view name) {
  if (!StartsWithIgnoreCase(name, kPrefix) || Contains(kSettings, name)) return nullptr;
  if (const ChecksumInfo* info = FindChecksumHeader(name)) return info;
  return InvalidRequest("The algorithm type you specified in x-amz-checksum- header is invalid.");
}

Result<void> AddClaim(ChecksumClaim& claim, std::string_view name, std::string_view value) {
  PENSTOCK_ASSIGN(const ChecksumInfo* info, AlgorithmOfName(name));
  if (info == nullptr) return Ok();
  if (claim.info != nullptr) {
    return InvalidRequest(
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  }
  claim = {info, std::string(value)};
  return Ok();
}

// Returns the x-amz-checksum-* value in the headers or, for a presigned request, in the query.
Result<ChecksumClaim> HeaderClaim(const Call& call) {
  ChecksumClaim claim;
  for (const HeaderView& header : call.exchange.request.headers) {
    PENSTOCK_TRY(AddClaim(claim, header.name, header.value));
  }
  if (call.presigned) {
    for (const QueryParameter& parameter : call.exchange.target.query) {
      if (!IsHeaderInQuery(parameter.name)) continue;
      // Authentication has already made it a header.
      if (call.exchange.request.Find(parameter.name)) continue;
      PENSTOCK_TRY(AddClaim(claim, parameter.name, parameter.value));
    }
  }
  if (claim.info != nullptr && claim.value.empty()) return InvalidValue(*claim.info);
  return claim;
}

// Reads "x-amz-trailer: x-amz-checksum-crc32", which announces the algorithm. The value follows the
// body.
Result<void> AddTrailerClaim(const Call& call, ChecksumClaim& claim) {
  const auto announced = call.Header("x-amz-trailer");
  if (!announced) return Ok();
  const std::string_view name = TrimBlanks(*announced);
  if (name.empty()) return MakeError("MalformedTrailerError");
  const ChecksumInfo* info = FindChecksumHeader(name);
  if (info == nullptr) {
    return InvalidRequest("The value specified in the x-amz-trailer header is not supported");
  }
  if (claim.info != nullptr) return InvalidRequest("Expecting a single x-amz-checksum- header");
  claim.info = info;
  return Ok();
}

// x-amz-sdk-checksum-algorithm has no effect, but must match the checksum.
Result<void> CheckSdkAlgorithm(const Call& call, const ChecksumClaim& claim) {
  const auto named = call.Header("x-amz-sdk-checksum-algorithm");
  if (!named || named->empty()) return Ok();
  if (claim.info == nullptr) {
    return InvalidRequest(
        "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or "
        "x-amz-trailer headers were "
        "found.");
  }
  if (!EqualsIgnoreCase(*named, claim.info->name)) {
    return InvalidRequest("Value for x-amz-sdk-checksum-algorithm header is invalid.");
  }
  return Ok();
}

}  // namespace

Error UnsupportedChecksumAlgorithm() {
  return InvalidRequest(
      "Checksum algorithm provided is unsupported. Please try again with any of the valid types: "
      "[CRC32, CRC32C, CRC64NVME, MD5, SHA1, SHA256, SHA512, XXHASH128, XXHASH3, XXHASH64]");
}

Result<ChecksumClaim> ReadChecksumClaim(const Call& call) {
  if (!call.families.checksum) return ChecksumClaim{};
  PENSTOCK_ASSIGN(ChecksumClaim claim, HeaderClaim(call));
  if (claim.info != nullptr && !IsDigest(*claim.info, claim.value))
    return InvalidValue(*claim.info);
  PENSTOCK_TRY(AddTrailerClaim(call, claim));
  PENSTOCK_TRY(CheckSdkAlgorithm(call, claim));
  return claim;
}

Result<ChecksumClaim> ReadWholeObjectClaim(const Call& call) {
  if (!call.families.checksum) return ChecksumClaim{};
  PENSTOCK_ASSIGN(ChecksumClaim claim, HeaderClaim(call));
  if (claim.info == nullptr) return claim;
  const std::string_view digest = std::string_view(claim.value).substr(0, claim.value.find('-'));
  if (!IsDigest(*claim.info, digest)) return InvalidValue(*claim.info);
  return claim;
}

Result<void> TakeTrailer(ChecksumClaim& claim,
                         const std::vector<std::pair<std::string, std::string>>& trailers) {
  const bool expected = claim.in_trailer();
  for (const auto& [name, value] : trailers) {
    if (!StartsWithIgnoreCase(name, kPrefix)) continue;
    if (!expected || !EqualsIgnoreCase(name, claim.info->header))
      return MakeError("MalformedTrailerError");
    if (!IsDigest(*claim.info, value)) {
      return InvalidRequest("Value for " + std::string(claim.info->header) +
                            " trailing header is invalid.");
    }
    claim.value = value;
  }
  if (expected && claim.value.empty()) return MakeError("MalformedTrailerError");
  return Ok();
}

Result<void> VerifyChecksum(const ChecksumClaim& claim, std::string_view computed) {
  if (claim.info == nullptr || claim.value == computed) return Ok();
  return MakeError("BadDigest", {},
                   "The " + std::string(claim.info->name) +
                       " you specified did not match the calculated checksum.");
}

}  // namespace penstock::emulator::s3
