// A block of one version of an object, as a file: the bytes, then a footer with identity and
// checksums.
//
// The bytes come first, so that they are aligned to pages for mmap. A file is written under a
// temporary name and renamed. Without fsync: after a power failure the checksums show whether
// the file is complete.
#ifndef PENSTOCK_CLIENT_CACHE_BLOCK_FILE_H_
#define PENSTOCK_CLIENT_CACHE_BLOCK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/node_cache.h"
#include "penstock/object_store.h"

namespace penstock::cache {

// One version of an object. The ETag decides: a replaced object has another identity.
struct ObjectVersion {
  std::string endpoint;
  std::string bucket;
  std::string key;
  std::string etag;

  bool operator==(const ObjectVersion&) const = default;
};

// Names the files of a version: 64 hexadecimal digits.
std::string HashOf(const ObjectVersion& version);

struct BlockId {
  std::string hash;  // HashOf the version.
  std::uint64_t index = 0;

  std::string Path() const;  // Relative to the cache: "ab/cdef....0".
  auto operator<=>(const BlockId&) const = default;
};

// Parses a path of BlockId::Path. Nullopt: another file.
std::optional<BlockId> ParseBlockPath(std::string_view folder, std::string_view name);

// What the footer says.
struct BlockHead {
  ObjectVersion version;
  std::uint64_t index = 0;
  std::uint64_t data_bytes = 0;
  std::uint32_t data_crc = 0;  // CRC-32C
  // The metadata came from a response that covers the whole object, so it has all checksums.
  bool complete_metadata = false;
  // `range` is unset.
  ObjectMetadata metadata;
};

// The number of bytes that block `index` of an object has. 0: it is beyond the end.
std::uint64_t BytesOfBlock(std::uint64_t index, std::uint64_t object_bytes);

// Longer footers are not read.
inline constexpr std::size_t kMaxFooterBytes = 64 << 10;

std::string EncodeFooter(const BlockHead& head);
// Returns kDataLoss unless `tail`, the last bytes of a file of `file_bytes` bytes, ends in a whole
// footer that fits the file.
Result<BlockHead> DecodeFooter(std::string_view tail, std::uint64_t file_bytes);

// Reads and checks the footer of an open file, not the data. An identity that differs from `id` is
// kDataLoss.
Result<BlockHead> ReadHead(int fd, const BlockId& id, std::uint64_t file_bytes);
// Reads `into.size()` bytes at `offset`. A shorter file is kDataLoss.
Result<void> ReadAt(int fd, MutableByteView into, std::uint64_t offset);

}  // namespace penstock::cache

#endif  // PENSTOCK_CLIENT_CACHE_BLOCK_FILE_H_
