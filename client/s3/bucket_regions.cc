#include "client/s3/bucket_regions.h"

#include <functional>

namespace penstock::s3 {
namespace {

constexpr int kMaxEntries = 1024;

}  // namespace

std::size_t BucketRegions::ChainOf(std::string_view bucket) { return std::hash<std::string_view>{}(bucket) % kChains; }

void BucketRegions::Learn(const std::string& bucket, const std::string& region) {
  if (bucket.empty() || region.empty()) return;
  if (const Entry* last = FindEntry(bucket); last != nullptr && last->region == region) return;
  const std::uint64_t now = lessons_.fetch_add(1, std::memory_order_relaxed) + 1;
  Chain& chain = chains_[ChainOf(bucket)];
  const Entry* const known = chain.FindNewest(
      [&](const Entry& candidate) { return candidate.bucket == bucket && candidate.region == region; });
  if (known != nullptr) return known->learned.store(now, std::memory_order_relaxed);
  if (count_.fetch_add(1, std::memory_order_relaxed) >= kMaxEntries) {
    count_.store(kMaxEntries, std::memory_order_relaxed);
    return;
  }
  chain.Push({bucket, region, now});
}

void BucketRegions::Forget(std::string_view bucket, std::string_view region) {
  // All of them: two threads may have added the same pair.
  chains_[ChainOf(bucket)].ForEach([&](const Entry& entry) {
    if (entry.bucket == bucket && entry.region == region) entry.learned.store(0, std::memory_order_relaxed);
  });
}

const BucketRegions::Entry* BucketRegions::FindEntry(std::string_view bucket) const {
  const Entry* last = nullptr;
  std::uint64_t learned = 0;
  chains_[ChainOf(bucket)].ForEach([&](const Entry& entry) {
    const std::uint64_t at = entry.bucket == bucket ? entry.learned.load(std::memory_order_relaxed) : 0;
    if (at > learned) last = &entry, learned = at;
  });
  return last;
}

std::string BucketRegions::Find(std::string_view bucket) const {
  const Entry* entry = FindEntry(bucket);
  return entry == nullptr ? std::string() : entry->region;
}

}  // namespace penstock::s3
