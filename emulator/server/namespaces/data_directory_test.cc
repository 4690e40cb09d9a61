#include "emulator/server/namespaces/data_directory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

// The directories of a complete store (emulator/store/sqlite/database_creation.h).
void MakeStoreFolder(const std::string& path) { fs::create_directories(path + "/blobs"); }

TEST(DataDirectoryTest, StartsAtANewGeneration) {
  const TemporaryFolder folder;
  const auto directory = DataDirectory::Open(folder.path() + "/new/one");
  ASSERT_TRUE(directory.ok());
  // The number is unique in the process, independent of other directories.
  EXPECT_TRUE((*directory)->CurrentPath().starts_with(folder.path() + "/new/one/generation-"))
      << (*directory)->CurrentPath();
}

TEST(DataDirectoryTest, NewDirectoryIsReadableOnlyByItsOwner) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/above/data";
  EXPECT_TRUE(DataDirectory::Prepare(path).value().empty());
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(DataDirectory::Prepare(path).value().empty());
}

TEST(DataDirectoryTest, AcceptsARelativePath) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto prepared = DataDirectory::Prepare("data");
  fs::current_path(before);
  ASSERT_TRUE(prepared.ok()) << prepared.error().ToString();
  EXPECT_TRUE(fs::is_directory(folder.path() + "/data"));
}

TEST(DataDirectoryTest, RefusesAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "x";
  const auto prepared = DataDirectory::Prepare(path);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().message,
            "data directory '" + path +
                "' is a file; choose a directory, or a path that does not exist yet");
}

TEST(DataDirectoryTest, RefusesTheNamespacesOfAnotherDirectory) {
  const TemporaryFolder folder;
  const std::string data = folder.path() + "/data";
  const auto outer = DataDirectory::Open(data);
  fs::create_directories(data + "/namespaces/one");
  fs::create_directory_symlink(data + "/namespaces/one", folder.path() + "/link");
  for (const std::string& path :
       {data + "/namespaces", data + "/namespaces/", data + "/namespaces/one",
        data + "/namespaces/new", data + "/namespaces/one/generation-1",
        data + "/x/../namespaces/one", folder.path() + "/link"}) {
    const auto refused = DataDirectory::Prepare(path);
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.error().message.find("'" + path + "'"), std::string::npos);
    EXPECT_NE(refused.error().message.find("data directory '" + data + "'"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_FALSE(fs::exists(data + "/namespaces/new"));
  EXPECT_TRUE(DataDirectory::Prepare(folder.path() + "/namespaces/one").ok())
      << "no data directory is above";
}

TEST(DataDirectoryTest, ReportsADirectoryThatOthersMayRead) {
  const TemporaryFolder folder;
  for (const char* mode : {"0750", "0704", "0755"}) {
    fs::permissions(folder.path(), static_cast<fs::perms>(std::stoi(mode, nullptr, 8)));
    const auto notices = DataDirectory::Prepare(folder.path()).value();
    ASSERT_EQ(notices.size(), 1U) << mode;
    EXPECT_NE(notices[0].find(std::string("(mode ") + mode + ")"), std::string::npos) << notices[0];
    EXPECT_NE(notices[0].find("chmod 700 '" + folder.path() + "'"), std::string::npos)
        << notices[0];
  }
}

TEST(DataDirectoryTest, ContinuesWithTheHighestGeneration) {
  const TemporaryFolder folder;
  for (const char* name : {"generation-2", "generation-10", "generation-x", "other"})
    MakeStoreFolder(folder.path() + "/" + name);
  const auto directory = DataDirectory::Open(folder.path());
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ((*directory)->CurrentPath(), folder.path() + "/generation-10");
  (*directory)->RemoveOthers();
  EXPECT_FALSE(fs::exists(folder.path() + "/generation-2"));
  EXPECT_TRUE(fs::exists(folder.path() + "/generation-10"));
  EXPECT_TRUE(fs::exists(folder.path() + "/other")) << "foreign files must remain";
}

TEST(DataDirectoryTest, InterruptedCreationKeepsTheCurrentGeneration) {
  const TemporaryFolder folder;
  MakeStoreFolder(folder.path() + "/generation-5");
  fs::create_directory(folder.path() + "/generation-6");
  std::ofstream(folder.path() + "/generation-6/penstock.db");
  const auto directory = DataDirectory::Open(folder.path()).value();
  EXPECT_EQ(directory->CurrentPath(), folder.path() + "/generation-5");
  EXPECT_GT(
      DataDirectory::GenerationOf(fs::path(directory->NextPath()).filename().string()).value(), 6U);
  directory->RemoveOthers();
  EXPECT_FALSE(fs::exists(folder.path() + "/generation-6"));
}

TEST(DataDirectoryTest, DirectoryWithOnlyUnfinishedGenerationsIsVacant) {
  const TemporaryFolder folder;
  EXPECT_TRUE(DataDirectory::IsVacant(folder.path()));
  std::ofstream(folder.path() + "/penstock.lock");
  fs::create_directory(folder.path() + "/generation-1");
  EXPECT_TRUE(DataDirectory::IsVacant(folder.path()));
  std::ofstream(folder.path() + "/notes.txt");
  EXPECT_FALSE(DataDirectory::IsVacant(folder.path())) << "it has a file of another program";
  fs::remove(folder.path() + "/notes.txt");
  fs::create_directory(folder.path() + "/.deleted-1");
  EXPECT_TRUE(DataDirectory::IsVacant(folder.path()));
  MakeStoreFolder(folder.path() + "/generation-1");
  EXPECT_FALSE(DataDirectory::IsVacant(folder.path()));
  std::ofstream(folder.path() + "/deleted-1");
  EXPECT_TRUE(DataDirectory::IsVacant(folder.path()));
}

TEST(DataDirectoryTest, RefusesADirectoryThatLostItsStore) {
  const TemporaryFolder folder;
  std::string store;
  {
    const auto directory = DataDirectory::Open(folder.path()).value();
    EXPECT_FALSE(directory->has_store());
    store = directory->CurrentPath();
    MakeStoreFolder(store);
    directory->RecordCreation(store::Durability::kStrict);
    EXPECT_TRUE(directory->has_store());
  }
  EXPECT_EQ(DataDirectory::StoreProblem(folder.path()).value(), "");
  fs::remove_all(store);
  for (const bool is_empty : {false, true}) {
    if (is_empty) fs::create_directory(store);
    const auto directory = DataDirectory::Open(folder.path());
    ASSERT_FALSE(directory.ok());
    EXPECT_EQ(directory.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(directory.error().message.find("its store is missing"), std::string::npos);
    EXPECT_FALSE(DataDirectory::IsVacant(folder.path()));
    DataDirectory::TidyUp(folder.path());
    EXPECT_EQ(fs::exists(store), is_empty) << "the evidence must remain";
  }
}

TEST(DataDirectoryTest, FilesOfTheWholeEmulatorShowThatAStoreWasLost) {
  for (const char* name : {"users.db", "users.db-mark", "namespaces/one"}) {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() + "/" + name);
    EXPECT_FALSE(DataDirectory::Open(folder.path()).ok()) << name;
  }
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/namespaces");
  EXPECT_TRUE(DataDirectory::Open(folder.path()).ok()) << "nothing was stored";
}

TEST(DataDirectoryTest, ReplacedGenerationIsNotASecondStore) {
  const TemporaryFolder folder;
  const auto make_store = [&](const std::string& path) {
    fs::create_directories(path);
    std::ofstream(path + "/penstock.db") << std::string(8192, 'x');
  };
  make_store(folder.path() + "/generation-1");
  make_store(folder.path() + "/generation-2");
  EXPECT_NE(DataDirectory::StoreProblem(folder.path())
                .value()
                .find("two stores, generation-1 and generation-2"),
            std::string::npos);
  EXPECT_FALSE(DataDirectory::Open(folder.path()).ok());
  fs::remove_all(folder.path() + "/generation-2");
  {
    const auto directory = DataDirectory::Open(folder.path()).value();
    ASSERT_TRUE(directory->MarkReplaced().ok());
    make_store(directory->NextPath());
    directory->AdoptNext();
    directory->RecordCreation(store::Durability::kRelaxed);
  }
  const auto directory = DataDirectory::Open(folder.path());
  ASSERT_TRUE(directory.ok()) << directory.error().ToString();
  DataDirectory::RemoveReplaced(folder.path() + "/generation-1");
  EXPECT_FALSE(fs::exists(folder.path() + "/generation-1"));
  EXPECT_FALSE(fs::exists(folder.path() + "/replaced-1"));
  (*directory)->RemoveOthers();
  EXPECT_TRUE(fs::exists((*directory)->CurrentPath()));
}

// The removal of a directory may be interrupted, here because there are no descriptors.
TEST(DataDirectoryTest, RestOfAFailedResetIsNotAStore) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/generation-1");
  std::ofstream(folder.path() + "/generation-1/penstock.db") << std::string(8192, 'x');
  {
    const auto directory = DataDirectory::Open(folder.path()).value();
    ASSERT_TRUE(directory->MarkReplaced().ok());
    MakeStoreFolder(directory->NextPath());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    directory->RemoveNext();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 4) << "the rest remains";
  const auto directory = DataDirectory::Open(folder.path()).value();
  EXPECT_EQ(directory->CurrentPath(), folder.path() + "/generation-1");
  directory->RemoveOthers();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2)
      << "the generation and the lock";
}

TEST(DataDirectoryTest, AdoptsTheNextGeneration) {
  const TemporaryFolder folder;
  const auto directory = DataDirectory::Open(folder.path());
  ASSERT_TRUE(directory.ok());
  const std::string next = (*directory)->NextPath();
  (*directory)->AdoptNext();
  EXPECT_EQ((*directory)->CurrentPath(), next);
}

TEST(DataDirectoryTest, DeletionMarkIsPersistentUntilAHigherGeneration) {
  const TemporaryFolder folder;
  {
    const auto directory = DataDirectory::Open(folder.path()).value();
    MakeStoreFolder(directory->CurrentPath());
    EXPECT_FALSE(DataDirectory::IsDeleted(folder.path()));
    ASSERT_TRUE(directory->MarkDeleted().ok());
    EXPECT_TRUE(directory->is_deleted());
  }
  EXPECT_TRUE(DataDirectory::IsDeleted(folder.path()));
  const auto directory = DataDirectory::Open(folder.path()).value();
  EXPECT_TRUE(directory->is_deleted());
  MakeStoreFolder(directory->NextPath());
  EXPECT_FALSE(DataDirectory::IsDeleted(folder.path()));
  directory->AdoptNext();
  EXPECT_FALSE(directory->is_deleted());
  directory->RemoveOthers();
  EXPECT_TRUE(fs::exists(directory->CurrentPath()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2)
      << "the generation and the lock";
}

TEST(DataDirectoryTest, MovesADeletedDirectoryAway) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/one/generation-1");
  const auto trash = DataDirectory::MoveToTrash(folder.path() + "/one");
  ASSERT_TRUE(trash.has_value());
  EXPECT_TRUE(DataDirectory::IsTrash(fs::path(*trash).filename().string()));
  EXPECT_FALSE(fs::exists(folder.path() + "/one"));
  EXPECT_FALSE(DataDirectory::MoveToTrash(folder.path() + "/one").has_value());
}

TEST(DataDirectoryTest, HasOneUserAtATime) {
  const TemporaryFolder folder;
  {
    const auto first = DataDirectory::Open(folder.path());
    ASSERT_TRUE(first.ok());
    const auto second = DataDirectory::Open(folder.path());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  }
  EXPECT_TRUE(DataDirectory::Open(folder.path()).ok());
}

TEST(DataDirectoryTest, ReportsUsedUpDescriptors) {
  const TemporaryFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto directory = DataDirectory::Open(folder.path());
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().kind, ErrorKind::kResourceExhausted) << directory.error().message;
}

TEST(DataDirectoryTest, NamesAPathThatIsAFile) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto directory = DataDirectory::Open(folder.path() + "/file");
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.error().message.find(folder.path() + "/file"), std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::server
