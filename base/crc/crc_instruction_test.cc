#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/testing_crc.h"

#if defined(PENSTOCK_CRC_ARM64)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace penstock::internal {
namespace {

bool ProcessorHasIt() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2");
#elif defined(PENSTOCK_CRC_ARM64)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
  return false;
#endif
}

#if defined(__x86_64__)
constexpr bool kHasCrc32 = false;  // SSE4.2 has an instruction for CRC-32C only
#else
constexpr bool kHasCrc32 = true;
#endif

TEST(CrcInstructionTest, IsAvailableIfTheProcessorSupportsIt) {
  EXPECT_EQ(Crc32cInstructionPath() != nullptr, ProcessorHasIt());
  EXPECT_EQ(Crc32InstructionPath() != nullptr, kHasCrc32 && ProcessorHasIt());
}

TEST(CrcInstructionTest, AgreesWithThePortablePath) {
  if (Crc32cInstructionPath() != nullptr)
    ExpectSameAsPortable(Crc32cInstructionPath(), Crc32cPortable);
  if (Crc32InstructionPath() != nullptr)
    ExpectSameAsPortable(Crc32InstructionPath(), Crc32Portable);
}

}  // namespace
}  // namespace penstock::internal
