// Host names of S3 Express One Zone's endpoints (spec/protocol.md §1.2). Pure.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_HOST_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_HOST_H_

#include <cstdint>
#include <string_view>

namespace penstock::emulator::s3 {

enum class DirectoryEndpoint : std::uint8_t {
  kNone,
  kZonal,    // "[bucket.]s3express-[fips-]ZONE[.dualstack].REGION.DOMAIN"
  kControl,  // "s3express-control[-fips][.dualstack].REGION.DOMAIN"
};

// Views into what was parsed.
struct DirectoryHost {
  DirectoryEndpoint endpoint = DirectoryEndpoint::kNone;
  std::string_view bucket;  // of a zonal host; empty: none
  std::string_view zone;
  std::string_view region;
};

// `labels`: a host name in lower case without its port, its domain and the dot before that.
DirectoryHost ParseDirectoryHost(std::string_view labels);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_HOST_H_
