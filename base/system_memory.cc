#include "base/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace penstock {
namespace {

// A number of bytes; nullopt for "max" and for text that is not a number.
std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const bool whole = end == text.data() + text.size() || *end == '\n';
  if (error != std::errc{} || !whole) return std::nullopt;
  return bytes;
}

// The lowest limit of the group at `path` and its ancestors; UINT64_MAX: no limit. In a container
// whose own group is the root, /proc/self/cgroup says "/", or a path of the host that does not
// exist in the container; then the file of the root applies.
std::uint64_t LowestLimit(const SystemMemory& memory, const std::string& root, std::string path,
                          const std::string& file) {
  std::uint64_t lowest = UINT64_MAX;
  for (;;) {
    if (path == "/") path.clear();
    if (const auto text = memory.read(root + path + "/" + file); text.has_value())
      lowest = std::min(lowest, ParseBytes(*text).value_or(UINT64_MAX));
    if (path.empty()) return lowest;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

std::optional<std::string> ReadSystemFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

SystemMemory ThisSystemMemory() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
  return {pages * page_bytes, ReadSystemFile};
}

std::optional<std::uint64_t> ControlGroupMemoryLimit(const SystemMemory& memory) {
  std::uint64_t lowest = UINT64_MAX;
  std::istringstream groups(memory.read("/proc/self/cgroup").value_or("0::/\n"));
  // Lines are "0::PATH" of version 2 and "N:CONTROLLERS:PATH" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      lowest = std::min(lowest, LowestLimit(memory, "/sys/fs/cgroup", path, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      lowest = std::min(
          lowest, LowestLimit(memory, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
  }
  // Version 1 expresses "no limit" as a number above any machine's memory.
  return lowest < memory.machine_bytes ? std::optional(lowest) : std::nullopt;
}

}  // namespace penstock
