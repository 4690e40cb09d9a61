// Checkpoints that run while other connections commit.
#ifndef PENSTOCK_EMULATOR_STORE_CONCURRENT_CHECKPOINT_H_
#define PENSTOCK_EMULATOR_STORE_CONCURRENT_CHECKPOINT_H_

#include <memory>
#include <string>

#include "emulator/store/sqlite/sqlite.h"

namespace penstock::emulator::store {

// In SQLite before 3.51.3, a checkpoint that finds all pages moved while a commit restarts the log
// can mark pages of the new log as moved. Readers then see an older state, and these commits are
// lost when the log restarts again (sqlite.org/wal.html, "The WAL-Reset Bug"). Here a read
// transaction on a second connection prevents this during each checkpoint: if the log has pages to
// move, the log cannot restart; otherwise, the checkpoint cannot move any.
//
// Thread safety: one thread at a time.
class ConcurrentCheckpoint {
 public:
  // `database`: the path of an existing database with a write-ahead log.
  static Result<std::unique_ptr<ConcurrentCheckpoint>> Open(const std::string& database);

  // See Connection::Checkpoint.
  Result<void> Run();

 private:
  ConcurrentCheckpoint(std::unique_ptr<Connection> mover, std::unique_ptr<Connection> reader)
      : mover_(std::move(mover)), reader_(std::move(reader)) {}

  const std::unique_ptr<Connection> mover_;
  const std::unique_ptr<Connection> reader_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CONCURRENT_CHECKPOINT_H_
