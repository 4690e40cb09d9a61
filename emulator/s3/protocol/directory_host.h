// Host names of the S3 Express One Zone endpoints. Pure.
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

// Views into the parsed text.
struct DirectoryHost {
  DirectoryEndpoint endpoint = DirectoryEndpoint::kNone;
  std::string_view bucket;  // Of a zonal host. Empty: none.
  std::string_view zone;
  std::string_view region;
};

// `labels`: a host name in lower case, without port, domain and the dot before the domain.
DirectoryHost ParseDirectoryHost(std::string_view labels);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_DIRECTORY_HOST_H_
