// AWS's partitions: which a region belongs to, and the suffix of its host names (spec/protocol.md
// §4).
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_

#include <string_view>

namespace penstock::s3 {

struct Partition {
  std::string_view name;        // "aws", as in ARNs
  std::string_view dns_suffix;  // "amazonaws.com"
};

// By the shape of the region's name; what fits none counts as partition aws.
const Partition& PartitionOf(std::string_view region);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_
