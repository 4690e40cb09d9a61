#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/testing_crc.h"

namespace penstock::internal {
namespace {

bool ProcessorHasIt() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
#else
  return false;
#endif
}

TEST(CrcFold256Test, IsAvailableIfTheProcessorSupportsIt) {
  EXPECT_EQ(Crc32Fold256Path() != nullptr, ProcessorHasIt());
  EXPECT_EQ(Crc32cFold256Path() != nullptr, ProcessorHasIt());
  EXPECT_EQ(Crc64NvmeFold256Path() != nullptr, ProcessorHasIt());
}

TEST(CrcFold256Test, AgreesWithThePortablePath) {
  ASSERT_EQ(Crc32Fold256Path() != nullptr, ProcessorHasIt());
  if (!ProcessorHasIt()) return;
  ExpectSameAsPortable(Crc32Fold256Path(), Crc32Portable);
  ExpectSameAsPortable(Crc32cFold256Path(), Crc32cPortable);
  ExpectSameAsPortable(Crc64NvmeFold256Path(), Crc64NvmePortable);
}

}  // namespace
}  // namespace penstock::internal
