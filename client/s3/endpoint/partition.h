// AWS's partitions: the partition of a region and the suffix of its host names.
#ifndef PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_
#define PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_

#include <string_view>

namespace penstock::s3 {

struct Partition {
  std::string_view name;        // "aws", as in ARNs.
  std::string_view dns_suffix;  // "amazonaws.com".
};

// Decides by the form of the region's name; unknown forms belong to partition aws.
const Partition& PartitionOf(std::string_view region);

// Returns whether the lower-case host name is below the suffix of a partition.
bool IsAwsHost(std::string_view host);

}  // namespace penstock::s3

#endif  // PENSTOCK_CLIENT_S3_ENDPOINT_PARTITION_H_
