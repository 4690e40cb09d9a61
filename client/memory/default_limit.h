// How much memory this process may use, as the machine and its control group say.
#ifndef PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
#define PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::memory {

// A quarter of the smaller of the two, in whole MiB, within kLeastMemoryLimitBytes and 2 GiB.
std::uint64_t DefaultLimitFor(std::uint64_t machine_bytes, std::optional<std::uint64_t> group_bytes);

// The content of a control group's memory.max: a number of bytes; nullopt for "max" and for what is no number.
std::optional<std::uint64_t> ParseMemoryMax(std::string_view text);

}  // namespace penstock::memory

#endif  // PENSTOCK_CLIENT_MEMORY_DEFAULT_LIMIT_H_
