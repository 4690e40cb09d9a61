#include "emulator/http/allowances.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

TEST(Allowances, GrantsSoManyThreadsAtATime) {
  Allowances allowances(2, "", 0);
  EXPECT_TRUE(allowances.EnterThread());
  EXPECT_TRUE(allowances.EnterThread());
  EXPECT_FALSE(allowances.EnterThread());
  allowances.LeaveThread();
  EXPECT_TRUE(allowances.EnterThread());
  EXPECT_FALSE(allowances.EnterThread());
}

TEST(Allowances, GrantsSpaceUpToItsLimit) {
  Allowances allowances(0, "", 100);
  EXPECT_TRUE(allowances.TakeSpace(60));
  EXPECT_FALSE(allowances.TakeSpace(41));
  EXPECT_TRUE(allowances.TakeSpace(40));
  allowances.GiveSpace(60);
  EXPECT_TRUE(allowances.TakeSpace(60));
}

TEST(Allowances, TellsWhenSocketsHoldTooMuch) {
  Allowances allowances(0, "", 0, 100);
  allowances.CountHeld(0, 60);
  allowances.CountHeld(0, 39);
  EXPECT_FALSE(allowances.crowded());
  allowances.CountHeld(39, 40);
  EXPECT_TRUE(allowances.crowded());
  allowances.CountHeld(60, 10);
  EXPECT_FALSE(allowances.crowded());
  EXPECT_GT(Allowances::UsualCrowdBytes(), std::uint64_t{1} << 20);
}

TEST(Allowances, ItsFilesHaveNoName) {
  std::string folder = (std::filesystem::temp_directory_path() / "allowances_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Allowances allowances(0, folder, 0);
  const Result<int> file = allowances.OpenFile();
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  struct stat status {};
  ASSERT_EQ(::fstat(*file, &status), 0);
  EXPECT_EQ(status.st_nlink, 0u);
  ::close(*file);
  std::filesystem::remove(folder);
}

TEST(Allowances, AFolderThatIsNotThereIsNamed) {
  const Result<int> file = Allowances(0, "/nowhere/at/all", 0).OpenFile();
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(file.error().message.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::http
