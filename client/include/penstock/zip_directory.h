// The directory of a zip file, which lists its records. No I/O. Section numbers refer to PKWARE's
// APPNOTE.TXT 6.3.10.
#ifndef PENSTOCK_ZIP_DIRECTORY_H_
#define PENSTOCK_ZIP_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// Position of the directory: bytes [begin, end) of the file.
struct ZipDirectory {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t entries = 0;  // As the end record states.
  // Bytes after the end record: a comment, or bytes that are not part of the archive.
  std::uint64_t trailing_bytes = 0;
};

// Finds the directory of a file of `file_bytes` bytes that ends with `tail`. Returns nullopt if
// `tail` does not contain its end records, or if the directory exceeds the file. Accepts any bytes.
std::optional<ZipDirectory> FindZipDirectory(std::string_view tail, std::uint64_t file_bytes);

struct ZipEntry {
  std::string_view name;
  std::uint64_t header = 0;  // Offset of the local header.
  std::uint32_t crc32 = 0;   // Of the content; 0 if it was not computed.
  std::uint64_t stored_bytes = 0;
  std::uint64_t content_bytes = 0;  // After decompression.
  std::uint16_t method = 0;         // 0: stored. Other values: compressed.
  bool encrypted = false;
  std::uint32_t attributes = 0;  // External attributes, 4.4.15.
};

// Returns the entries in the order of the directory. Names are views into `directory`. Returns
// nullopt if the bytes are not a sequence of entries, or if a number is 2^62 or more. Accepts any
// bytes.
std::optional<std::vector<ZipEntry>> ReadZipDirectory(std::string_view directory);

// Bytes of a local header with the lengths of its name and extra field, 4.3.7.
inline constexpr std::size_t kZipLocalHeaderBytes = 30;

// Returns the bytes from the start of a local header to the content, or nullopt if `header` does
// not begin with a local header. Accepts any bytes.
std::optional<std::uint64_t> ZipContentOffset(std::string_view header);

// Whether a record that has the CRC-32 0 in the directory was saved without one, as far as can be
// seen: its data descriptor, 4.3.9, or its local header if it has none, has no CRC-32 either.
// `header`: its local header. `behind`: at least the 12 bytes behind its content. Accepts any
// bytes.
bool IsSavedWithoutCrc(std::string_view header, std::string_view behind,
                       std::uint64_t content_bytes);

}  // namespace penstock

#endif  // PENSTOCK_ZIP_DIRECTORY_H_
