// Inspection and repair of a cache, for tools.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/io/file_error.h"
#include "base/text/quantity.h"
#include "client/cache/cache_folder.h"

namespace penstock {
namespace {

using cache::CacheFolder;

WallTime TimeOf(std::int64_t nanoseconds) {
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(nanoseconds)));
}

// Compares the data of a block with its checksum.
bool IsIntact(const cache::OpenBlock& block) {
  std::vector<std::byte> data(static_cast<std::size_t>(block.head.data_bytes));
  return cache::ReadAt(block.file.get(), data, 0).ok() && Crc32c(data) == block.head.data_crc;
}

}  // namespace

Result<std::uint64_t> ParseCacheSize(const std::string& setting, const std::string& text) {
  const std::optional<std::uint64_t> bytes = ParseByteSize(text);
  if (bytes && *bytes >= kMinCacheBytes) return *bytes;
  return Error::Make(ErrorKind::kInvalidArgument,
                     setting +
                         " must be at least 16MiB: a number of bytes, or a number with kB, "
                         "MB, GB, TB, KiB, MiB, GiB or TiB, for example \"500GB\"; not `" +
                         text + "`")
      .About("cache");
}

Result<void> ListCache(const std::string& directory,
                       const std::function<bool(const CacheEntry&)>& entry) {
  PENSTOCK_ASSIGN(const auto folder, CacheFolder::OpenExisting(directory));
  return folder->Scan([&](const CacheFolder::Scanned& file) {
    if (!file.id) return true;
    const auto head = folder->Peek(*file.id);
    if (!head) return true;
    return entry({.endpoint = head->version.endpoint,
                  .bucket = head->version.bucket,
                  .key = head->version.key,
                  .etag = head->version.etag,
                  .offset = head->index * kCacheBlockBytes,
                  .size = head->data_bytes,
                  .object_size = head->metadata.size,
                  .stored = TimeOf(file.age.stored),
                  .used = TimeOf(file.age.used)});
  });
}

Result<CacheStats> ReadCacheStats(const std::string& directory) {
  PENSTOCK_ASSIGN(const auto folder, CacheFolder::OpenExisting(directory));
  return folder->stats();
}

Result<CacheCheck> VerifyCache(const std::string& directory) {
  PENSTOCK_ASSIGN(const auto folder, CacheFolder::OpenExisting(directory));
  CacheCheck check;
  Result<void> first_failure = Ok();
  const auto fails = [&](Error error) {
    error.message += "; it is in the place of a block of the cache: remove it, or correct its mode";
    if (first_failure.ok()) first_failure = std::move(error);
    return true;
  };
  PENSTOCK_TRY(folder->Scan([&](const CacheFolder::Scanned& file) {
    if (!file.id) return true;
    auto block = folder->OpenBlockFile(*file.id);  // removes a file with a damaged footer
    if (!block.ok() && block.error().kind == ErrorKind::kNotFound)
      return true;  // evicted meanwhile
    if (!block.ok() && block.error().kind != ErrorKind::kDataLoss)
      return fails(std::move(block).error());
    const bool intact = block.ok() && IsIntact(*block);
    if (block.ok() && !intact) {
      const int kept = folder->RemoveDamaged(*file.id, "the checksum of a block differs");
      if (kept != 0) return fails(FileError("remove", folder->PathOf(*file.id), kept));
    }
    ++(intact ? check.blocks : check.damaged);
    (intact ? check.bytes : check.damaged_bytes) += file.age.bytes;
    return true;
  }));
  folder->Flush();
  if (!first_failure.ok()) return std::move(first_failure).error();
  return check;
}

Result<CachePrune> PruneCache(const std::string& directory, std::uint64_t keep_bytes) {
  PENSTOCK_ASSIGN(const auto folder, CacheFolder::OpenExisting(directory));
  PENSTOCK_ASSIGN(const auto pruned, folder->Shrink(keep_bytes, true));
  if (pruned) return *pruned;
  return Error::Make(ErrorKind::kConflict, "another process evicts blocks from the cache '" +
                                               directory + "' at this moment; try again");
}

}  // namespace penstock
