#include "emulator/store/system/shown_paths.h"

#include <gtest/gtest.h>

#include "penstock/base/error.h"

namespace penstock::emulator::store {
namespace {

TEST(ShownPathsTest, ReplacesThePathsOfDescriptors) {
  {
    const ShownPath five("/proc/self/fd/5", "/data");
    const ShownPath other("/proc/self/fd/51", "/a /proc/self/fd/5");
    EXPECT_EQ(WithShownPaths("cannot open '/proc/self/fd/5/x': and /proc/self/fd/51/y"),
              "cannot open '/data/x': and /a /proc/self/fd/5/y");
    EXPECT_EQ(WithShownPaths("/proc/self/fd/6"), "/proc/self/fd/6");
    EXPECT_EQ(Error::Make(ErrorKind::kInternal, "in /proc/self/fd/5").message, "in /data");
  }
  EXPECT_EQ(WithShownPaths("/proc/self/fd/5"), "/proc/self/fd/5");
}

}  // namespace
}  // namespace penstock::emulator::store
