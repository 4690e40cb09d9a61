#include "client/cache/node_cache.h"

#include <functional>
#include <new>

#include "base/log/caught.h"
#include "base/log/diagnostics.h"
#include "client/memory/per_process.h"

namespace penstock::cache {
namespace {

constexpr std::uint64_t kMaxStoringBytes = 64 << 20;
constexpr std::size_t kMaxVerified = 1 << 18;
constexpr std::string_view kBookkeeping = "the bookkeeping of the node cache";

constinit DiagnosticEvent cache_unavailable("cache.unavailable");

struct OpenCaches {
  Mutex mutex;
  // Null: it could not be opened.
  std::map<std::string, std::unique_ptr<NodeCache>> caches PENSTOCK_GUARDED_BY(mutex);
};

std::size_t KeyOf(const BlockId& id) {
  return std::hash<std::string>()(id.hash) * 31 + std::hash<std::uint64_t>()(id.index);
}

}  // namespace

std::shared_ptr<BlockBytes> BlockBytes::Take(std::size_t size) {
  auto share = MemoryBudget::PerProcess().TryTake(size);
  if (!share) return nullptr;
  auto block = std::make_shared<BlockBytes>();
  block->bytes.reset(new (std::nothrow) std::byte[size]);
  if (block->bytes == nullptr) return nullptr;
  block->size = size;
  block->share = *std::move(share);
  block->share.SetInFlight(true);
  return block;
}

Result<NodeCache*> NodeCache::PerProcess(const NodeCacheConfig& config) {
  static constinit memory::PerProcess<OpenCaches> of_process;
  OpenCaches& open = of_process.Mine([](OpenCaches*) { return new OpenCaches; });
  const MutexLock lock(open.mutex);
  const auto known = open.caches.find(*config.directory);
  if (known != open.caches.end()) {
    NodeCache* const cache = known->second.get();
    if (cache != nullptr && config.max_bytes) cache->folder_->SetLimit(*config.max_bytes);
    return cache;
  }
  Result<std::unique_ptr<CacheFolder>> folder =
      CacheFolder::Open(*config.directory, config.max_bytes);
  if (!folder.ok() && folder.error().kind == ErrorKind::kInvalidArgument)
    return std::move(folder).error();
  std::unique_ptr<NodeCache>& made = open.caches[*config.directory];
  // A full or unreadable disk must not stop a program: it reads from S3.
  if (folder.ok()) made = std::make_unique<NodeCache>(std::move(folder).value());
  else cache_unavailable.Report(folder.error());
  return made.get();
}

BlockFetchPtr NodeCache::Find(const BlockId& id) const {
  const MutexLock lock(mutex_);
  const auto found = fetches_.find(id);
  return found == fetches_.end() ? nullptr : found->second;
}

std::vector<BlockFetchPtr> NodeCache::BeginFetches(const std::string& hash, std::uint64_t first,
                                                   std::uint64_t count) {
  std::vector<BlockFetchPtr> begun;
  begun.reserve(count);
  for (std::uint64_t index = first; index < first + count; ++index) {
    auto fetch = std::make_shared<BlockFetch>(BlockId{hash, index});
    {
      const MutexLock lock(mutex_);
      if (!fetches_.emplace(fetch->id, fetch).second) break;
    }
    if (!folder_->TryLockBlock(fetch->id)) {
      {
        const MutexLock lock(mutex_);
        fetches_.erase(fetch->id);
      }
      fetch->state = BlockFetch::State::kFailed;
      pool().Poke();
      break;
    }
    // Another process may have stored it just before this process got the lock.
    if (folder_->Has(fetch->id)) {
      Release(*fetch);
      fetch->state = BlockFetch::State::kFailed;
      pool().Poke();
      break;
    }
    begun.push_back(std::move(fetch));
  }
  return begun;
}

void NodeCache::Release(const BlockFetch& fetch) {
  // In this order: the lock of a block that this process locks again must not be released.
  folder_->UnlockBlock(fetch.id);
  const MutexLock lock(mutex_);
  fetches_.erase(fetch.id);
}

// The bytes are ready only once they are stored: a process that ends after its last read, such as a
// data loader worker, has then stored all that it read.
void NodeCache::Complete(const BlockFetchPtr& fetch, std::shared_ptr<const BlockBytes> data,
                         BlockHead head) {
  fetch->metadata = head.metadata;
  fetch->data = data;
  const std::uint64_t bytes = data->size;
  // A disk that is slower than the network must use up neither the memory nor the time.
  const bool store = storing_bytes_.fetch_add(bytes) <= kMaxStoringBytes;
  const auto end = [this, fetch, bytes] {
    storing_bytes_.fetch_sub(bytes);
    fetch->state = BlockFetch::State::kReady;
    Release(*fetch);
    pool().Poke();
  };
  const Result<bool> submitted = Caught(kBookkeeping, [&]() -> Result<bool> {
    return store && pool().Submit([this, fetch, data, head, end] {
      Contain(kBookkeeping, [&] {
        folder_->Add({.misses = 1, .miss_bytes = data->size});
        folder_->Store(fetch->id, head, data->view());
      });
      end();
    });
  });
  if (submitted.ok() && *submitted) return;
  end();
  Contain(kBookkeeping, [&] {  // not on this thread, which may be an I/O thread
    pool().Submit(
        [this, bytes] { folder_->Add({.misses = 1, .miss_bytes = bytes, .refused = 1}); });
  });
}

void NodeCache::Fail(const BlockFetchPtr& fetch, Error error) {
  fetch->error = std::move(error);
  Release(*fetch);
  fetch->state = BlockFetch::State::kFailed;
  pool().Poke();
}

void NodeCache::Drop(const ObjectVersion& version, std::uint64_t object_bytes,
                     const std::string& why) {
  const std::string hash = HashOf(version);
  folder_->RemoveDamaged({hash, 0}, why);
  for (std::uint64_t index = 1; index * kCacheBlockBytes < object_bytes; ++index)
    folder_->Remove({hash, index});
}

std::size_t NodeCache::in_flight() const {
  const MutexLock lock(mutex_);
  return fetches_.size();
}

bool NodeCache::IsVerified(const BlockId& id, const OpenBlock& block) const {
  const MutexLock lock(mutex_);
  const auto found = verified_.find(KeyOf(id));
  return found != verified_.end() && found->second == std::pair(block.inode, block.changed);
}

void NodeCache::SetVerified(const BlockId& id, const OpenBlock& block) {
  const MutexLock lock(mutex_);
  if (verified_.size() >= kMaxVerified) verified_.clear();
  verified_[KeyOf(id)] = {block.inode, block.changed};
}

}  // namespace penstock::cache
