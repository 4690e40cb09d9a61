// The memory limit of this process, from the environment, the machine and the control groups.
#ifndef PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
#define PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "penstock/base/result.h"

namespace penstock::memory {

// Returns a quarter of the smaller of the two, in whole MiB, between kMinMemoryLimitBytes and 2
// GiB.
std::uint64_t DefaultLimitFor(std::uint64_t machine_bytes,
                              std::optional<std::uint64_t> group_bytes);

// Parses PENSTOCK_MEMORY_LIMIT: a size (base/text/quantity.h) such as "268435456" or "256MiB".
// Returns kInvalidArgument for other texts and for values below kMinMemoryLimitBytes.
Result<std::uint64_t> ParseMemoryLimit(std::string_view text);

// Returns the limit before the first SetMemoryLimit: PENSTOCK_MEMORY_LIMIT, else
// DefaultMemoryLimit(). An invalid variable also gives the default, because Client::Create reports
// it.
std::uint64_t InitialLimit();

}  // namespace penstock::memory

#endif  // PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
