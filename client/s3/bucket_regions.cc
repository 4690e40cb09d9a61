#include "client/s3/bucket_regions.h"

namespace penstock::s3 {
namespace {

constexpr int kMaxEntries = 1024;

}  // namespace

void BucketRegions::Learn(const std::string& bucket, const std::string& region) {
  if (bucket.empty() || region.empty() || Find(bucket) == region) return;
  const std::uint64_t now = lessons_.fetch_add(1, std::memory_order_relaxed) + 1;
  const Entry* const known = entries_.FindNewest(
      [&](const Entry& candidate) { return candidate.bucket == bucket && candidate.region == region; });
  if (known != nullptr) return known->learned.store(now, std::memory_order_relaxed);
  if (count_.fetch_add(1, std::memory_order_relaxed) >= kMaxEntries) {
    count_.store(kMaxEntries, std::memory_order_relaxed);
    return;
  }
  entries_.Push({bucket, region, now});
}

void BucketRegions::Forget(std::string_view bucket, std::string_view region) {
  // All of them: two threads may have added the same pair.
  entries_.ForEach([&](const Entry& entry) {
    if (entry.bucket == bucket && entry.region == region) entry.learned.store(0, std::memory_order_relaxed);
  });
}

const BucketRegions::Entry* BucketRegions::FindEntry(std::string_view bucket) const {
  const Entry* last = nullptr;
  std::uint64_t learned = 0;
  entries_.ForEach([&](const Entry& entry) {
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
