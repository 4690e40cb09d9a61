// What the files of a distributed checkpoint are called under each prefix strategy (connector.md
// §1.8).
//
// Written from the specification, apart from the client's own: the conformance suites hold one
// against the other.
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
  std::optional<std::int64_t> epoch;          // a level "epoch_N/" below the prefix
  std::uint32_t min_prefix_length = 10;       // binary and hex
  std::optional<std::uint32_t> prefix_count;  // binary and hex; unset: one per rank
  std::vector<std::string> user_prefixes;     // round-robin, without the slash
};

// "default", "binary", "hex", "round-robin".
std::string_view StrategyName(Strategy strategy);
// kInvalidArgument names what there is.
Result<Strategy> FindStrategy(std::string_view name);
// kInvalidArgument: no prefixes for round-robin, a length or count of zero or beyond 1,024 or
// 1,000,000.
Result<void> CheckNaming(const Naming& naming);

// The prefixes of a job of `ranks` ranks, in the order in which ranks take them; empty for the
// default strategy.
std::vector<std::string> Prefixes(const Naming& naming, std::uint32_t ranks);

// "{path}/{prefix}/[epoch_{E}/]__{rank}_{file}.distcp". `prefixes` as Prefixes made them.
std::string FileKey(const Naming& naming, const std::vector<std::string>& prefixes,
                    std::string_view path, std::uint32_t rank, std::uint32_t file);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_NAMING_H_
