// Compares a database and its write-ahead log with the commit mark, before SQLite opens them:
// SQLite takes a damaged log for a shorter one, and an empty database file for a new database.
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_CHECK_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "emulator/store/checks/commit_mark.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

struct CommitLoss {
  std::string file;          // the one that is damaged
  std::string message;       // what it lost, without its name
  std::uint64_t frames = 0;  // of the log, committed and missing
  // The machine stopped after commits that were not fsynced, and only those are missing: relaxed
  // durability permits it.
  bool is_permitted = false;
  bool can_be_accepted = true;  // false: SQLite reads nothing of the rest

  bool operator==(const CommitLoss&) const = default;
};

// What is missing of the database at `path`, which nobody may have open. nullopt: nothing, or no
// mark tells. Changes nothing. `boot_id` is that of the machine now.
std::optional<CommitLoss> FindCommitLoss(const std::string& path, const std::string& boot_id);

// What is wrong with the commit mark of the database at `path`; empty: nothing, or there is no
// database. Without a mark a damaged log passes for a shorter one.
std::string FindMarkProblem(const std::string& path);

// For a program that is about to open the database: kDataLoss unless the loss is permitted, with
// what to do in the message. A permitted loss is logged and added to the mark. A problem of the
// mark is logged.
Result<void> CheckCommits(const std::string& path);

// Has the mark forget what is missing and moves a log that holds no whole commit to
// PATH-wal.damaged. What was lost stays lost. Returns what it was; nullopt: nothing was missing.
// kDataLoss where that would not make the database readable.
Result<std::optional<CommitLoss>> AcceptCommitLoss(const std::string& path);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_CHECK_H_
