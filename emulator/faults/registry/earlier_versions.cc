#include "emulator/faults/registry/earlier_versions.h"

#include <optional>
#include <string_view>

namespace penstock::emulator::faults {
namespace {

// Returns the version in the bucket that precedes the version `id`, or the latest one if there is
// no `id`.
store::ObjectPtr KeptBefore(const s3::Exchange& exchange,
                            const std::optional<std::string_view>& id) {
  store::Store& store = *exchange.space->store;
  const BucketName& bucket = exchange.target.bucket;
  const ObjectKey& key = exchange.target.key;
  const auto page = store.List(store::ListVersions{.bucket = bucket, .prefix = key.value});
  if (!page.ok()) return nullptr;
  bool passed = false;
  for (const store::ListEntry& entry : page->entries) {
    if (entry.key != key.value) break;
    if (passed && !entry.is_delete_marker) {
      const auto found = store.FindObject(bucket, key, VersionId(std::string(entry.version_id)));
      return found.ok() ? *found : nullptr;
    }
    passed = passed || !id || entry.version_id == *id;
  }
  return nullptr;
}

}  // namespace

void EarlierVersions::Record(const std::string& bucket, store::ObjectPtr object) {
  Name name(bucket, object->key.value);
  const MutexLock lock(mutex_);
  const auto [at, added] = objects_.insert_or_assign(name, std::move(object));
  if (!added) return;
  order_.push_back(std::move(name));
  if (order_.size() <= kMax) return;
  objects_.erase(order_.front());
  order_.pop_front();
}

store::ObjectPtr EarlierVersions::Find(const std::string& bucket, const std::string& key) const {
  const MutexLock lock(mutex_);
  const auto found = objects_.find({bucket, key});
  return found == objects_.end() ? nullptr : found->second;
}

void EarlierVersions::Clear() {
  const MutexLock lock(mutex_);
  objects_.clear();
  order_.clear();
}

store::ObjectPtr CurrentObject(const s3::Exchange& exchange) {
  const auto found =
      exchange.space->store->FindObject(exchange.target.bucket, exchange.target.key, std::nullopt);
  return found.ok() && !(*found)->is_delete_marker ? *found : nullptr;
}

store::ObjectPtr VersionBefore(const s3::Exchange& exchange, const EarlierVersions& versions) {
  const auto id = exchange.target.Get("versionId");
  store::ObjectPtr object =
      id ? nullptr : versions.Find(exchange.target.bucket.value, exchange.target.key.value);
  return object ? object : KeptBefore(exchange, id);
}

bool DeletesCurrent(const s3::Exchange& exchange) {
  return exchange.operation == "DeleteObject" && !exchange.target.Has("versionId");
}

}  // namespace penstock::emulator::faults
