#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/crc/crc_hardware.h"
#include "base/crc/testing_crc.h"

namespace penstock::internal {
namespace {

bool ProcessorHasIt() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2");
#else
  return false;
#endif
}

TEST(Crc32cSse42Test, IsAvailableIfTheProcessorSupportsIt) {
  EXPECT_EQ(Crc32cSse42Path() != nullptr, ProcessorHasIt());
}

TEST(Crc32cSse42Test, AgreesWithThePortablePath) {
  ASSERT_EQ(Crc32cSse42Path() != nullptr, ProcessorHasIt());
  if (!ProcessorHasIt()) return;
  ExpectSameAsPortable(Crc32cSse42Path(), Crc32cPortable);
}

}  // namespace
}  // namespace penstock::internal
