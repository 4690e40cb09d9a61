// Compares a database and its write-ahead log with the commit mark before SQLite opens them.
// SQLite treats a damaged log as a shorter one, and an empty database file as a new database.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_CHECK_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/store/sqlite/commit_mark.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

struct CommitLoss {
  std::string file;          // the damaged file
  std::string message;       // what the file lost, without its name
  std::uint64_t frames = 0;  // number of missing committed frames of the log
  // True: the machine stopped, and only commits that were not yet fsynced are missing. Relaxed
  // durability permits this.
  bool is_permitted = false;
  bool can_be_accepted = true;  // false: nothing readable would remain
  // True: the log has commits, but not of this state of the database. SQLite would replay them.
  bool is_foreign = false;

  bool operator==(const CommitLoss&) const = default;
};

// Finds the loss of the database at `path`, which no process may have open. nullopt: nothing is
// missing, or the loss cannot be detected without a mark. Changes nothing. `boot_id`: the machine's
// current boot id. `may_be_emptied`: the loss of the whole file can be accepted. Like the functions
// below, fails with another error than kDataLoss if a file cannot be read: nothing is known about a
// loss then.
Result<std::optional<CommitLoss>> FindCommitLoss(const std::string& path,
                                                 const std::string& boot_id,
                                                 bool may_be_emptied = false);

// Inspects the commit mark of the database at `path`. A database without bytes has no problem.
// Without a mark, a damaged log cannot be distinguished from a shorter one.
Result<CommitMark::Inspection> InspectMark(const std::string& path);

// Call before opening the database. Fails with kDataLoss, and a message with the
// remedy, unless the loss is permitted. A permitted loss is logged and added to the mark. A problem
// of the mark is logged.
Result<void> CheckCommits(const std::string& path, bool may_be_emptied = false);

// Removes the missing commits from the mark, and moves a log without a readable commit, or with
// those of another database, to PATH-wal.damaged. The data remains lost. Returns the loss; nullopt:
// nothing was missing. kDataLoss if the database would still be unreadable.
Result<std::optional<CommitLoss>> AcceptCommitLoss(const std::string& path,
                                                   bool may_be_emptied = false);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_CHECK_H_
