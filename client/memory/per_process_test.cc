#include "client/memory/per_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace penstock::memory {
namespace {

TEST(PerProcessTest, CreatesTheObjectOnce) {
  static PerProcess<int> numbers;
  int made = 0;
  const auto make = [&made](const int*) { return new int(++made); };
  EXPECT_EQ(&numbers.Mine(make), &numbers.Mine(make));
  EXPECT_EQ(made, 1);
}

TEST(PerProcessTest, ForkedChildCreatesItsOwnFromTheParents) {
  static PerProcess<int> numbers;
  const auto make = [](const int* of_parent) {
    return new int(of_parent == nullptr ? 1 : *of_parent + 1);
  };
  int* const parents = &numbers.Mine(make);
  const pid_t child = ::fork();
  if (child == 0) {
    int& own = numbers.Mine(make);
    std::_Exit(&own != parents && own == 2 && &numbers.Mine(make) == &own ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(&numbers.Mine(make), parents);
}

}  // namespace
}  // namespace penstock::memory
