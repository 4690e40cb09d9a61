#include "client/s3/endpoint/bucket_regions.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

namespace penstock::s3 {
namespace {

std::uint64_t HashOf(std::string_view bucket) { return std::hash<std::string_view>{}(bucket); }

std::uint64_t WordOf(std::string_view text, std::size_t index) {
  std::uint64_t word = 0;
  const std::size_t begin = index * sizeof(word);
  if (begin < text.size())
    std::memcpy(&word, text.data() + begin, std::min(sizeof(word), text.size() - begin));
  return word;
}

}  // namespace

// Release and acquire for each word: a reader that sees one word of a write also sees its odd
// version.
void BucketRegions::Text::Store(std::string_view text) {
  for (std::size_t i = 0; i < words_.size(); ++i)
    words_[i].store(WordOf(text, i), std::memory_order_release);
}

bool BucketRegions::Text::Equals(std::string_view text) const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i].load(std::memory_order_acquire) != WordOf(text, i)) return false;
  }
  return true;
}

std::string BucketRegions::Text::Load() const {
  std::string text(kBytes, '\0');
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t word = words_[i].load(std::memory_order_acquire);
    std::memcpy(text.data() + i * sizeof(word), &word, sizeof(word));
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

bool BucketRegions::Place::Holds(std::uint64_t hash, std::string_view bucket,
                                 std::string_view region) const {
  return learned() != 0 && RegionOf(hash, bucket) == region;
}

std::string BucketRegions::Place::RegionOf(std::uint64_t hash, std::string_view bucket) const {
  if (hash_.load(std::memory_order_acquire) != hash) return {};
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (version % 2 != 0 || !bucket_.Equals(bucket)) return {};
  std::string region = region_.Load();
  return version_.load(std::memory_order_relaxed) == version ? region : std::string();
}

void BucketRegions::Place::Write(std::uint64_t hash, std::string_view bucket,
                                 std::string_view region, std::uint64_t when) {
  std::uint64_t version = version_.load(std::memory_order_relaxed);
  if (version % 2 != 0 ||
      !version_.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel))
    return;
  hash_.store(hash, std::memory_order_release);
  bucket_.Store(bucket);
  region_.Store(region);
  learned_.store(when, std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
}

BucketRegions::Table& BucketRegions::MakeTable() {
  auto made = std::make_unique<Table>();
  Table* there = nullptr;
  return *(table_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)
               ? made.release()
               : there);
}

void BucketRegions::Learn(std::string_view bucket, std::string_view region) {
  if (bucket.empty() || region.empty() || bucket.size() > Text::kBytes ||
      region.size() > Text::kBytes)
    return;
  if (Find(bucket) == region) return;
  const std::uint64_t hash = HashOf(bucket);
  const std::uint64_t now = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  Table* const table = table_.load(std::memory_order_acquire);
  Set& set = (table != nullptr ? *table : MakeTable())[hash % kSets];
  // A known pair keeps its slot, so that alternate Learn and Forget use no further slots.
  const auto known = std::find_if(set.begin(), set.end(), [&](const Place& place) {
    return place.Holds(hash, bucket, region);
  });
  if (known != set.end()) return known->Confirm(now);
  const auto oldest = std::min_element(set.begin(), set.end(), [](const Place& a, const Place& b) {
    return a.learned() < b.learned();
  });
  oldest->Write(hash, bucket, region, now);
}

void BucketRegions::Forget(std::string_view bucket, std::string_view region) {
  Table* const table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return;
  const std::uint64_t hash = HashOf(bucket);
  // Forget all copies: two threads may have added the same pair.
  for (Place& place : (*table)[hash % kSets]) {
    if (place.Holds(hash, bucket, region)) place.Forget();
  }
}

std::string BucketRegions::Find(std::string_view bucket) const {
  const Table* const table = table_.load(std::memory_order_acquire);
  if (table == nullptr) return {};
  const std::uint64_t hash = HashOf(bucket);
  std::string last;
  std::uint64_t learned = 0;
  for (const Place& place : (*table)[hash % kSets]) {
    const std::uint64_t at = place.learned();
    if (at <= learned) continue;
    std::string region = place.RegionOf(hash, bucket);
    if (!region.empty()) last = std::move(region), learned = at;
  }
  return last;
}

}  // namespace penstock::s3
