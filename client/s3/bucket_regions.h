// The regions of buckets, as S3's redirects taught them.
#ifndef PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_
#define PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "client/s3/append_only_list.h"

namespace penstock::s3 {

// Remembers up to 1024 pairs of bucket and region; later ones are followed per call but not kept. Every request asks: a
// bucket is looked for among those of its hash, about four where all room is taken.
//
// Thread safety: safe from any thread.
class BucketRegions {
 public:
  void Learn(const std::string& bucket, const std::string& region);
  // The bucket was not found there. Does nothing where another region has been learned since.
  void Forget(std::string_view bucket, std::string_view region);
  // The last region learned and not forgotten, or empty.
  std::string Find(std::string_view bucket) const;

 private:
  // Stays where it is, so that learning and forgetting in turn takes no more room.
  struct Entry {
    Entry(std::string of, std::string at, std::uint64_t when) : bucket(std::move(of)), region(std::move(at)), learned(when) {}
    Entry(Entry&& other) noexcept
        : bucket(std::move(other.bucket)), region(std::move(other.region)), learned(other.learned.load()) {}

    std::string bucket;
    std::string region;
    mutable std::atomic<std::uint64_t> learned;  // the higher, the later; 0: forgotten
  };
  using Chain = AppendOnlyList<Entry>;
  static constexpr std::size_t kChains = 256;
  static std::size_t ChainOf(std::string_view bucket);
  const Entry* FindEntry(std::string_view bucket) const;

  std::array<Chain, kChains> chains_;
  std::atomic<int> count_{0};
  std::atomic<std::uint64_t> lessons_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_
