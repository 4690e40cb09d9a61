// Checks a store's folder without changing it: is the database sound, and is every byte that
// records promise there?
//
// Not for repair: what is damaged is named, so that it can be restored or written again.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

struct FsckOptions {
  std::string directory;  // of one store: the one with penstock.db in it
  // also reads every byte and compares block checksums, MD5 ETags and checksums
  bool deep = false;
};

struct FsckFinding {
  // "database", "log", "mark", "record", "blob", "content", "references", "upload", "orphan"
  std::string code;
  std::string subject;  // "s3://bucket/key", a file, or the database
  std::string message;
  bool is_note = false;  // nothing is lost: what a crash leaves behind and the next start removes
};

// What the store's log and database file lost, by the commit mark (commit_check.h).
std::vector<FsckFinding> CheckLog(const std::string& database);

// What SQLite's integrity check says, in words. Where pages do not match their checksums, their
// numbers instead.
Result<std::vector<std::string>> FindDatabaseDamage(Connection& connection);

struct FsckReport {
  std::vector<FsckFinding> findings;  // at most kFsckFindings; `omitted` counts the rest
  std::uint64_t omitted = 0;
  std::uint64_t buckets = 0;
  std::uint64_t versions = 0;  // current ones, archived ones and delete markers
  std::uint64_t uploads = 0;   // unfinished
  std::uint64_t parts = 0;     // of unfinished uploads
  std::uint64_t blobs = 0;
  std::uint64_t bytes_read = 0;  // by a deep check

  bool clean() const;  // nothing but notes
};
inline constexpr std::size_t kFsckFindings = 1000;

// kInvalidArgument when there is no store in the directory or its schema version is not this
// build's; kConflict when an emulator has it open; kDataLoss when the database cannot be read at
// all.
Result<FsckReport> Fsck(const FsckOptions& options);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_FSCK_H_
