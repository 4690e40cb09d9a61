// Checksums of objects and parts: algorithms, digests of bytes, and combination of parts (Amazon
// S3 User Guide, "Checking object integrity in Amazon S3").
//
// Values are base64 of the big-endian digest, as in headers.
#ifndef PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/xml/xml.h"
#include "emulator/s3/checksums/xxhash_digester.h"
#include "emulator/s3/core/call.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

enum class ChecksumAlgorithm {
  kCrc32,
  kCrc32c,
  kCrc64Nvme,
  kSha1,
  kSha256,
  kSha512,
  kMd5,
  kXxhash64,
  kXxhash3,
  kXxhash128
};

struct ChecksumInfo {
  ChecksumAlgorithm algorithm;
  std::string_view name;     // "CRC32C"
  std::string_view lower;    // "crc32c"
  std::string_view header;   // "x-amz-checksum-crc32c"
  std::string_view element;  // "ChecksumCRC32C"
  std::size_t digest_bytes;
  bool full_object;  // Supports FULL_OBJECT in multipart uploads.
  bool composite;    // Supports COMPOSITE.
};

const ChecksumInfo& InfoOf(ChecksumAlgorithm algorithm);
// Finds an algorithm by its upper-case name ("CRC32C"). Returns nullptr if it is unknown.
const ChecksumInfo* FindChecksum(std::string_view name);
const ChecksumInfo* FindChecksumHeader(std::string_view header_name);
// Finds an algorithm by the name of its XML element ("ChecksumCRC32C").
const ChecksumInfo* FindChecksumElement(std::string_view element);

inline constexpr std::string_view kFullObject = "FULL_OBJECT";
inline constexpr std::string_view kComposite = "COMPOSITE";

// Digests a stream of bytes.
class ChecksumDigester {
 public:
  explicit ChecksumDigester(ChecksumAlgorithm algorithm);
  void Update(ByteView bytes);
  std::string Finish();  // Returns base64.

 private:
  ChecksumAlgorithm algorithm_;
  std::uint64_t crc_ = 0;
  std::optional<Digester> digester_;
  std::optional<XxhashDigester> xxhash_;
};

// The checksum and size of a part. Lists are in part order.
struct PartChecksum {
  std::string value;  // Base64.
  std::uint64_t size_bytes = 0;
};
// Returns base64(algorithm(concatenated raw digests)) + "-N".
std::string CompositeChecksum(ChecksumAlgorithm algorithm, const std::vector<PartChecksum>& parts);
// Combines the CRCs of the parts into the CRC of the whole content. Only for CRCs.
std::string FullObjectChecksum(ChecksumAlgorithm algorithm, const std::vector<PartChecksum>& parts);

// Writes <ChecksumCRC32>value</ChecksumCRC32> for the algorithm "CRC32". Writes nothing if the
// algorithm or the value is empty.
void WriteChecksum(XmlWriter& xml, std::string_view algorithm, std::string_view value);

// Adds x-amz-checksum-<algorithm>. `algorithm`: the upper-case name.
void AddChecksumHeader(Call& call, std::string_view algorithm, std::string_view value);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CHECKSUMS_CHECKSUMS_H_
