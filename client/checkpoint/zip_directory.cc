#include "penstock/zip_directory.h"

namespace penstock {
namespace {

constexpr std::size_t kEndBytes = 22;        // 4.3.16, without a comment
constexpr std::size_t kLocatorBytes = 20;    // 4.3.15
constexpr std::size_t kEnd64Bytes = 56;      // 4.3.14
constexpr std::size_t kEntryBytes = 46;      // 4.3.12
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // 4.4.1.4: the value is in the zip64 field
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

template <class Number>
Number At(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return static_cast<Number>(value);
}

// 4.5.3: the zip64 field has the values that did not fit, in this order.
bool Widen(std::string_view extra, ZipEntry& entry) {
  std::vector<std::uint64_t*> wide;
  for (std::uint64_t* value : {&entry.content_bytes, &entry.stored_bytes, &entry.header}) {
    if (*value == kIn64) wide.push_back(value);
  }
  while (!wide.empty()) {
    if (extra.size() < 4) return false;
    const std::size_t size = At<std::uint16_t>(extra, 2);
    if (extra.size() - 4 < size) return false;
    if (At<std::uint16_t>(extra, 0) == 1) {
      if (size < 8 * wide.size()) return false;
      for (std::size_t i = 0; i < wide.size(); ++i) *wide[i] = At<std::uint64_t>(extra, 4 + 8 * i);
      break;
    }
    extra.remove_prefix(4 + size);
  }
  return entry.content_bytes < kMaxBytes && entry.stored_bytes < kMaxBytes &&
         entry.header < kMaxBytes;
}

}  // namespace

std::optional<ZipDirectory> FindZipDirectory(std::string_view tail, std::uint64_t file_bytes) {
  if (tail.size() < kEndBytes || tail.size() > file_bytes) return std::nullopt;
  const std::size_t at = tail.rfind("PK\5\6", tail.size() - kEndBytes);
  if (at == std::string_view::npos) return std::nullopt;
  // Without the bytes before, it is unknown whether a locator of zip64 precedes.
  if (at < kLocatorBytes && tail.size() < file_bytes) return std::nullopt;
  std::uint64_t size = At<std::uint32_t>(tail, at + 12);
  ZipDirectory found{.begin = At<std::uint32_t>(tail, at + 16),
                     .entries = At<std::uint16_t>(tail, at + 10),
                     .trailing_bytes = tail.size() - at - kEndBytes};
  if (at >= kLocatorBytes && tail.substr(at - kLocatorBytes, 4) == std::string_view("PK\6\7", 4)) {
    const std::uint64_t tail_begin = file_bytes - tail.size();
    const std::uint64_t offset = At<std::uint64_t>(tail, at - kLocatorBytes + 8);
    if (offset < tail_begin || offset - tail_begin > tail.size()) return std::nullopt;
    const std::string_view end64 = tail.substr(offset - tail_begin, kEnd64Bytes);
    if (end64.size() < kEnd64Bytes || end64.substr(0, 4) != "PK\6\6") return std::nullopt;
    found.entries = At<std::uint64_t>(end64, 32);
    size = At<std::uint64_t>(end64, 40);
    found.begin = At<std::uint64_t>(end64, 48);
  }
  if (found.begin > file_bytes || size > file_bytes - found.begin) return std::nullopt;
  found.end = found.begin + size;
  return found;
}

std::optional<std::vector<ZipEntry>> ReadZipDirectory(std::string_view directory) {
  std::vector<ZipEntry> entries;
  while (!directory.empty()) {
    if (directory.size() < kEntryBytes || directory.substr(0, 4) != "PK\1\2") return std::nullopt;
    const std::size_t name = At<std::uint16_t>(directory, 28);
    const std::size_t extra = At<std::uint16_t>(directory, 30);
    const std::size_t all = kEntryBytes + name + extra + At<std::uint16_t>(directory, 32);
    if (directory.size() < all) return std::nullopt;
    ZipEntry entry{.name = directory.substr(kEntryBytes, name),
                   .header = At<std::uint32_t>(directory, 42),
                   .crc32 = At<std::uint32_t>(directory, 16),
                   .stored_bytes = At<std::uint32_t>(directory, 20),
                   .content_bytes = At<std::uint32_t>(directory, 24),
                   .method = At<std::uint16_t>(directory, 10),
                   .encrypted = (At<std::uint16_t>(directory, 8) & 1) != 0,
                   .attributes = At<std::uint32_t>(directory, 38)};
    if (!Widen(directory.substr(kEntryBytes + name, extra), entry)) return std::nullopt;
    entries.push_back(entry);
    directory.remove_prefix(all);
  }
  return entries;
}

std::optional<std::uint64_t> ZipContentOffset(std::string_view header) {
  if (header.size() < kZipLocalHeaderBytes || header.substr(0, 4) != "PK\3\4") return std::nullopt;
  return kZipLocalHeaderBytes + At<std::uint16_t>(header, 26) + At<std::uint16_t>(header, 28);
}

bool IsSavedWithoutCrc(std::string_view header, std::string_view behind,
                       std::uint64_t content_bytes) {
  constexpr std::uint16_t kHasDescriptor = 8;  // 4.4.4
  if (header.size() < kZipLocalHeaderBytes) return false;
  if ((At<std::uint16_t>(header, 6) & kHasDescriptor) == 0)
    return At<std::uint32_t>(header, 14) == 0;
  return behind.size() >= 12 && behind.substr(0, 4) == "PK\7\10" &&
         At<std::uint32_t>(behind, 4) == 0 &&
         At<std::uint32_t>(behind, 8) == static_cast<std::uint32_t>(content_bytes);
}

}  // namespace penstock
