// All fuzz targets by name. `./dev fuzz NAME` runs one; corpus/NAME has its seeds.
#ifndef PENSTOCK_EMULATOR_FUZZ_TARGETS_H_
#define PENSTOCK_EMULATOR_FUZZ_TARGETS_H_

#include <string_view>

#include "emulator/fuzz/access_policy_properties.h"
#include "emulator/fuzz/claim_properties.h"
#include "emulator/fuzz/form_properties.h"
#include "emulator/fuzz/json_properties.h"
#include "emulator/fuzz/query_properties.h"
#include "emulator/fuzz/s3_properties.h"
#include "emulator/fuzz/sink_properties.h"
#include "emulator/fuzz/wire_properties.h"

namespace penstock::emulator {

struct FuzzTarget {
  std::string_view name;
  void (*check)(std::string_view input);  // Aborts if a property does not hold.
};

inline constexpr FuzzTarget kFuzzTargets[] = {
    {"head_parser", http::CheckHead},
    {"chunked_decoder", http::CheckChunks},
    {"target", CheckTarget},
    {"range", CheckRange},
    {"xml", CheckXml},
    {"aws_chunked", CheckAwsChunked},
    {"form", CheckForm},
    {"policy", CheckPolicy},
    {"access_policy", CheckAccessPolicy},
    {"json", CheckJson},
    {"claim", CheckClaim},
    {"query", CheckQuery},
    {"web_token", CheckWebToken},
    {"sink", CheckSink},
    {"webhook_response", CheckWebhookResponse},
};

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_TARGETS_H_
