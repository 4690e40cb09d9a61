// The memory that this process may use, from the machine and the process's control groups.
#ifndef PENSTOCK_BASE_SYSTEM_MEMORY_H_
#define PENSTOCK_BASE_SYSTEM_MEMORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace penstock {

struct SystemMemory {
  std::uint64_t machine_bytes = 0;
  // Returns the content of a system file; nullopt: it does not exist.
  std::function<std::optional<std::string>(const std::string& path)> read;
};

// Returns this machine's memory and files.
SystemMemory ThisSystemMemory();

// Returns the lowest memory.max (version 1: memory.limit_in_bytes) of this process's control groups
// (cgroups(7)), if it is below the machine's memory; otherwise nullopt.
std::optional<std::uint64_t> ControlGroupMemoryLimit(const SystemMemory& memory);

}  // namespace penstock

#endif  // PENSTOCK_BASE_SYSTEM_MEMORY_H_
