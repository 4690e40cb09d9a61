// The node cache for tools: listing, counters, verification, removal.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/errors.h"
#include "penstock/node_cache.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

double Seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

// One row for each object version: its identity, size, cached bytes and blocks, and last use.
py::list Objects(const std::string& directory) {
  struct Row {
    CacheEntry entry;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Row> rows;
  auto listed = WithoutGil([&] {
    return ListCache(directory, [&](const CacheEntry& entry) {
      Row& row = rows[{entry.endpoint, entry.bucket, entry.key, entry.etag}];
      if (row.blocks == 0 || entry.used > row.entry.used) row.entry = entry;
      row.bytes += entry.size;
      ++row.blocks;
      return true;
    });
  });
  Unwrap(std::move(listed));
  py::list result;
  for (const auto& [identity, row] : rows) {
    const CacheEntry& entry = row.entry;
    result.append(py::dict("endpoint"_a = entry.endpoint, "bucket"_a = entry.bucket,
                           "key"_a = KeyToPython(entry.key), "etag"_a = entry.etag,
                           "object_size"_a = entry.object_size, "cached_bytes"_a = row.bytes,
                           "blocks"_a = row.blocks, "used"_a = Seconds(entry.used)));
  }
  return result;
}

py::dict Stats(const std::string& directory) {
  const CacheStats stats = Unwrap(WithoutGil([&] { return ReadCacheStats(directory); }));
  return py::dict("stored_bytes"_a = stats.stored_bytes, "hits"_a = stats.hits,
                  "hit_bytes"_a = stats.hit_bytes, "misses"_a = stats.misses,
                  "miss_bytes"_a = stats.miss_bytes, "stored"_a = stats.stored,
                  "refused"_a = stats.refused, "evicted"_a = stats.evicted,
                  "damaged"_a = stats.damaged, "errors"_a = stats.errors);
}

py::dict Verify(const std::string& directory) {
  const CacheCheck check = Unwrap(WithoutGil([&] { return VerifyCache(directory); }));
  return py::dict("blocks"_a = check.blocks, "bytes"_a = check.bytes, "damaged"_a = check.damaged,
                  "damaged_bytes"_a = check.damaged_bytes);
}

py::dict Prune(const std::string& directory, std::uint64_t keep_bytes) {
  const CachePrune pruned = Unwrap(WithoutGil([&] { return PruneCache(directory, keep_bytes); }));
  return py::dict("removed"_a = pruned.removed, "removed_bytes"_a = pruned.removed_bytes,
                  "kept_bytes"_a = pruned.kept_bytes);
}

}  // namespace

void BindCache(py::module_& module) {
  module.def("cache_objects", &Objects, "directory"_a, "The object versions in a node cache.");
  module.def("cache_stats", &Stats, "directory"_a,
             "Counters of all processes that use a node cache.");
  module.def("cache_verify", &Verify, "directory"_a, "Removes damaged blocks of a node cache.");
  module.def("cache_prune", &Prune, "directory"_a, "keep_bytes"_a,
             "Removes the least recently used blocks of a node cache.");
}

}  // namespace penstock::python
