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

bool ProcessorHasCarrylessMultiply() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("pclmul");
#elif defined(PENSTOCK_CRC_ARM64)
  return (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#else
  return false;
#endif
}

TEST(CrcFold128Test, IsAvailableIfTheProcessorSupportsIt) {
  EXPECT_EQ(Crc32Fold128Path() != nullptr, ProcessorHasCarrylessMultiply());
  EXPECT_EQ(Crc32cFold128Path() != nullptr, ProcessorHasCarrylessMultiply());
  EXPECT_EQ(Crc64NvmeFold128Path() != nullptr, ProcessorHasCarrylessMultiply());
}

TEST(CrcFold128Test, AgreesWithThePortablePath) {
  ASSERT_EQ(Crc32Fold128Path() != nullptr, ProcessorHasCarrylessMultiply());
  if (!ProcessorHasCarrylessMultiply()) {
    GTEST_SKIP() << "the processor has no carry-less multiplication (PCLMULQDQ or PMULL)";
  }
  ExpectSameAsPortable(Crc32Fold128Path(), Crc32Portable);
  ExpectSameAsPortable(Crc32cFold128Path(), Crc32cPortable);
  ExpectSameAsPortable(Crc64NvmeFold128Path(), Crc64NvmePortable);
}

}  // namespace
}  // namespace penstock::internal
