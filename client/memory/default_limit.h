// How much memory this process may use: from the environment, the machine and its control group.
#ifndef PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
#define PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::memory {

// A quarter of the smaller of the two, in whole MiB, within kLeastMemoryLimitBytes and 2 GiB.
std::uint64_t DefaultLimitFor(std::uint64_t machine_bytes,
                              std::optional<std::uint64_t> group_bytes);

// The content of a control group's memory.max: a number of bytes; nullopt for "max" and for what is
// no number.
std::optional<std::uint64_t> ParseMemoryMax(std::string_view text);

// The value of PENSTOCK_MEMORY_LIMIT: bytes, or a whole number of KiB, MiB or GiB ("268435456",
// "256MiB"). kInvalidArgument, which names the variable and the value, for other text and below
// kLeastMemoryLimitBytes.
Result<std::uint64_t> ParseMemoryLimit(std::string_view text);

// The limit before SetMemoryLimit: PENSTOCK_MEMORY_LIMIT, else DefaultMemoryLimit(), also where the
// variable cannot be parsed: Client::Create reports that.
std::uint64_t InitialLimit();

}  // namespace penstock::memory

#endif  // PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
