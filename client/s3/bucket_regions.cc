#include "client/s3/bucket_regions.h"

namespace penstock::s3 {
namespace {

constexpr int kMaxEntries = 1024;

}  // namespace

void BucketRegions::Learn(const std::string& bucket, const std::string& region) {
  if (bucket.empty() || Find(bucket) == region) return;
  if (count_.fetch_add(1, std::memory_order_relaxed) >= kMaxEntries) {
    count_.store(kMaxEntries, std::memory_order_relaxed);
    return;
  }
  entries_.Push({bucket, region});
}

std::string BucketRegions::Find(std::string_view bucket) const {
  const Entry* entry = entries_.FindNewest([bucket](const Entry& candidate) { return candidate.bucket == bucket; });
  return entry == nullptr ? std::string() : entry->region;
}

}  // namespace penstock::s3
