#include "client/memory/default_limit.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "penstock/memory.h"

namespace penstock {
namespace memory {
namespace {

constexpr std::uint64_t kMostByDefault = 2ull << 30;
constexpr std::uint64_t kMiB = 1ull << 20;

}  // namespace

std::uint64_t DefaultLimitFor(std::uint64_t machine_bytes, std::optional<std::uint64_t> group_bytes) {
  const std::uint64_t mine = std::min(machine_bytes, group_bytes.value_or(machine_bytes));
  return std::clamp(mine / 4 / kMiB * kMiB, kLeastMemoryLimitBytes, kMostByDefault);
}

std::optional<std::uint64_t> ParseMemoryMax(std::string_view text) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const bool whole = end == text.data() + text.size() || *end == '\n';
  if (error != std::errc{} || !whole) return std::nullopt;
  return bytes;
}

}  // namespace memory

std::uint64_t DefaultMemoryLimit() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
  // In a container the root of the control groups is the container's own.
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::string text;
  std::getline(file, text);
  return memory::DefaultLimitFor(pages * page_bytes, memory::ParseMemoryMax(text));
}

}  // namespace penstock
