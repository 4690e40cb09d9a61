// All fuzz targets by name. `./dev fuzz NAME` runs one; its seeds are in corpus/NAME.
#ifndef PENSTOCK_CLIENT_FUZZ_TARGETS_H_
#define PENSTOCK_CLIENT_FUZZ_TARGETS_H_

#include <string_view>

#include "client/fuzz/archive_properties.h"
#include "client/fuzz/checkpoint_properties.h"
#include "client/fuzz/listing_properties.h"
#include "client/fuzz/object_head_properties.h"
#include "client/fuzz/profile_properties.h"
#include "client/fuzz/response_properties.h"

namespace penstock {

struct FuzzTarget {
  std::string_view name;
  void (*check)(std::string_view input);  // aborts the program if a property does not hold
};

inline constexpr FuzzTarget kFuzzTargets[] = {
    {"listing", s3::CheckListing},
    {"response", http::CheckResponse},
    {"object_head", s3::CheckObjectHead},
    {"profile", auth::CheckProfile},
    {"archive", CheckArchive},
    {"state_pickle", checkpoint::CheckStatePickle},
    {"safetensors", checkpoint::CheckSafetensors},
    {"dcp_metadata", checkpoint::CheckDcpMetadata},
};

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_FUZZ_TARGETS_H_
