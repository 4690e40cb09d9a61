#include "client/http/connect/curl_global.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace penstock::http {
namespace {

TEST(CurlGlobal, CanBeInitialisedRepeatedly) {
  EXPECT_TRUE(InitCurl());
  EXPECT_TRUE(InitCurl());
}

TEST(CurlGlobal, GenerationChangesInEveryChild) {
  const unsigned before = ForkGeneration();
  const pid_t child = ::fork();
  if (child == 0) {
    const unsigned first = ForkGeneration();
    const pid_t grandchild = ::fork();
    if (grandchild == 0)
      std::_Exit(ForkGeneration() != first && ForkGeneration() != before && InitCurl() ? 0 : 1);
    int status = -1;
    ::waitpid(grandchild, &status, 0);
    std::_Exit(status == 0 && first != before ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(ForkGeneration(), before);
}

TEST(CurlGlobal, BuildsOnTheOpenSslOfLibcurl) { EXPECT_TRUE(UsesOurOpenSsl()); }

}  // namespace
}  // namespace penstock::http
