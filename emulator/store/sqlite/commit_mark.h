// The commit mark: a small file beside a database that records how much of its write-ahead log was
// committed.
//
// SQLite treats a log that lost its beginning or its end as a log with fewer commits. The mark
// distinguishes such a log from an intact one. It is updated after each commit, in strict mode
// after the fsync, and compared when the database is opened (commit_check.h).
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_MARK_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_MARK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "emulator/store/system/descriptor.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// The paths of a database's log and mark: the database's path with the suffix "-wal" or "-mark".
std::string LogPath(const std::string& database);
std::string CommitMarkPath(const std::string& database);

// Identifies the current boot of the machine, from /proc/sys/kernel/random/boot_id. Empty if the
// file does not exist.
std::string BootId();

struct CommitState {
  // From the log's header (sqlite.org/fileformat2.html, section 4.1). The checkpoint sequence
  // increases by one with each restart of the log.
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
  std::uint32_t checkpoint_sequence = 0;
  // Number of frames that the log must contain; 0: all commits are in the database file.
  std::uint32_t frames = 0;
  std::uint32_t pages = 0;      // size of the database after the last commit; 0: unknown
  std::uint32_t page_size = 0;  // in bytes
  std::uint32_t synced = 0;     // 1: the frames were fsynced before the mark was written
  // Committed frames that were missing at earlier starts, which continued without them.
  std::uint64_t lost_frames = 0;
  std::string boot_id;  // boot id at the commit; at most 36 bytes are stored
  // Not 0: the log was deleted with all commits in the database file, and no other log was begun.
  // From kClosed on, closed - kClosed is the number of frames that the deleted log had. A log with
  // other salts, or with fewer frames, belongs to another database or to another state of this one.
  // Earlier builds wrote 1: only the salts are known.
  static constexpr std::uint32_t kClosed = 2;
  std::uint32_t closed = 0;

  bool operator==(const CommitState&) const = default;
};

// The file of 4 KiB has two slots. The newer valid slot is read, so a torn write leaves the
// previous state. Thread safety: one thread at a time, and one writing process at a time.
class CommitMark {
 public:
  // Opens the file or creates it with mode 0600. A new file and its name are on disk when this
  // returns.
  static Result<std::unique_ptr<CommitMark>> Open(const std::string& path);
  struct Inspection {
    std::optional<CommitState> state;  // nullopt: the file is missing or has no valid slot
    std::string problem;               // what is wrong with the file ("is missing"); empty: nothing
    bool may_be_older = false;         // a damaged slot may have had a newer state
  };
  // Reads the file at `path` once, without changing it. A slot that was never written is valid. An
  // error if the file exists and cannot be read.
  static Result<Inspection> Inspect(const std::string& path);
  ~CommitMark();
  CommitMark(const CommitMark&) = delete;
  CommitMark& operator=(const CommitMark&) = delete;

  const CommitState& state() const { return state_; }
  // Writes the state to the page cache, without a system call if the file is mapped. On an error
  // the file keeps the previous state.
  Result<void> Store(CommitState state);
  // Writes the file to disk.
  Result<void> Sync();

 private:
  explicit CommitMark(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  Descriptor file_;  // closed while mapped
  // Null on file systems where a write to mapped memory can fail because the disk is full.
  std::byte* mapped_ = nullptr;
  std::uint64_t sequence_ = 0;
  CommitState state_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_COMMIT_MARK_H_
