#include "emulator/store/sqlite/database_creation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "base/digest.h"
#include "emulator/store/sqlite/commit_mark.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/descriptor.h"
#include "emulator/store/system/directory_names.h"

namespace penstock::emulator::store {
namespace {

constexpr off_t kPageBytes = 4096;

std::string TemporaryPath(const std::string& path) { return path + ".new"; }

bool IsMissing(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

// Not 0.
std::int32_t NewStoreId() {
  std::array<std::byte, sizeof(std::int32_t)> random;
  std::int32_t id = 0;
  while (id == 0) {
    RandomBytes(random);
    std::memcpy(&id, random.data(), sizeof id);
  }
  return id;
}

// No other process reads the file before it is complete, so SQLite needs no journal and no
// syncs.
Result<void> Build(const std::string& path, const std::string& schema) {
  ::unlink(path.c_str());
  PENSTOCK_ASSIGN(const auto connection, Connection::Open(path));
  connection->AllowLogRemoval();  // a new file
  PENSTOCK_TRY(connection->ReservePageChecksums());
  PENSTOCK_TRY(
      connection->Execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
                          "PRAGMA application_id=" +
                          std::to_string(NewStoreId()) + ";" + schema + ";COMMIT;"));
  // WAL mode is stored in the file, so that opening the file changes nothing.
  return connection->Execute("PRAGMA journal_mode=WAL");
}

Result<void> SyncFile(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fdatasync(file.get()) != 0)
    return SystemError(ErrorKind::kInternal, "sync", path, errno);
  return Ok();
}

// Earlier builds created the tables in the file itself. Leftovers of such a creation beside an
// empty file would be applied to the new file.
void RemoveLeftovers(const std::string& path) {
  for (const char* suffix : {"-journal", "-wal", "-shm"}) ::unlink((path + suffix).c_str());
}

// An earlier build that was killed leaves an empty file, or one page without a schema version. The
// version is at offset 60 (sqlite.org/fileformat2.html, section 1.3). A file that cannot be read
// may have tables.
bool HasTables(const std::string& path) {
  struct stat status {};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0) return errno != ENOENT;
  std::array<char, 4> version{};
  if (status.st_size > kPageBytes) return true;
  const ssize_t read = ::pread(file.get(), version.data(), version.size(), 60);
  if (read < 0) return true;
  return read == static_cast<ssize_t>(version.size()) && version != std::array<char, 4>{};
}

// Whether `directory` is missing or has no other files than those that exist before the database is
// complete.
bool HasOnlyFilesOfCreation(const std::string& directory) {
  std::error_code error;
  for (const std::string& name : NamesIn(directory, error)) {
    if (name != "penstock.lock" && !name.starts_with("penstock.db")) return false;
  }
  return !error || error == std::errc::no_such_file_or_directory;
}

}  // namespace

Result<void> CreateDatabaseFile(const std::string& path, const std::string& schema) {
  // A file that cannot be examined is an error: a new one would replace it.
  PENSTOCK_ASSIGN(const std::uint64_t size, FileSize(path));
  if (size > 0) return Ok();
  const std::string unfinished = TemporaryPath(path);
  Result<void> built = Build(unfinished, schema);
  if (built.ok()) built = SyncFile(unfinished);
  if (built.ok()) {
    RemoveLeftovers(path);
    if (::rename(unfinished.c_str(), path.c_str()) == 0) return Ok();
    built = SystemError(ErrorKind::kInternal, "rename", unfinished, errno);
  }
  ::unlink(unfinished.c_str());
  return built;
}

Error LostDatabase(const std::string& directory, const std::string& remainder) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the database file " + directory +
                         "/penstock.db is missing or empty, but the directory contains " +
                         remainder +
                         "; restore the data directory from a backup or choose another directory");
}

Result<void> CheckDatabaseIsThere(const std::string& directory) {
  const std::string database = directory + "/penstock.db";
  PENSTOCK_ASSIGN(const std::uint64_t size, FileSize(database));
  if (size > 0) return Ok();
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Inspect(CommitMarkPath(database)));
  if (mark.state || IsUnfinishedStore(directory)) return Ok();
  return LostDatabase(directory, "other files of a store");
}

// The tables are created before the first commit, which writes the mark, and before the directories
// of the blobs and the reserve.
StoreState StateOfStore(const std::string& directory) {
  const std::string database = directory + "/penstock.db";
  if (HasTables(database)) return StoreState::kHasDatabase;
  if (!HasOnlyFilesOfCreation(directory)) return StoreState::kLostDatabase;
  const auto mark = CommitMark::Inspect(CommitMarkPath(database));
  if (!mark.ok() || mark->state) return StoreState::kLostDatabase;
  // The file had its first page before the log had frames.
  const auto log = FileSize(LogPath(database));
  const bool is_unfinished = log.ok() && (*log == 0 || !IsMissing(database));
  return is_unfinished ? StoreState::kUnfinished : StoreState::kLostDatabase;
}

}  // namespace penstock::emulator::store
