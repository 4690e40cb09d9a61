// The regions of buckets, as S3's redirects taught them.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::s3 {

// Remembers 1024 pairs of bucket and region, 16 of one hash; a further one takes the place of the
// one of its hash that was learned the longest ago. Names of more than 64 bytes are not kept.
//
// Thread safety: safe from any thread, without locks: a fork in the middle of a lesson costs the
// child that one place.
class BucketRegions {
 public:
  BucketRegions() = default;
  BucketRegions(const BucketRegions&) = delete;
  BucketRegions& operator=(const BucketRegions&) = delete;
  ~BucketRegions() { delete table_.load(std::memory_order_acquire); }

  void Learn(std::string_view bucket, std::string_view region);
  // The bucket was not found there. Does nothing where another region has been learned since.
  void Forget(std::string_view bucket, std::string_view region);
  // The last region learned and not forgotten, or empty.
  std::string Find(std::string_view bucket) const;

 private:
  // At most 64 bytes, none of them NUL.
  class Text {
   public:
    static constexpr std::size_t kBytes = 64;
    void Store(std::string_view text);
    bool Equals(std::string_view text) const;
    std::string Load() const;

   private:
    std::array<std::atomic<std::uint64_t>, kBytes / 8> words_{};
  };

  // A sequence lock whose readers do not wait: what is being written is not there.
  class Place {
   public:
    std::uint64_t learned() const { return learned_.load(std::memory_order_relaxed); }
    bool Holds(std::uint64_t hash, std::string_view bucket, std::string_view region) const;
    // Its region if it holds that bucket, else empty.
    std::string RegionOf(std::uint64_t hash, std::string_view bucket) const;
    void Confirm(std::uint64_t when) { learned_.store(when, std::memory_order_relaxed); }
    void Forget() { learned_.store(0, std::memory_order_relaxed); }
    // Nothing where another thread writes.
    void Write(std::uint64_t hash, std::string_view bucket, std::string_view region,
               std::uint64_t when);

   private:
    std::atomic<std::uint64_t> version_{0};  // odd: being written
    std::atomic<std::uint64_t> learned_{0};  // the higher, the later; 0: nothing is there
    std::atomic<std::uint64_t> hash_{0};     // of the bucket
    Text bucket_;
    Text region_;
  };
  static constexpr std::size_t kSets = 64;
  using Set = std::array<Place, 16>;
  using Table = std::array<Set, kSets>;

  Table& MakeTable();

  std::atomic<Table*> table_{nullptr};  // made with the first lesson: most clients never have one
  std::atomic<std::uint64_t> lessons_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_
