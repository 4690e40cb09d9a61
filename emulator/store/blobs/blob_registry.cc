#include "emulator/store/blobs/blob_registry.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "base/log/diagnostics.h"

namespace penstock::emulator::store {
namespace {

constinit DiagnosticEvent file_not_removed("store.blob_file_left");

}  // namespace

StoredBlob::~StoredBlob() { registry_->OnDestroyed(this); }

std::string BlobRegistry::PathOf(std::int64_t id) const {
  char name[32];
  std::snprintf(name, sizeof(name), "/blobs/%02x/%016llx", static_cast<unsigned>(id & 0xFF),
                static_cast<unsigned long long>(id));
  return directory_ + name;
}

StoredBlobPtr BlobRegistry::Find(std::int64_t id) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second.weak.lock();
}

void BlobRegistry::AddPending(const StoredBlobPtr& blob) {
  const MutexLock lock(mutex_);
  entries_[blob->id()] = {blob.get(), blob, nullptr, false};
}

StoredBlobPtr BlobRegistry::AddLoaded(const StoredBlobPtr& blob) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(blob->id());
  if (found == entries_.end()) {
    if (!blob->IsLinked()) return nullptr;
    entries_[blob->id()] = {blob.get(), blob, nullptr, true, false};
    return blob;
  }
  Entry& entry = found->second;
  if (entry.removing) return nullptr;
  if (StoredBlobPtr other = entry.weak.lock(); other != nullptr) return other;
  // The previous blob is about to be destroyed. The new one takes over the deletion of the bytes.
  entry.live = blob.get();
  entry.weak = blob;
  return blob;
}

void BlobRegistry::Referenced(const StoredBlobPtr& blob) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_[blob->id()];
  entry.live = blob.get();
  entry.weak = blob;
  entry.referenced = true;
  if (in_memory()) entry.keep = blob;
}

void BlobRegistry::Released(std::int64_t id, bool has_file) {
  StoredBlobPtr last;  // destroyed outside the lock
  {
    const MutexLock lock(mutex_);
    auto found = entries_.find(id);
    if (found != entries_.end()) {  // the last holder deletes the bytes
      found->second.referenced = false;
      last = std::move(found->second.keep);
      return;
    }
    if (!has_file) return;
    entries_[id].removing = true;
  }
  RemoveFile(id);
}

void BlobRegistry::DropReferences() {
  std::vector<StoredBlobPtr> last;  // destroyed outside the lock
  const MutexLock lock(mutex_);
  for (auto& [id, entry] : entries_) {
    if (entry.keep != nullptr) last.push_back(std::move(entry.keep));
  }
}

void BlobRegistry::OnDestroyed(const StoredBlob* blob) {
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(blob->id());
    // A duplicate that was loaded concurrently, or a replaced blob.
    if (found == entries_.end() || found->second.live != blob) return;
    if (found->second.referenced || in_memory() || blob->IsInline()) {
      entries_.erase(found);
      return;
    }
    found->second.removing = true;
  }
  RemoveFile(blob->id());
}

// Called by destructors. If memory runs out, the file stays until the next start deletes it.
void BlobRegistry::RemoveFile(std::int64_t id) noexcept {
  verified_.Forget(id);
  try {
    remover_.Remove(PathOf(id), [this, id] {
      const MutexLock lock(mutex_);
      entries_.erase(id);
    });
  } catch (...) {
    file_not_removed.Report(CurrentExceptionError());
    const MutexLock lock(mutex_);
    entries_.erase(id);
  }
}

}  // namespace penstock::emulator::store
