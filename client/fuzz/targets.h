// Every fuzz target by name: `./dev fuzz NAME`, and the folder of its seeds in corpus/.
#ifndef PENSTOCK_CLIENT_FUZZ_TARGETS_H_
#define PENSTOCK_CLIENT_FUZZ_TARGETS_H_

#include <string_view>

#include "client/fuzz/listing_properties.h"
#include "client/fuzz/response_properties.h"

namespace penstock {

struct FuzzTarget {
  std::string_view name;
  void (*check)(std::string_view input);  // ends the program when a property does not hold
};

inline constexpr FuzzTarget kFuzzTargets[] = {{"listing", s3::CheckListing}, {"response", http::CheckResponse}};

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_FUZZ_TARGETS_H_
