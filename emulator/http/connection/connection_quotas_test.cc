#include "emulator/http/connection/connection_quotas.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(ConnectionQuotas, LimitsWaitingThreads) {
  ConnectionQuotas quotas(2, "", 0);
  EXPECT_TRUE(quotas.EnterThread());
  EXPECT_TRUE(quotas.EnterThread());
  EXPECT_FALSE(quotas.EnterThread());
  quotas.LeaveThread();
  EXPECT_TRUE(quotas.EnterThread());
  EXPECT_FALSE(quotas.EnterThread());
}

TEST(ConnectionQuotas, GrantsSpaceUpToItsLimit) {
  ConnectionQuotas quotas(0, "", 100);
  EXPECT_TRUE(quotas.ReserveSpace(60));
  EXPECT_FALSE(quotas.ReserveSpace(41));
  EXPECT_TRUE(quotas.ReserveSpace(40));
  quotas.ReleaseSpace(60);
  EXPECT_TRUE(quotas.ReserveSpace(60));
}

TEST(ConnectionQuotas, ReportsWhenSocketsHoldTooMuch) {
  ConnectionQuotas quotas(0, "", 0, 100);
  quotas.CountHeld(0, 60);
  quotas.CountHeld(0, 39);
  EXPECT_FALSE(quotas.sockets_full());
  quotas.CountHeld(39, 40);
  EXPECT_TRUE(quotas.sockets_full());
  quotas.CountHeld(60, 10);
  EXPECT_FALSE(quotas.sockets_full());
  EXPECT_GT(ConnectionQuotas::DefaultSocketBytes(), std::uint64_t{1} << 20);
}

TEST(ConnectionQuotas, FilesHaveNoName) {
  std::string folder = (std::filesystem::temp_directory_path() / "allowances_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const ConnectionQuotas quotas(0, folder, 0);
  const Result<int> file = quotas.OpenFile();
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  struct stat status {};
  ASSERT_EQ(::fstat(*file, &status), 0);
  EXPECT_EQ(status.st_nlink, 0u);
  ::close(*file);
  std::filesystem::remove(folder);
}

TEST(ConnectionQuotas, MissingDirectoryIsNamedInTheError) {
  const Result<int> file = ConnectionQuotas(0, "/nowhere/at/all", 0).OpenFile();
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(file.error().message.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::http
