#include "client/memory/default_limit.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/system_memory.h"
#include "base/text/quantity.h"
#include "penstock/memory.h"

namespace penstock {
namespace memory {
namespace {

constexpr std::uint64_t kMaxDefaultLimit = 2ull << 30;
constexpr std::uint64_t kMiB = 1ull << 20;

// Returns PENSTOCK_MEMORY_LIMIT, or nullopt if it is not set.
Result<std::optional<std::uint64_t>> LimitVariable() {
  const char* text = std::getenv("PENSTOCK_MEMORY_LIMIT");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr || *text == '\0') return std::optional<std::uint64_t>();
  PENSTOCK_ASSIGN(const std::uint64_t limit, ParseMemoryLimit(text));
  return std::optional(limit);
}

}  // namespace

std::uint64_t DefaultLimitFor(std::uint64_t machine_bytes,
                              std::optional<std::uint64_t> group_bytes) {
  const std::uint64_t mine = std::min(machine_bytes, group_bytes.value_or(machine_bytes));
  return std::clamp(mine / 4 / kMiB * kMiB, kMinMemoryLimitBytes, kMaxDefaultLimit);
}

Result<std::uint64_t> ParseMemoryLimit(std::string_view text) {
  const std::optional<std::uint64_t> bytes = ParseByteSize(text);
  if (!bytes || *bytes < kMinMemoryLimitBytes) {
    return Error::Make(
               ErrorKind::kInvalidArgument,
               "PENSTOCK_MEMORY_LIMIT must be 16777216 (16MiB) or more: a number of bytes, or a "
               "number with a unit, for example 512MiB; not `" +
                   std::string(text) + "`")
        .About("memory_limit");
  }
  return *bytes;
}

std::uint64_t InitialLimit() {
  const Result<std::optional<std::uint64_t>> limit = LimitVariable();
  return limit.ok() && *limit ? **limit : DefaultMemoryLimit();
}

}  // namespace memory

Result<void> CheckMemoryLimitVariable() {
  PENSTOCK_TRY(memory::LimitVariable());
  return Ok();
}

std::uint64_t DefaultMemoryLimit() {
  const SystemMemory memory = ThisSystemMemory();
  return memory::DefaultLimitFor(memory.machine_bytes, ControlGroupMemoryLimit(memory));
}

}  // namespace penstock
