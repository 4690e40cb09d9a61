// Listings and removals of directories whose allocations fail. The directory iterators of libstdc++
// 12 would end the process.
#include <gtest/gtest.h>

#include "base/log/caught.h"
#include "base/testing/allocation_failures.h"
#include "emulator/server/namespaces/directory_leases.h"
#include "emulator/server/namespaces/namespaces.h"
#include "emulator/server/process/fsck_command.h"
#include "emulator/server/server_fixture.h"
#include "emulator/store/blobs/blob_file.h"
#include "emulator/store/sqlite/database_creation.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;
using penstock::testing::FailsAllocation;
using penstock::testing::ForEachAllocation;

class NoMemoryTest : public ::testing::Test {
 protected:
  void MakeFile(const std::string& name) {
    fs::create_directories(fs::path(folder_.path() + "/" + name).parent_path());
    std::ofstream(folder_.path() + "/" + name) << "body";
  }
  // Fails each allocation of `list` in turn.
  template <class List>
  void ExpectErrors(List list) {
    const int failed = ForEachAllocation([&](int nth) {
      return FailsAllocation(nth, [&] { Contain("the test", [&] { static_cast<void>(list()); }); });
    });
    EXPECT_GT(failed, 1);
  }

  const TemporaryFolder folder_;
};

TEST_F(NoMemoryTest, ReturnOfADeletedDirectoryRemovesIt) {
  const auto leases = DirectoryLeases::Create();
  const std::string path = folder_.path() + "/one";
  const int failed = ForEachAllocation([&](int nth) {
    auto lease = leases->Take(path).value();
    MakeFile("one/generation-1/blobs/a folder whose name needs an allocation/file");
    MakeFile("one/generation-1/blobs/a file whose name needs an allocation");
    EXPECT_TRUE(lease->directory().MarkDeleted().ok());
    const bool fails = FailsAllocation(nth, [&] { lease.reset(); });
    EXPECT_TRUE(leases->Take(path).ok());
    return fails;
  });
  EXPECT_GT(failed, 1);
}

TEST_F(NoMemoryTest, InspectionOfAStore) {
  MakeFile("penstock.db a name that needs an allocation");
  ExpectErrors([&] { return store::IsUnfinishedStore(folder_.path()); });
}

TEST_F(NoMemoryTest, ListingOfBlobs) {
  MakeFile("blobs/0a/000000000000000a");
  ExpectErrors([&] {
    return store::VisitBlobFiles(
        folder_.path(), [](std::int64_t, const std::string&) -> Result<void> { return Ok(); });
  });
}

TEST_F(NoMemoryTest, StartWithNamespaces) {
  MakeFile("generation-1/penstock.db");
  ASSERT_TRUE(Namespaces::Open({.directory = folder_.path(), .clock = &SystemClock()}).ok());
  MakeFile("namespaces/a-name-that-needs-an-allocation/generation-1/penstock.db");
  MakeFile("namespaces/a-second-name-that-needs-an-allocation/generation-1/blobs/file");
  ExpectErrors(
      [&] { return Namespaces::Open({.directory = folder_.path(), .clock = &SystemClock()}); });
}

TEST_F(NoMemoryTest, CheckOfADirectory) {
  MakeFile("a folder whose name needs an allocation/generation-1/blobs/file");
  MakeFile("generation-1/penstock.db");
  ExpectErrors([&] { return StoresIn(folder_.path()); });
}

}  // namespace
}  // namespace penstock::emulator::server
