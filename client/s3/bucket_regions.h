// The regions of buckets, as S3's redirects taught them.
#ifndef PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_
#define PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_

#include <atomic>
#include <string>
#include <string_view>

#include "client/s3/append_only_list.h"

namespace penstock::s3 {

// Remembers up to 1024 lessons; later ones are followed per call but not kept.
//
// Thread safety: safe from any thread.
class BucketRegions {
 public:
  void Learn(const std::string& bucket, const std::string& region);
  // The last region learned, or empty.
  std::string Find(std::string_view bucket) const;

 private:
  struct Entry {
    std::string bucket;
    std::string region;
  };
  AppendOnlyList<Entry> entries_;
  std::atomic<int> count_{0};
};

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_BUCKET_REGIONS_H_
