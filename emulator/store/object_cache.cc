#include "emulator/store/object_cache.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent not_cached("store.object_not_cached");  // later reads use the database

// Record, list and index nodes, texts on the heap. Measured.
constexpr std::uint64_t kEntryOverhead = 768;

std::uint64_t WeightOf(const Attributes& attributes) {
  std::uint64_t weight = 0;
  for (const auto& [name, value] : attributes)
    weight += sizeof(attributes[0]) + name.size() + value.size();
  return weight;
}

}  // namespace

ObjectCache::ObjectCache(CacheLimits limits, std::shared_ptr<MemoryLimit> memory_limit)
    : per_shard_{limits.bytes / kShards, limits.descriptors / kShards},
      memory_limit_(std::move(memory_limit)) {
  for (Shard& shard : shards_) {
    const MutexLock lock(shard.mutex);
    shard.charge = MemoryCharge(memory_limit_.get());
  }
}

ObjectCache::Name ObjectCache::MakeName(std::string_view bucket, std::string_view key) {
  const std::hash<std::string_view> hash;
  return {bucket, key, hash(key) ^ (hash(bucket) * 0x9E3779B97F4A7C15ULL)};
}

ObjectCache::Ticket ObjectCache::TakeTicket(std::string_view bucket, std::string_view key) {
  Shard& shard = ShardOf(MakeName(bucket, key));
  const MutexLock lock(shard.mutex);
  return shard.writes;
}

ObjectPtr ObjectCache::Find(std::string_view bucket, std::string_view key) {
  const Name name = MakeName(bucket, key);
  Shard& shard = ShardOf(name);
  const MutexLock lock(shard.mutex);
  const auto found = shard.index.find(name);
  if (found == shard.index.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->object;
}

ObjectCache::Entries ObjectCache::MakeEntry(std::string_view bucket,
                                            const ObjectPtr& object) noexcept {
  try {
    Entries fresh;
    fresh.push_back({std::string(bucket), object});
    return fresh;
  } catch (...) {
    not_cached.Report(CurrentExceptionError());
    return {};
  }
}

void ObjectCache::Offer(std::string_view bucket, const ObjectPtr& object, Ticket ticket) noexcept {
  const Name name = MakeName(bucket, object->key.value);
  Shard& shard = ShardOf(name);
  Entries fresh = MakeEntry(bucket, object);
  Entries dropped;
  const MutexLock lock(shard.mutex);
  if (shard.writes == ticket && !IsHeld(shard, name)) Insert(shard, name, fresh, dropped);
}

void ObjectCache::Hold(std::string_view bucket, std::string_view key) {
  const Name name = MakeName(bucket, key);
  Shard& shard = ShardOf(name);
  Entries dropped;
  const MutexLock lock(shard.mutex);
  shard.held.push_back(name.hash);
  Remove(shard, name, dropped);
}

bool ObjectCache::IsHeld(const Shard& shard, const Name& name) noexcept {
  return std::find(shard.held.begin(), shard.held.end(), name.hash) != shard.held.end();
}

void ObjectCache::EndHold(Shard& shard, const Name& name) noexcept {
  const auto held = std::find(shard.held.begin(), shard.held.end(), name.hash);
  if (held == shard.held.end()) return;
  *held = shard.held.back();
  shard.held.pop_back();
}

void ObjectCache::Set(std::string_view bucket, const ObjectPtr& object) noexcept {
  const Name name = MakeName(bucket, object->key.value);
  Shard& shard = ShardOf(name);
  Entries fresh = MakeEntry(bucket, object);
  Entries dropped;
  const MutexLock lock(shard.mutex);
  ++shard.writes;
  EndHold(shard, name);
  if (IsHeld(shard, name)) return Remove(shard, name, dropped);
  Insert(shard, name, fresh, dropped);
}

void ObjectCache::Erase(std::string_view bucket, std::string_view key) noexcept {
  const Name name = MakeName(bucket, key);
  Shard& shard = ShardOf(name);
  Entries dropped;
  const MutexLock lock(shard.mutex);
  ++shard.writes;
  EndHold(shard, name);
  Remove(shard, name, dropped);
}

void ObjectCache::Reclaim() {
  for (Shard& shard : shards_) {
    Entries dropped;  // destroyed outside the lock
    const MutexLock lock(shard.mutex);
    shard.index.clear();
    dropped.swap(shard.entries);
    shard.bytes = shard.descriptors = 0;
    shard.charge.SetAnyway(0);
  }
}

void ObjectCache::Remove(Shard& shard, const Name& name, Entries& dropped) noexcept {
  const auto found = shard.index.find(name);
  if (found == shard.index.end()) return;
  const Entries::iterator entry = found->second;
  shard.bytes -= entry->bytes;
  shard.charge.SetAnyway(shard.bytes);
  shard.descriptors -= entry->descriptors;
  shard.index.erase(found);
  dropped.splice(dropped.begin(), shard.entries, entry);
}

void ObjectCache::Insert(Shard& shard, const Name& name, Entries& fresh,
                         Entries& dropped) noexcept {
  Remove(shard, name, dropped);
  if (fresh.empty()) return;
  Entry& entry = fresh.front();
  const ObjectRecord& object = *entry.object;
  entry.bytes = kEntryOverhead + object.key.value.size() + WeightOf(object.attributes) +
                WeightOf(object.tags) + object.parts.size() * sizeof(PartRecord);
  for (const ContentSlice& slice : object.content.slices) {
    entry.bytes += sizeof(ContentSlice);
    if (slice.blob->InFile()) {
      ++entry.descriptors;
    } else if (memory_limit_ == nullptr) {
      entry.bytes += slice.range.size();
    }
  }
  // One entry may use at most half a shard, so that a large one does not evict all others.
  if (entry.bytes > per_shard_.bytes / 2 || entry.descriptors > per_shard_.descriptors) return;
  while (!shard.entries.empty() &&
         (shard.bytes + entry.bytes > per_shard_.bytes ||
          shard.descriptors + entry.descriptors > per_shard_.descriptors)) {
    const Entry& oldest = shard.entries.back();
    Remove(shard, MakeName(oldest.bucket, oldest.object->key.value), dropped);
  }
  try {
    shard.index.emplace(Name{entry.bucket, entry.object->key.value, name.hash}, fresh.begin());
  } catch (...) {
    not_cached.Report(CurrentExceptionError());
    return;  // the only step that can fail; no other state has changed yet
  }
  shard.bytes += entry.bytes;
  shard.charge.SetAnyway(shard.bytes);
  shard.descriptors += entry.descriptors;
  shard.entries.splice(shard.entries.begin(), fresh);
}

}  // namespace penstock::emulator::store
