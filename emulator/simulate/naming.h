// The object keys of a distributed checkpoint under each prefix strategy of s3torchconnector.
//
// Independent of the client's implementation: the conformance suites compare the two.
#ifndef PENSTOCK_EMULATOR_SIMULATE_NAMING_H_
#define PENSTOCK_EMULATOR_SIMULATE_NAMING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::emulator::simulate {

enum class Strategy { kDefault, kBinary, kHex, kRoundRobin };

struct Naming {
  Strategy strategy = Strategy::kDefault;
  std::optional<std::int64_t> epoch;          // Adds a level "epoch_N/" below the prefix.
  std::uint32_t min_prefix_length = 10;       // For binary and hex.
  std::optional<std::uint32_t> prefix_count;  // For binary and hex. Unset: one per rank.
  std::vector<std::string> user_prefixes;     // For round-robin, without the slash.
};

// "default", "binary", "hex" or "round-robin".
std::string_view StrategyName(Strategy strategy);
// Returns kInvalidArgument that lists the names.
Result<Strategy> FindStrategy(std::string_view name);
// Returns kInvalidArgument if round-robin has no prefixes, a length is more than 1,024, the minimum
// length is 0, or the count is not 1 to 1,000,000.
Result<void> CheckNaming(const Naming& naming);

// Returns the prefixes that a job of `ranks` ranks can use, in the order in which ranks use them.
// Empty for the default strategy.
std::vector<std::string> Prefixes(const Naming& naming, std::uint32_t ranks);

// Returns "{path}/{prefix}/[epoch_{E}/]__{rank}_{file}.distcp". `prefixes`: the result of Prefixes.
std::string FileKey(const Naming& naming, const std::vector<std::string>& prefixes,
                    std::string_view path, std::uint32_t rank, std::uint32_t file);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_NAMING_H_
