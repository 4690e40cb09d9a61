// The regions of buckets, learned from S3's redirects.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::s3 {

// Stores up to 1024 pairs of bucket and region in sets of 16 by hash. A new pair replaces the
// oldest one of its set. Names above 64 bytes are not stored.
//
// Thread safety: may be used from any thread, without locks. A fork during a write costs the child
// that one slot.
class BucketRegions {
 public:
  BucketRegions() = default;
  BucketRegions(const BucketRegions&) = delete;
  BucketRegions& operator=(const BucketRegions&) = delete;
  ~BucketRegions() { delete table_.load(std::memory_order_acquire); }

  void Learn(std::string_view bucket, std::string_view region);
  // Removes the pair after the bucket was not found there. No effect if another region has been
  // learned since.
  void Forget(std::string_view bucket, std::string_view region);
  // Returns the region learned last and not forgotten, or empty.
  std::string Find(std::string_view bucket) const;

 private:
  // Up to 64 bytes without NUL.
  class Text {
   public:
    static constexpr std::size_t kBytes = 64;
    void Store(std::string_view text);
    bool Equals(std::string_view text) const;
    std::string Load() const;

   private:
    std::array<std::atomic<std::uint64_t>, kBytes / 8> words_{};
  };

  // A sequence lock whose readers do not wait: a slot being written counts as empty.
  class Place {
   public:
    std::uint64_t learned() const { return learned_.load(std::memory_order_relaxed); }
    bool Holds(std::uint64_t hash, std::string_view bucket, std::string_view region) const;
    // Returns its region if it holds that bucket, else empty.
    std::string RegionOf(std::uint64_t hash, std::string_view bucket) const;
    void Confirm(std::uint64_t when) { learned_.store(when, std::memory_order_relaxed); }
    void Forget() { learned_.store(0, std::memory_order_relaxed); }
    // No effect while another thread writes.
    void Write(std::uint64_t hash, std::string_view bucket, std::string_view region,
               std::uint64_t when);

   private:
    std::atomic<std::uint64_t> version_{0};  // Odd: being written.
    std::atomic<std::uint64_t> learned_{0};  // Larger is later; 0: empty.
    std::atomic<std::uint64_t> hash_{0};     // Of the bucket.
    Text bucket_;
    Text region_;
  };
  static constexpr std::size_t kSets = 64;
  using Set = std::array<Place, 16>;
  using Table = std::array<Set, kSets>;

  Table& MakeTable();

  std::atomic<Table*> table_{nullptr};  // Allocated on first use; most clients never need it.
  std::atomic<std::uint64_t> sequence_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_BUCKET_REGIONS_H_
