#include "emulator/store/sqlite/database_creation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/digest.h"
#include "emulator/store/sqlite/commit_mark.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/system/descriptor.h"

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

// The tables are created before the first commit, which writes the mark, and before blobs/. A store
// of a build without marks may have its tables only in the log, and it has blobs/.
bool IsUnfinishedStore(const std::string& directory) {
  const std::string database = directory + "/penstock.db";
  const auto mark = CommitMark::Inspect(CommitMarkPath(database));
  return !HasTables(database) && mark.ok() && !mark->state && IsMissing(directory + "/blobs");
}

}  // namespace penstock::emulator::store
