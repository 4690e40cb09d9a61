#include "base/system_memory.h"

#include <gtest/gtest.h>

#include <map>

namespace penstock {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

std::optional<std::uint64_t> LimitWith(std::map<std::string, std::string> files) {
  return ControlGroupMemoryLimit(
      {8 * kGiB, [&](const std::string& path) -> std::optional<std::string> {
         const auto found = files.find(path);
         return found == files.end() ? std::nullopt : std::optional(found->second);
       }});
}

TEST(SystemMemoryTest, NoControlGroupHasALimit) {
  EXPECT_EQ(LimitWith({}), std::nullopt);
  EXPECT_EQ(LimitWith({{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/memory.max", "max\n"}}),
            std::nullopt);
}

TEST(SystemMemoryTest, ReadsTheLimitOfTheRootOfAContainer) {
  for (const char* text : {"1073741824\n", "1073741824"}) {
    EXPECT_EQ(LimitWith({{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/memory.max", text}}),
              kGiB);
    EXPECT_EQ(LimitWith({{"/sys/fs/cgroup/memory.max", text}}), kGiB) << "without /proc";
  }
}

TEST(SystemMemoryTest, IgnoresTextThatIsNotANumber) {
  for (const char* text : {"", "12x", "-1", "lots"})
    EXPECT_EQ(LimitWith({{"/sys/fs/cgroup/memory.max", text}}), std::nullopt) << text;
}

TEST(SystemMemoryTest, UsesTheLowestLimitOfTheGroups) {
  EXPECT_EQ(LimitWith({{"/proc/self/cgroup", "0::/a.slice/b.service\n"},
                       {"/sys/fs/cgroup/a.slice/memory.max", "1073741824\n"},
                       {"/sys/fs/cgroup/a.slice/b.service/memory.max", "2147483648\n"}}),
            kGiB);
}

TEST(SystemMemoryTest, ReadsControlGroupsOfVersion1) {
  const std::string groups = "5:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n";
  EXPECT_EQ(LimitWith({{"/proc/self/cgroup", groups},
                       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"}}),
            kGiB);
  EXPECT_EQ(LimitWith({{"/proc/self/cgroup", groups},
                       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}}),
            std::nullopt)
      << "version 1 uses this number for no limit";
}

TEST(SystemMemoryTest, ReadsThisMachine) {
  const SystemMemory memory = ThisSystemMemory();
  EXPECT_GE(memory.machine_bytes, 1u << 20);
  EXPECT_TRUE(memory.read("/proc/self/cgroup").has_value());
  EXPECT_FALSE(memory.read("/nonexistent/penstock").has_value());
}

}  // namespace
}  // namespace penstock
