#include "base/process_id.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace penstock {
namespace {

TEST(ProcessId, DiffersInAForkedChild) {
  EXPECT_EQ(ProcessId(), ::getpid());
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(ProcessId() == ::getpid() && ProcessId() == ::getpid() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
