#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/testing_crc.h"

namespace penstock::internal {
namespace {

bool ProcessorHasIt() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
#else
  return false;
#endif
}

TEST(CrcFold512Test, IsAvailableIfTheProcessorSupportsIt) {
  EXPECT_EQ(Crc32Fold512Path() != nullptr, ProcessorHasIt());
  EXPECT_EQ(Crc32cFold512Path() != nullptr, ProcessorHasIt());
  EXPECT_EQ(Crc64NvmeFold512Path() != nullptr, ProcessorHasIt());
}

TEST(CrcFold512Test, AgreesWithThePortablePath) {
  ASSERT_EQ(Crc32Fold512Path() != nullptr, ProcessorHasIt());
  if (!ProcessorHasIt()) return;
  ExpectSameAsPortable(Crc32Fold512Path(), Crc32Portable);
  ExpectSameAsPortable(Crc32cFold512Path(), Crc32cPortable);
  ExpectSameAsPortable(Crc64NvmeFold512Path(), Crc64NvmePortable);
}

}  // namespace
}  // namespace penstock::internal
