// Checks the directory of a store without changing it: the integrity of the database, and whether
// all bytes that records refer to exist.
//
// It does not repair anything. It names the damaged objects, so that they can be restored or
// uploaded again.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

struct FsckOptions {
  std::string directory;  // of one store; contains penstock.db
  // Also reads all data and compares block checksums, MD5 ETags and checksums.
  bool deep = false;
};

struct FsckFinding {
  // "database", "log", "mark", "record", "blob", "content", "references", "upload", "orphan"
  std::string code;
  std::string subject;  // "s3://bucket/key", a file, or the database
  std::string message;
  // True: nothing is lost. A crash left this behind, and the next start removes it.
  bool is_note = false;
};

// Finds losses in the store's log and database file, based on the commit mark (commit_check.h,
// which also describes `may_be_emptied`). Fails if one of the files cannot be read.
Result<std::vector<FsckFinding>> CheckLog(const std::string& database, bool may_be_emptied = false);

// The findings of SQLite's integrity check. If pages do not match their checksums, their numbers
// are returned instead.
Result<std::vector<std::string>> FindDatabaseDamage(Connection& connection);

struct FsckReport {
  std::vector<FsckFinding> findings;  // at most kFsckFindings; `omitted` counts the rest
  std::uint64_t omitted = 0;
  std::uint64_t buckets = 0;
  std::uint64_t versions = 0;  // current and archived versions and delete markers
  std::uint64_t uploads = 0;   // open uploads
  std::uint64_t parts = 0;     // parts of open uploads
  std::uint64_t blobs = 0;
  std::uint64_t bytes_read = 0;  // read by a deep check

  bool clean() const;  // there are only notes
};
inline constexpr std::size_t kFsckFindings = 1000;

// Errors: kInvalidArgument if the directory contains no store or the store has another schema
// version than this build; kConflict if an emulator has it open; kDataLoss if the database is too
// damaged to be read. Other errors: the store was not checked.
Result<FsckReport> Fsck(const FsckOptions& options);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_
